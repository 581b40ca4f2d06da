// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/record_finder.hpp"

#include <vector>

#include "core/log/control.hpp"

namespace fenix_impl {

std::optional<Record> RecordFinder::find(RemoteRegions& control, int rank, const RecordLog& log, Epoch epoch) {
  Entries& known = entries_[rank];
  const auto look = [&]() -> std::optional<Record> {
    for (auto [each, end] = known.equal_range(epoch); each != end; ++each) {
      if (each->second >= log.entries()) continue;
      auto record = record_at(control, rank, log.offset(each->second), epoch);
      if (record && record->owner == rank) return record;
    }
    return std::nullopt;
  };
  if (auto record = look()) return record;
  known = read_heads(control, rank, log);
  return look();
}

RecordFinder::Entries RecordFinder::read_heads(RemoteRegions& control, int rank, const RecordLog& log) {
  std::vector<std::byte> heads(log.entries() * record_format::kHeadBytes);
  const auto head = [&](std::uint32_t entry) {
    return std::span(heads).subspan(entry * record_format::kHeadBytes, record_format::kHeadBytes);
  };
  std::vector<RemotePart> parts;
  for (std::uint32_t entry = 0; entry < log.entries(); ++entry) parts.push_back({rank, log.offset(entry), head(entry)});
  control.get_all(parts);
  Entries entries;
  for (std::uint32_t entry = 0; entry < log.entries(); ++entry) entries.emplace(epoch_in_head(head(entry)), entry);
  return entries;
}

}  // namespace fenix_impl
