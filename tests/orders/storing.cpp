// SPDX-License-Identifier: BSD-3-Clause
// Staging and storing: what the calls are on each rank, and what they do to the model.
#include <set>

#include "orders/picked.hpp"
#include "orders/plan.hpp"

namespace fenix_orders {
namespace {

std::string named(const char* call, const Group& group, const Member& member, const std::string& rest) {
  return std::string("Fenix_Data_") + call + "(" + number(group.id) + ", " + number(member.id) +
         (rest.empty() ? "" : ", ") + rest + ")";
}

// A file or a plain buffer: what there is at the elements that have a value.
std::string compare(const Kind& kind, const std::byte* packed, const Elements& elements, const char* what) {
  for (const auto& [element, value] : elements) {
    for (int byte = 0; byte < kind.bytes; ++byte) {
      if (packed[element * kind.bytes + byte] == byte_of(value, byte)) continue;
      return std::string(what) + ": element " + number(element) + ", byte " + number(byte) + " is " +
             number(static_cast<int>(packed[element * kind.bytes + byte])) + " instead of " +
             number(static_cast<int>(byte_of(value, byte)));
    }
  }
  return {};
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- buffers

int Planner::new_buffer(int rank, const Group& group, const Member& member, int kind) {
  const int id = model_.next_number++;
  Source& source = model_.sources[static_cast<std::size_t>(rank)][id];
  source.kind = kind;
  source.group = group.id;
  for (int element = 0; element < kMost; ++element)
    source.values[static_cast<std::size_t>(element)] = static_cast<Value>(id * 1000 + element);
  const auto values = source.values;
  add(
      rank,
      [&] {
        return "buffer " + number(id) + " for member " + number(member.id) + ": element i is " + number(id * 1000) +
               " + i";
      },
      [id, kind, values](Real& real) {
        const Kind& type = kinds()[static_cast<std::size_t>(kind)];
        auto& bytes = real.owned[id];
        bytes.assign(static_cast<std::size_t>(kMost) * static_cast<std::size_t>(type.extent), std::byte{0xa5});
        real.buffers[id] = bytes.data();
        for (int element = 0; element < kMost; ++element)
          write(type, bytes.data(), element, values[static_cast<std::size_t>(element)]);
        return std::string();
      });
  return id;
}

void Planner::set_attribute(int rank, const Group& group, Member& member, int buffer) {
  OnRank& own = member.on[static_cast<std::size_t>(rank)];
  own.buffer = buffer;
  own.is_claimed = true;
  add(
      rank, [&] { return named("member_attr_set", group, member, "BUFFER, buffer " + number(buffer)); },
      [group = group.id, id = member.id, buffer](Real& real) {
        int flag = 0;
        void* const value = buffer == kNone ? nullptr : real.buffers.at(buffer);
        return expect_code("attr_set",
                           Fenix_Data_member_attr_set(group, id, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, value, &flag),
                           FENIX_SUCCESS);
      });
}

void Planner::need_buffer(Group& group, Member& member, int rank) {
  if (member.on[static_cast<std::size_t>(rank)].buffer != kNone) return;
  set_attribute(rank, group, member, new_buffer(rank, group, member, member.kind));
}

void Planner::fill(Group&, Member& member) {
  for (const int rank : model_.all_ranks()) {
    const OnRank& own = member.on[static_cast<std::size_t>(rank)];
    if (!own.is_here || own.buffer == kNone || model_.source(rank, own.buffer).is_frozen) continue;
    const int buffer = own.buffer;
    const int start = static_cast<int>(random_.next() % 1000000);
    const int most = model_.source(rank, buffer).of_library ? own.count : kMost;
    auto& values = model_.source(rank, buffer).values;
    for (int element = 0; element < most; ++element)
      values[static_cast<std::size_t>(element)] = static_cast<Value>(start + element);
    add(
        rank, [&] { return "buffer " + number(buffer) + ": element i = " + number(start) + " + i"; },
        [buffer, start, most, kind = member.kind](Real& real) {
          for (int element = 0; element < most; ++element) {
            write(kinds()[static_cast<std::size_t>(kind)], real.buffers.at(buffer), element,
                  static_cast<Value>(start + element));
          }
          return std::string();
        });
  }
}

// ------------------------------------------------------------------------------------------------------------- storing

void Planner::store(Group& group, Member& member, bool asynchronous, bool prestaged) {
  const bool resizeable = member.is_resizeable();
  const int form = random_.below(2);
  const bool same = random_.one_in(3);
  const int request = asynchronous ? model_.next_number++ : kNone;
  for (const int rank : model_.all_ranks()) {
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    Random random = random_of(same && resizeable ? 0 : rank);
    const int limit = resizeable ? 1 + random.below(kMost) : own.count;
    const bool open_ended = own.has_serializer && resizeable && random.one_in(3);
    Picked picked = prestaged    ? Picked::named(Picked::Form::prestaged)
                    : open_ended ? Picked::named(Picked::Form::full, limit)
                                 : Picked::some(random, limit, !resizeable);
    if (!prestaged && (!picked.elements.empty() || own.has_serializer)) need_buffer(group, member, rank);
    if (own.has_serializer) {
      add(
          rank, [&] { return "(the serializer writes " + number(limit) + " elements if asked for any number)"; },
          [key = std::pair(group.id, member.id), limit](Real& real) {
            real.contexts.at(key)->second = limit;
            return std::string();
          });
    }
    const char* const call = asynchronous ? (form != 0 ? "member_istorev" : "member_istore")
                                          : (form != 0 ? "member_storev" : "member_store");
    add(
        rank,
        [&] {
          return named(call, group, member, picked.text() + (asynchronous ? ", request " + number(request) : ""));
        },
        [group = group.id, id = member.id, picked, form, asynchronous, request, call](Real& real) {
          const int code = picked.with([&](Fenix_Data_subset subset) {
            if (asynchronous) {
              Fenix_Request& made = real.requests[request];
              return form != 0 ? Fenix_Data_member_istorev(group, id, subset, &made)
                               : Fenix_Data_member_istore(group, id, subset, &made);
            }
            return form != 0 ? Fenix_Data_member_storev(group, id, subset) : Fenix_Data_member_store(group, id, subset);
          });
          return expect_code(call, code, FENIX_SUCCESS);
        });
    if (prestaged) {
      own.store_staged();
    } else if (!picked.elements.empty()) {
      own.store(picked.elements, model_.source(rank, own.buffer).values);
      if (group.in_place && !asynchronous && !own.has_serializer) model_.source(rank, own.buffer).is_frozen = true;
    }
    // Both are stored: elements that the serializer writes, and staged ones.
    if (open_ended && !prestaged) own.store_staged();
    own.is_stored = true;
    own.use_up_memory();
  }
  model_.settle(group.id, member.id);
  if (asynchronous) model_.asked.push_back({request, group.id, {member.id}});
  member.settle(group.depth < 0);
  group.is_touched = true;
}

void Planner::bad_store(Group& group, Member& member) {
  const bool resizeable = member.is_resizeable();
  if (resizeable && member.some([](const OnRank& own) { return own.has_serializer; })) return;
  const int how = random_.below(3);
  const bool stages = how == 2;
  // Whether 0 elements are none or any shows in the next store.
  if (stages && member.has_new_count && member.some([](const OnRank& own) { return own.count == 0; })) return;
  for (const int rank : model_.all_ranks()) {
    Picked picked = Picked::named(Picked::Form::null);
    int expected = FENIX_ERROR_INVALID_ARGUMENT;
    if (how != 0 && resizeable) picked = Picked::named(Picked::Form::full);
    if (how != 0 && !resizeable) {
      picked = Picked::of({0, kMost + 3});
      expected = FENIX_ERROR_SUBSET_END_OFFSET;
    }
    need_buffer(group, member, rank);
    add(
        rank,
        [&] {
          return named(stages ? "member_stage" : "member_store", group, member, picked.text()) + " = " +
                 number(expected);
        },
        [group = group.id, id = member.id, picked, expected, stages](Real&) {
          const int code = picked.with([&](Fenix_Data_subset subset) {
            return stages ? Fenix_Data_member_stage(group, id, subset) : Fenix_Data_member_store(group, id, subset);
          });
          return expect_code(stages ? "stage" : "store", code, expected);
        });
  }
}

// ------------------------------------------------------------------------------------------------------------- staging

void Planner::stage(Group& group, Member& member) {
  const bool resizeable = member.is_resizeable();
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(rank);
    if (random.one_in(4)) continue;
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    const Picked picked = Picked::some(random, resizeable ? 1 + random.below(kMost) : own.count, !resizeable);
    if (!picked.elements.empty() || own.has_serializer) need_buffer(group, member, rank);
    add(
        rank, [&] { return named("member_stage", group, member, picked.text()); },
        [group = group.id, id = member.id, picked](Real&) {
          return expect_code("stage", picked.with([&](Fenix_Data_subset subset) {
            return Fenix_Data_member_stage(group, id, subset);
          }),
                             FENIX_SUCCESS);
        });
    for (const int element : picked.elements)
      own.staged[element] = model_.source(rank, own.buffer).values[static_cast<std::size_t>(element)];
    group.is_touched = group.is_touched || !picked.elements.empty();
    group.may_be_touched = true;
  }
}

void Planner::stage_inplace(Group& group, Member& member) {
  const bool resizeable = member.is_resizeable();
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(rank);
    if (random.one_in(4)) continue;
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    const int limit = resizeable ? 1 + random.below(kMost) : own.count;
    const Picked picked = Picked::some(random, limit, !resizeable);
    const int start = static_cast<int>(random.next() % 1000000);
    add(
        rank,
        [&] {
          return named("member_stage_inplace", group, member,
                       "from malloc with " + number(start) + " + i, " + picked.text());
        },
        [group = group.id, id = member.id, picked, start, limit, kind = member.kind](Real&) {
          const Kind& type = kinds()[static_cast<std::size_t>(kind)];
          auto* const memory = static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(limit * type.extent) + 1));
          for (int element = 0; element < limit; ++element)
            write(type, memory, element, static_cast<Value>(start + element));
          const int code = picked.with(
              [&](Fenix_Data_subset subset) { return Fenix_Data_member_stage_inplace(group, id, memory, subset); });
          if (code != FENIX_SUCCESS) std::free(memory);
          return expect_code("stage_inplace", code, FENIX_SUCCESS);
        });
    for (const int element : picked.elements) own.staged[element] = static_cast<Value>(start + element);
    group.is_touched = group.is_touched || !picked.elements.empty();
    group.may_be_touched = true;
  }
}

