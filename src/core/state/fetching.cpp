// SPDX-License-Identifier: BSD-3-Clause
#include "core/state/fetching.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/log.hpp"
#include "base/simd/slot_hashes.hpp"
#include "core/log/control.hpp"
#include "core/protection/set_slots.hpp"

namespace fenix_impl {
namespace {

/// A holding, and the rank that has it.
struct HoldingOn {
  int rank = -1;
  Holding holding;
};

std::vector<HoldingOn> holdings_of_rank(const FetchFrom& from, int stored_by) {
  std::vector<HoldingOn> sources;
  for (const auto& [rank, all] : from.holdings) {
    const auto add = [&sources, stored_by, on = rank](const Holding& holding) {
      if (holding.stored_by == stored_by && holding.record != Holding::kNothing) {
        sources.push_back({on, holding});
      }
    };
    add(all.own);
    for (const Holding& each : all.held) add(each);
  }
  return sources;
}

std::optional<MemberVersion> fetch_entry(const FetchFrom& from, const HoldingOn& source, std::int32_t member_id) {
  const auto bytes = fetch_record(from.control, source.rank, source.holding.record);
  const auto record = bytes ? decode(*bytes) : std::nullopt;
  const MemberVersion* version = record ? record->find(member_id) : nullptr;
  if (version == nullptr || record->owner != source.holding.stored_by) return std::nullopt;
  // A version that is larger than a slot is none, whatever the record says.
  if (version->bytes() > source.holding.data_bytes) return std::nullopt;
  return *version;
}

bool is_sound(const FetchFrom& from, const Fetched& fetched) {
  if (from.parameters.hashing == 0) return true;
  const MemberVersion& version = fetched.version;
  std::vector<std::uint64_t> table(hash_blocks(fetched.data.size()));
  make_table(fetched.data, version.found, version.element_bytes, table);
  return hash_of_table(table, fetched.data.size()) == version.hash;
}

std::optional<Fetched> decode_from_set(const FetchFrom& from, const MemberVersion& version, int stored_by) {
  const auto& redundancy_set = from.placement.redundancy_set(stored_by);
  if (redundancy_set.empty()) return std::nullopt;
  std::vector<SetSlot> slots(redundancy_set.size());
  std::uint64_t unit = 1;
  for (std::size_t i = 0; i < redundancy_set.size(); ++i) {
    for (const auto& [rank, all] : from.holdings) {
      const Holding& own = all.own;
      if (redundancy_set[i] == stored_by || own.stored_by != redundancy_set[i] || own.data == Holding::kNothing)
        continue;
      slots[i] = {rank, own.data, own.data_bytes, own.parity};
      unit = all.unit;
    }
  }
  const Stripes stripes(static_cast<int>(redundancy_set.size()), from.placement.copies(), unit);
  SetSlots there(from.data, stripes, std::move(slots));
  Fetched result{version, std::vector<std::byte>(version.bytes())};
  const bool found = there.try_ways([&](Codec& codec) {
    there.compute(codec, {from.placement.index_in_set(stored_by), false, 0}, result.data, Stores::cached);
    return is_sound(from, result);
  });
  return found ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

std::optional<Fetched> fetch_version(const FetchFrom& from, std::int32_t member_id, int stored_by) {
  const auto sources = holdings_of_rank(from, stored_by);
  for (const HoldingOn& source : sources) {
    if (source.holding.data == Holding::kNothing) continue;
    const auto version = fetch_entry(from, source, member_id);
    if (version) {
      Fetched result{*version, std::vector<std::byte>(version->bytes())};
      from.data.get(source.rank, source.holding.data, result.data);
      if (is_sound(from, result)) return result;
    }
    log().warn("group {} member {}: the copy on rank {} is damaged", from.parameters.id, member_id, source.rank);
  }
  for (const HoldingOn& source : sources) {
    const auto version = fetch_entry(from, source, member_id);
    auto result = version ? decode_from_set(from, *version, stored_by) : std::nullopt;
    if (result) return result;
  }
  return std::nullopt;
}

}  // namespace fenix_impl
