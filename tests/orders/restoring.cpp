// SPDX-License-Identifier: BSD-3-Clause
// Restoring: what each rank has to get.
#include "orders/picked.hpp"
#include "orders/plan.hpp"

namespace fenix_orders {
namespace {

/// Arguments of a restore on a rank, and what it has to give.
struct Restore {
  enum class Form { as_named, load_to, load };

  Op op = Op::restore;
  int group = 0;
  int member = 0;
  int kind = 0;
  int max_count = FENIX_DATA_RESTORE_FULL;
  int stamp = FENIX_DATA_SNAPSHOT_LATEST;
  int source = 0;
  int target = kNone;  ///< buffer
  bool in_place = false;
  bool is_null = false;
  bool repairs = false;  ///< it takes part without data
  int code = FENIX_SUCCESS;
  Elements found = {};
  bool large = false;
  Form form = Form::as_named;  ///< other names of lrestore

  [[nodiscard]] std::string text() const {
    const char* const name = repairs                 ? "member_repair"
                             : form == Form::load    ? "member_load"
                             : form == Form::load_to ? "member_load_to"
                             : op == Op::restore     ? "member_restore"
                             : op == Op::lrestore    ? "member_lrestore"
                                                     : "member_restore_from_rank";
    std::string text = std::string("Fenix_Data_") + name + (large && form != Form::load && !repairs ? "_c(" : "(") +
                       number(group) + ", " + number(member);
    if (repairs) return text + ")";
    text += ", ";
    text += is_null ? "NULL" : in_place ? "INPLACE" : "buffer " + number(target);
    text += ", " + number(max_count) + ", " + number(stamp) + ", &found";
    if (op == Op::restore_from) text += ", " + number(source);
    return text + ") = " + number(code);
  }

  [[nodiscard]] int call(void* buffer, Fenix_Data_subset* subset) const {
    if (form == Form::load) return Fenix_Data_member_load(group, member, stamp, subset);
    if (form == Form::load_to)
      return either(large, Fenix_Data_member_load_to, Fenix_Data_member_load_to_c, group, member, buffer, max_count,
                    stamp, subset);
    if (op == Op::restore)
      return either(large, Fenix_Data_member_restore, Fenix_Data_member_restore_c, group, member, buffer, max_count,
                    stamp, subset);
    if (op == Op::lrestore)
      return either(large, Fenix_Data_member_lrestore, Fenix_Data_member_lrestore_c, group, member, buffer, max_count,
                    stamp, subset);
    return either(large, Fenix_Data_member_restore_from_rank, Fenix_Data_member_restore_from_rank_c, group, member,
                  buffer, max_count, stamp, subset, source);
  }