void Planner::stage_memory(Group& group, Member& member) {
  if (kinds()[static_cast<std::size_t>(member.kind)].has_holes || member.is_resizeable()) return;
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(rank);
    if (random.one_in(4)) continue;
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    const int memory = model_.next_number++;
    const Elements known = own.known();
    Elements after = known;
    const int start = static_cast<int>(random.next() % 1000000);
    const Picked written = Picked::some(random, own.count, random.one_in(3));
    for (const int element : written.elements) after[element] = static_cast<Value>(start + element);
    // Written elements have to be staged; others that have a value may be.
    std::vector<int> staged = written.elements;
    const bool all = static_cast<int>(after.size()) == own.count && random.one_in(2);
    if (all || random.one_in(3)) {
      staged.clear();
      for (const auto& [element, value] : after) staged.push_back(element);
    }
    const Picked picked = all ? Picked::named(Picked::Form::full, own.count) : Picked::of(staged);
    add(
        rank,
        [&] {
          return named("member_stage_memory", group, member, "&memory " + number(memory)) + "; memory " +
                 number(memory) + ": elements " + written.text() + " = " + number(start) + " + i; " +
                 named("member_stage_inplace", group, member, "memory " + number(memory) + ", " + picked.text());
        },
        [group = group.id, id = member.id, kind = member.kind, memory, known, written, start, picked](Real& real) {
          const Kind& type = kinds()[static_cast<std::size_t>(kind)];
          void* given = nullptr;
          auto difference =
              expect_code("stage_memory", Fenix_Data_member_stage_memory(group, id, &given), FENIX_SUCCESS);
          if (!difference.empty()) return difference;
          real.lent[memory] = given;
          auto* const bytes = static_cast<std::byte*>(given);
          difference = compare(type, bytes, known, "memory");
          if (!difference.empty()) return difference;
          for (const int element : written.elements)
            write_packed(type, bytes, element, static_cast<Value>(start + element));
          const int code = picked.with(
              [&](Fenix_Data_subset subset) { return Fenix_Data_member_stage_inplace(group, id, given, subset); });
          return expect_code("stage_inplace", code, FENIX_SUCCESS);
        });
    for (const int element : picked.elements) own.staged[element] = after.at(element);
    own.use_up_memory();
    own.lent = memory;
    group.is_touched = group.is_touched || !picked.elements.empty();
    group.may_be_touched = true;
  }
}

