// SPDX-License-Identifier: BSD-3-Clause
// Groups and members.
#include "orders/plan.hpp"

namespace fenix_orders {
namespace {

// Writes or reads elements, packed, at the place where the file is.
void serialize_c(FILE* file, int direction, void* buffer, MPI_Count offset, MPI_Count count, void* ctx) {
  const auto& [kind, open_count] = *static_cast<const std::pair<const Kind*, int>*>(ctx);
  auto* const start = static_cast<std::byte*>(buffer);
  const MPI_Count end = count != 0 || direction == FENIX_DESERIALIZE ? offset + count : open_count;
  std::vector<std::byte> packed(static_cast<std::size_t>(kind->bytes));
  for (MPI_Count element = offset; element < end; ++element) {
    std::byte* const at = start + element * kind->extent;
    if (direction == FENIX_DESERIALIZE && std::fread(packed.data(), packed.size(), 1, file) != 1) return;
    for (int byte = 0; byte < kind->bytes; ++byte) {
      std::byte& in_buffer = at[kind->place(byte)];
      std::byte& in_file = packed[static_cast<std::size_t>(byte)];
      direction == FENIX_SERIALIZE ? in_file = in_buffer : in_buffer = in_file;
    }
    if (direction == FENIX_SERIALIZE) std::fwrite(packed.data(), packed.size(), 1, file);
  }
}

void serialize(FILE* file, int direction, void* buffer, int offset, int count, void* ctx) {
  serialize_c(file, direction, buffer, offset, count, ctx);
}

std::string definition(const std::string& call, const Group& group, const Member& member, const std::string& buffer,
                       int count) {
  return "Fenix_Data_" + call + "(" + number(group.id) + ", " + number(member.id) + ", " + buffer + ", " +
         number(count) + ", " + kinds()[static_cast<std::size_t>(member.kind)].name + ")";
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- members

void Planner::define(Group& group, int id, bool only_new) {
  Member* found = group.find(id);
  if (found != nullptr && (only_new || found->is_allocated || !found->is_everywhere())) return;
  const bool is_new = found == nullptr;
  if (is_new) {
    group.members.push_back(
        {id, 0, false, false, false, false, false, std::vector<OnRank>(static_cast<std::size_t>(model_.ranks))});
    found = &group.members.back();
    found->kind = random_.one_in(30) ? kLargeElements : random_.below(kLargeElements);
  }
  Member& member = *found;
  const bool changes = is_new || (!member.is_fixed && !member.is_unsure && !member.some_work() && random_.one_in(2));
  const bool resizeable = changes ? random_.one_in(4) : member.is_resizeable();
  // A definition on all ranks is known to all, unless memory is in use; one of each rank by itself is not.
  if (member.has_rejoined && (!member.is_fixed || member.is_unsure)) member.has_new_count = true;
  if (!member.has_rejoined && !member.some_work()) member.has_new_count = false;
  const bool serializes = random_.one_in(5);
  if (changes) member.move();
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(rank);
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    if (changes) own.count = resizeable || random.one_in(5) ? 0 : 1 + random.below(kMost / 2);
    own.buffer = new_buffer(rank, group, member, member.kind);
    own.is_claimed = true;
    own.has_serializer = serializes;
    const bool large = random.one_in(2);
    const std::string call =
        std::string(serializes ? "member_f" : "member_") + (only_new ? "create" : "define") + (large ? "_c" : "");
    add(
        rank, [&] { return definition(call, group, member, "buffer " + number(own.buffer), own.count); },
        [group = group.id, id, kind = member.kind, count = own.count, buffer = own.buffer, only_new, serializes, call,
         large](Real& real) {
          void* const memory = real.buffers.at(buffer);
          auto& context = real.contexts[{group, id}];
          if (serializes)
            context = std::make_unique<std::pair<const Kind*, int>>(&kinds()[static_cast<std::size_t>(kind)], 0);
          const MPI_Datatype type = type_of(kind);
          const auto plainly = [&] {
            return only_new ? either(large, Fenix_Data_member_create, Fenix_Data_member_create_c, group, id, memory,
                                     count, type)
                            : either(large, Fenix_Data_member_define, Fenix_Data_member_define_c, group, id, memory,
                                     count, type);
          };
          const auto serializing = [&] {
            void* const ctx = context.get();
            if (large && only_new) return Fenix_Data_member_fcreate_c(group, id, memory, count, type, serialize_c, ctx);
            if (large) return Fenix_Data_member_fdefine_c(group, id, memory, count, type, serialize_c, ctx);
            return only_new ? Fenix_Data_member_fcreate(group, id, memory, count, type, serialize, ctx)
                            : Fenix_Data_member_fdefine(group, id, memory, count, type, serialize, ctx);
          };
          return expect_code(call.c_str(), serializes ? serializing() : plainly(), FENIX_SUCCESS);
        });
  }
}

void Planner::allocate(Group& group, int id) {
  Member* found = group.find(id);
  if (found != nullptr && (!found->is_everywhere() || found->is_resizeable() || found->is_unsure)) return;
  const bool exists_otherwise = found != nullptr && !found->is_allocated;
  const bool is_new = found == nullptr;
  const bool can_change = is_new || (!exists_otherwise && !found->is_fixed && !found->some_work());
  // More memory than there is, on one rank: an error on all, which changes nothing.
  const int greedy =
      can_change && (is_new || !found->has_rejoined) && random_.one_in(3) ? random_.below(model_.ranks) : kNone;
  Member fresh{id,   kLargeElements, false, false,
               true, false,          false, std::vector<OnRank>(static_cast<std::size_t>(model_.ranks))};
  if (!is_new) fresh = *found;
  if (greedy != kNone) fresh.kind = kLargeElements;  // so many words are more than any machine has
  if (is_new && greedy == kNone) fresh.kind = random_.below(2) != 0 ? 0 : 3;
  const bool grows = can_change && !is_new && random_.one_in(2);
  const int expected = exists_otherwise  ? FENIX_ERROR_MEMBER_EXISTS
                       : greedy != kNone ? FENIX_ERROR_NO_MEMORY
                                         : FENIX_SUCCESS;
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(rank);
    OnRank& own = fresh.on[static_cast<std::size_t>(rank)];
    const int before = is_new ? 0 : own.count;
    if (is_new) own.count = 1 + random.below(kMost / 2);
    if (grows) own.count = std::min(kMost / 2, own.count + random.below(4));
    const bool large = random.one_in(2);
    const int asked = rank == greedy ? 2147000000 : own.count;
    const int buffer = is_new || own.buffer == kNone ? model_.next_number++ : own.buffer;
    const int start = static_cast<int>(random.next() % 1000000);
    Elements kept;
    for (int element = 0; element < before && own.buffer != kNone && !exists_otherwise; ++element) {
      kept[element] = model_.source(rank, own.buffer).values[static_cast<std::size_t>(element)];
    }
    add(
        rank,
        [&] {
          return definition(large ? "member_allocate_c" : "member_allocate", group, fresh, "&buffer " + number(buffer),
                            asked) +
                 " = " + number(expected);
        },
        [group = group.id, id, kind = fresh.kind, asked, buffer, kept, start, expected, large,
         count = own.count](Real& real) {
          void* base = nullptr;
          const int code = either(large, Fenix_Data_member_allocate, Fenix_Data_member_allocate_c, group, id, asked,
                                  type_of(kind), static_cast<void*>(&base));
          auto difference = expect_code("allocate", code, expected);
          if (!difference.empty() || code != FENIX_SUCCESS) return difference;
          auto* const bytes = static_cast<std::byte*>(base);
          real.buffers[buffer] = bytes;
          const Kind& type = kinds()[static_cast<std::size_t>(kind)];
          for (const auto& [element, value] : kept) {
            for (int byte = 0; byte < type.bytes; ++byte) {
              if (bytes[element * type.extent + byte] != byte_of(value, byte))
                return "allocate lost element " + number(element);
            }
          }
          for (int element = static_cast<int>(kept.size()); element < count; ++element)
            write(type, bytes, element, static_cast<Value>(start + element));
          return std::string();
        });
    if (expected != FENIX_SUCCESS) continue;
    own.buffer = buffer;
    own.is_claimed = true;
    own.has_serializer = false;
    Source& source = model_.sources[static_cast<std::size_t>(rank)][buffer];
    source.kind = fresh.kind;
    source.group = group.id;
    source.of_library = true;
    for (int element = static_cast<int>(kept.size()); element < kMost; ++element)
      source.values[static_cast<std::size_t>(element)] = static_cast<Value>(start + element);
  }
  if (expected != FENIX_SUCCESS) return;
  if (is_new) {
    group.members.push_back(fresh);
  } else {
    *found = fresh;
  }
}

void Planner::delete_member(Group& group, Member& member) {
  const int alone = group.policy.encodes || member.some_work() || model_.is_pending(group.id) || random_.one_in(2)
                        ? kNone
                        : random_.below(model_.ranks);
  model_.settle(group.id, member.id);
  if (!group.has_committed) group.is_touched = false;
  group.may_be_touched = true;
  for (const int rank : model_.all_ranks()) {
    if (alone != kNone && rank != alone) continue;
    member.on[static_cast<std::size_t>(rank)].is_here = false;
    for (Snapshot& each : group.snapshots[static_cast<std::size_t>(rank)]) each.members.erase(member.id);
    add(
        rank, [&] { return "Fenix_Data_member_delete(" + number(group.id) + ", " + number(member.id) + ")"; },
        [group = group.id, id = member.id](Real&) {
          return expect_code("member_delete", Fenix_Data_member_delete(group, id), FENIX_SUCCESS);
        });
    for (auto& [id, source] : model_.sources[static_cast<std::size_t>(rank)])
      source.is_gone = source.is_gone || (source.of_library && id == member.on[static_cast<std::size_t>(rank)].buffer);
  }
  if (alone == kNone || model_.ranks == 1)
    std::erase_if(group.members, [id = member.id](const Member& each) { return each.id == id; });
}

// -------------------------------------------------------------------------------------------------------------- groups

Policy Planner::some_policy() {
  const int ranks = model_.ranks;
  const int what = ranks == 1 ? 0 : random_.below(5);
  const int separation = random_.one_in(2) ? FENIX_DATA_SEPARATION_AUTO : 1;
  if (what == 0) return {FENIX_DATA_POLICY_PEER_RANK_SEPARATION, {separation}, false, 1};
  if (what == 1) return {FENIX_DATA_POLICY_IN_MEMORY_RAID, {1, separation}, false, 1};
  if (what == 2) return {FENIX_DATA_POLICY_IN_MEMORY_RAID, {5, separation, ranks}, true, 1};
  if (what == 3 && ranks > 2) return {FENIX_DATA_POLICY_REED_SOLOMON, {FENIX_DATA_SEPARATION_AUTO, ranks, 2}, true, 2};
  return {FENIX_DATA_POLICY_PEER_RANK_SEPARATION, {ranks - 1}, false, 1};
}

void Planner::create_group(int id) {
  if (model_.groups.count(id) != 0) return;
  Group& group = model_.groups[id];
  group.id = id;
  group.depth = std::vector<int>{0, 0, 0, 1, 2, -1}[static_cast<std::size_t>(random_.below(6))];
  group.next_stamp = random_.one_in(2) ? 0 : random_.below(100);
  group.policy = some_policy();
  group.snapshots.resize(static_cast<std::size_t>(model_.ranks));
  const bool in_place = group.depth == 0 && random_.one_in(2);
  group.in_place = in_place;
  for (const int rank : model_.all_ranks()) {
    add(
        rank,
        [&] {
          std::string text = "Fenix_Data_group_create(" + number(id) + ", comm, " + number(group.next_stamp) + ", " +
                             number(group.depth) + ", policy " + number(group.policy.name) + " {";
          for (const int each : group.policy.values) text += number(each) + " ";
          return text + "}, &flag)" + (in_place ? "; Fenix_Data_group_set_in_place(" + number(id) + ", 1)" : "");
        },
        [id, stamp = group.next_stamp, depth = group.depth, policy = group.policy, in_place](Real& real) {
          auto values = policy.values;
          int flag = 0;
          auto difference = expect_code(
              "group_create", Fenix_Data_group_create(id, real.comm, stamp, depth, policy.name, values.data(), &flag),
              FENIX_SUCCESS);
          if (difference.empty() && flag != FENIX_SUCCESS) difference = "flag is " + number(flag);
          if (difference.empty() && in_place)
            difference = expect_code("set_in_place", Fenix_Data_group_set_in_place(id, 1), FENIX_SUCCESS);
          return difference;
        });
  }
}

void Planner::delete_group(Group& group) {
  const int id = group.id;
  for (const int rank : model_.all_ranks()) {
    add(
        rank, [&] { return "Fenix_Data_group_delete(" + number(id) + ")"; },
        [id](Real&) { return expect_code("group_delete", Fenix_Data_group_delete(id), FENIX_SUCCESS); });
    for (auto& [buffer, source] : model_.sources[static_cast<std::size_t>(rank)])
      source.is_gone = source.is_gone || (source.of_library && source.group == id);
  }
  model_.unfreeze(group);
  for (Asked& each : model_.asked) {
    if (each.group == id) each.may_be_cancelled = true;
  }
  model_.settle(id);
  model_.groups.erase(id);
}

void Planner::set_policy(Group& group) {
  if (!group.is_whole()) return;
  if (!group.is_touched && (group.may_be_touched || model_.ranks == 1)) return;
  const Policy policy = some_policy();
  const bool is_same = policy.name == group.policy.name && policy.values == group.policy.values;
  // Whether others are the same for these ranks is not said.
  if (group.is_touched && !is_same && (policy.name == group.policy.name)) return;
  const int expected = group.is_touched && !is_same ? FENIX_ERROR_INVALID_LOGIC_CALL : FENIX_SUCCESS;
  for (const int rank : model_.all_ranks()) {
    add(
        rank,
        [&] {
          std::string text =
              "Fenix_Data_group_set_redundancy_policy(" + number(group.id) + ", " + number(policy.name) + " {";
          for (const int each : policy.values) text += number(each) + " ";
          return text + "}) = " + number(expected);
        },
        [id = group.id, policy, expected](Real&) {
          auto values = policy.values;
          int flag = 0;
          return expect_code("set_redundancy_policy",
                             Fenix_Data_group_set_redundancy_policy(id, policy.name, values.data(), &flag), expected);
        });
  }
  if (expected != FENIX_SUCCESS) return;
  group.policy = policy;
  for (Member& member : group.members) member.move();
}

void Planner::set_in_place(Group& group) {
  if (!group.is_whole()) return;
  if (!group.is_touched && group.may_be_touched) return;
  const bool hashing = random_.one_in(2);
  const int wanted = random_.below(2);
  const bool is_same = hashing ? (wanted != 0) == group.hashing : (wanted != 0) == group.in_place;
  int expected = group.is_touched && !is_same ? FENIX_ERROR_INVALID_LOGIC_CALL : FENIX_SUCCESS;
  if (!hashing && wanted != 0 && group.depth != 0) expected = FENIX_ERROR_INVALID_DEPTH;
  for (const int rank : model_.all_ranks()) {
    add(
        rank,
        [&] {
          return std::string("Fenix_Data_group_set_") + (hashing ? "hashing(" : "in_place(") + number(group.id) + ", " +
                 number(wanted) + ") = " + number(expected);
        },
        [id = group.id, hashing, wanted, expected](Real&) {
          return expect_code(
              "set", hashing ? Fenix_Data_group_set_hashing(id, wanted) : Fenix_Data_group_set_in_place(id, wanted),
              expected);
        });
  }
  if (expected != FENIX_SUCCESS) return;
  (hashing ? group.hashing : group.in_place) = wanted != 0;
  for (Member& member : group.members) member.move();
}

}  // namespace fenix_orders