  std::string operator()(Real& real) const {
    if (repairs) return expect_code("repair", Fenix_Data_member_repair(group, member), FENIX_SUCCESS);
    void* const buffer = is_null    ? nullptr
                         : in_place ? FENIX_DATA_RESTORE_INPLACE
                                    : static_cast<void*>(real.buffers.at(target));
    Fenix_Data_subset subset = FENIX_SUBSET_NULL;
    const int got = call(buffer, &subset);
    std::vector<int> elements;
    if (got == FENIX_SUCCESS || got == FENIX_WARNING_PARTIAL_RESTORE) {
      elements = elements_of(subset, 1000);
      Fenix_Data_subset_delete(&subset);
    }
    auto difference = expect_code("restore", got, code);
    if (!difference.empty()) return difference;
    std::vector<int> expected;
    for (const auto& [element, value] : found) expected.push_back(element);
    if (elements != expected)
      return "found " + Picked::of(elements).text() + " instead of " + Picked::of(expected).text();
    return {};
  }
};

}  // namespace

void Planner::restore(Group& group, Member& member, Op op) {
  const bool local = op == Op::lrestore;
  const auto ranks = model_.all_ranks();
  const auto stamps = group.stamps(random_.below(model_.ranks));
  int stamp = random_.one_in(3) ? FENIX_DATA_SNAPSHOT_LATEST : FENIX_TIME_STAMP_MAX;
  if (random_.one_in(6)) stamp = FENIX_DATA_SNAPSHOT_ALL;
  if (!stamps.empty() && random_.one_in(2)) {
    stamp = stamps[static_cast<std::size_t>(random_.below(static_cast<int>(stamps.size())))];
    // Whether one is there that is older than depth depends on how far the ranks are.
    if (random_.one_in(3) && stamp > stamps.back()) --stamp;
  }
  std::vector<Restore> all;
  int error = FENIX_SUCCESS;
  for (const int rank : ranks) {
    Random random = random_of(rank);
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    Restore restore{op, group.id, member.id, member.kind};
    restore.stamp = stamp;
    restore.source = op == Op::restore_from ? random.below(model_.ranks) : rank;
    if (random.one_in(3)) restore.max_count = random.below(kMost / 2);
    restore.in_place = own.buffer != kNone && !model_.source(rank, own.buffer).is_frozen && random.one_in(3);
    restore.is_null = !restore.in_place && random.one_in(8);
    if (restore.is_null && own.buffer != kNone) restore.max_count = 0;
    restore.large = random.one_in(2);
    if (local && random.one_in(2)) restore.form = Restore::Form::load_to;
    if (local && restore.in_place && restore.max_count < 0 && random.one_in(2)) restore.form = Restore::Form::load;
    restore.repairs = op == Op::restore && random.one_in(8);
    const std::optional<int> most = stamp < 0 ? std::nullopt : std::optional<int>(stamp);
    const Snapshot* snapshot = group.at_most(restore.source, most, local ? std::vector<int>{rank} : ranks);
    const auto version =
        snapshot != nullptr ? snapshot->members.find(member.id) : std::map<int, Version>::const_iterator{};
    restore.code = FENIX_ERROR_NODATA_FOUND;
    if (snapshot != nullptr && version != snapshot->members.end()) {
      const Expected expected =
          restored(version->second, stamp == FENIX_DATA_SNAPSHOT_ALL && member.is_resizeable(), restore.max_count);
      restore.code = expected.is_partial ? FENIX_WARNING_PARTIAL_RESTORE : FENIX_SUCCESS;
      restore.found = expected.found;
      int end = 0;
      for (const auto& [element, value] : expected.found) {
        if (restore.max_count < 0 || element < restore.max_count) end = element + 1;
      }
      if (restore.in_place && !member.is_resizeable() && end > own.count) restore.code = FENIX_ERROR_BUFFER_TOO_SMALL;
    }
    if (restore.code < 0 && (error == FENIX_SUCCESS || restore.code == FENIX_ERROR_BUFFER_TOO_SMALL))
      error = restore.code;
    all.push_back(restore);
  }
  for (const int rank : ranks) {
    Restore& restore = all[static_cast<std::size_t>(rank)];
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    // All ranks get data, or all an error.
    if (!local && error != FENIX_SUCCESS) restore.code = error;
    if (restore.code < 0) restore.found.clear();
    restore.repairs = restore.repairs && error == FENIX_SUCCESS;
    if (restore.repairs) restore.is_null = true;
    if (!restore.is_null) restore.target = restore.in_place ? own.buffer : new_buffer(rank, group, member, member.kind);
    add(
        rank, [&] { return restore.text(); }, restore);
    if (restore.code < 0 || restore.is_null) continue;
    int end = 0;
    for (const auto& [element, value] : restore.found) {
      end = element + 1;
      if (restore.max_count >= 0 && element >= restore.max_count) continue;
      model_.source(rank, restore.target).values[static_cast<std::size_t>(element)] = value;
    }
    // A rank that has taken a dead one's place has a source buffer then, if all elements have room.
    const bool has_room = restore.max_count < 0 || restore.max_count >= std::max(own.count, end);
    if (op == Op::restore && own.buffer == kNone && !own.is_claimed && has_room) own.buffer = restore.target;
  }
}

void Planner::repair(Group& group, Member& member) {
  for (const int rank : model_.all_ranks()) {
    Restore repair{Op::restore, group.id, member.id, member.kind};
    repair.repairs = true;
    add(
        rank, [&] { return repair.text(); }, repair);
  }
}

void Planner::load_file(Group& group, Member& member) {
  for (const int rank : model_.all_ranks()) {
    const Snapshot* snapshot = group.latest(rank);
    const auto version =
        snapshot != nullptr ? snapshot->members.find(member.id) : std::map<int, Version>::const_iterator{};
    const bool is_there = snapshot != nullptr && version != snapshot->members.end();
    Expected expected;
    if (is_there) expected = restored(version->second, false, FENIX_DATA_RESTORE_FULL);
    const int code = !is_there             ? FENIX_ERROR_NODATA_FOUND
                     : expected.is_partial ? FENIX_WARNING_PARTIAL_RESTORE
                                           : FENIX_SUCCESS;
    add(
        rank,
        [&] {
          return "Fenix_Data_member_load_begin(" + number(group.id) + ", " + number(member.id) +
                 ", &file, LATEST, &found) = " + number(code) + "; read; Fenix_Data_member_load_end";
        },
        [group = group.id, id = member.id, kind = member.kind, code, found = expected.found,
         open = random_.one_in(2) ? Fenix_Data_member_load_begin : Fenix_data_member_load_begin](Real&) {
          FILE* file = nullptr;
          Fenix_Data_subset subset = FENIX_SUBSET_NULL;
          auto difference =
              expect_code("load_begin", open(group, id, &file, FENIX_DATA_SNAPSHOT_LATEST, &subset), code);
          if (!difference.empty() || code < 0) return difference;
          const Kind& type = kinds()[static_cast<std::size_t>(kind)];
          std::vector<std::byte> bytes(static_cast<std::size_t>(type.bytes) * (kMost + 1));
          const auto got = std::fread(bytes.data(), 1, bytes.size(), file);
          const auto expected_bytes =
              found.empty() ? 0 : static_cast<std::size_t>((found.rbegin()->first + 1) * type.bytes);
          if (got != expected_bytes) difference = "the file has " + std::to_string(got) + " bytes";
          for (const auto& [element, value] : found) {
            for (int byte = 0; byte < type.bytes && difference.empty(); ++byte) {
              if (bytes[static_cast<std::size_t>(element * type.bytes + byte)] != byte_of(value, byte))
                difference = "element " + number(element) + " of the file differs";
            }
          }
          if (static_cast<int>(elements_of(subset, 1000).size()) != static_cast<int>(found.size()))
            difference = "found_data of the file differs";
          Fenix_Data_subset_delete(&subset);
          const auto end = expect_code("load_end", Fenix_Data_member_load_end(group, id), FENIX_SUCCESS);
          return difference.empty() ? end : difference;
        });
  }
}

void Planner::verify(Group& group) {
  for (const int rank : model_.all_ranks()) {
    add(
        rank, [&] { return "Fenix_Data_verify(" + number(group.id) + ", &mended, &lost): 0, 0"; },
        [id = group.id](Real&) {
          int mended = kNone;
          int lost = kNone;
          const auto difference = expect_code("verify", Fenix_Data_verify(id, &mended, &lost), FENIX_SUCCESS);
          if (difference.empty() && (mended != 0 || lost != 0))
            return "damage: " + number(mended) + " mended, " + number(lost) + " lost";
          return difference;
        });
  }
}

}  // namespace fenix_orders