void Planner::old_memory(Group& group, Member& member) {
  if (kinds()[static_cast<std::size_t>(member.kind)].has_holes || member.is_resizeable()) return;
  for (const int rank : model_.all_ranks()) {
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    // Memory of this snapshot may have the same address.
    if (own.of_other_snapshots.empty() || own.count == 0 || own.lent != kNone || !own.used_up.empty()) continue;
    const int memory = own.of_other_snapshots.back();
    add(
        rank,
        [&] {
          return named("member_stage_inplace", group, member, "memory " + number(memory) + ", FULL") +
                 " = FENIX_ERROR_INVALID_ARGUMENT";
        },
        [group = group.id, id = member.id, memory](Real& real) {
          return expect_code("stage_inplace",
                             Fenix_Data_member_stage_inplace(group, id, real.lent.at(memory), FENIX_DATA_SUBSET_FULL),
                             FENIX_ERROR_INVALID_ARGUMENT);
        });
  }
}

void Planner::stage_file(Group& group, Member& member) {
  const bool resizeable = member.is_resizeable();
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(rank);
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    if (random.one_in(3)) continue;
    group.may_be_touched = true;
    const Elements known = own.known();
    // The file begins with the elements that have a value: a gap would have none.
    int before = 0;
    while (known.count(before) != 0) ++before;
    const int limit = resizeable ? kMost : own.count;
    const int first = random.below(before + 1);
    const int last = std::min(limit, first + random.below(6));
    const int start = static_cast<int>(random.next() % 1000000);
    const bool reads = random.one_in(2);
    Elements shown;
    for (int element = 0; element < before; ++element) shown[element] = known.at(element);
    add(
        rank,
        [&] {
          return named("member_stage_begin", group, member, "&file") +
                 (reads ? "; read " + number(before) + " elements" : "") + "; write elements " + number(first) +
                 " up to but not " + number(last) + ", " + number(start) + " + i; " +
                 named("member_stage_end", group, member, "");
        },
        [group = group.id, id = member.id, kind = member.kind, first, last, start, reads, shown](Real&) {
          const Kind& type = kinds()[static_cast<std::size_t>(kind)];
          FILE* file = nullptr;
          auto difference = expect_code("stage_begin", Fenix_Data_member_stage_begin(group, id, &file), FENIX_SUCCESS);
          if (!difference.empty()) return difference;
          const auto bytes = static_cast<std::size_t>(type.bytes);
          std::vector<std::byte> packed(shown.size() * bytes + bytes);
          if (reads && std::fread(packed.data(), bytes, shown.size(), file) != shown.size())
            return std::string("the file is too short");
          if (reads) difference = compare(type, packed.data(), shown, "file");
          std::fseek(file, static_cast<long>(first) * type.bytes, SEEK_SET);
          for (int element = first; element < last; ++element) {
            write_packed(type, packed.data(), 0, static_cast<Value>(start + element));
            if (std::fwrite(packed.data(), bytes, 1, file) != 1) difference = "cannot write element " + number(element);
          }
          const auto end = expect_code("stage_end", Fenix_Data_member_stage_end(group, id), FENIX_SUCCESS);
          return difference.empty() ? end : difference;
        });
    for (int element = first; element < last; ++element) own.staged[element] = static_cast<Value>(start + element);
    if (first < last) {
      for (int element = 0; element < first; ++element) own.staged[element] = known.at(element);
      group.is_touched = true;
    }
  }
}

}  // namespace fenix_orders
