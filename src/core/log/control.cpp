// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/control.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/pages.hpp"
#include "parity/stripes.hpp"

namespace fenix_impl {
namespace {

std::size_t largest_set(const Placement& placement, int ranks) {
  std::size_t most = 0;
  for (int rank = 0; rank < ranks; ++rank) most = std::max(most, placement.redundancy_set(rank).size());
  return most;
}

}  // namespace

// Bytes of a bounce buffer: it has room for a stripe at least.
std::size_t bounce_buffer_bytes(std::size_t largest_set) {
  constexpr std::size_t kLeast = std::size_t{256} << 10;
  return std::max(kLeast, static_cast<std::size_t>(Stripes::kLargestUnit) * (largest_set - 1));
}

// Bytes of all of them. With more buffers, ranks wait less often for each other.
std::size_t bounce_bytes(const Placement& placement, std::size_t largest_set) {
  constexpr std::size_t kEnough = std::size_t{2} << 20;
  if (largest_set == 0 || placement.copies() == 0) return 0;
  const std::size_t buffer = bounce_buffer_bytes(largest_set);
  return std::max<std::size_t>(kEnough / buffer, 2) * buffer;
}

std::size_t entry_bytes_of(const Placement& placement, std::uint32_t entries, bool memory_is_real) {
  constexpr std::size_t kEnough = std::size_t{16} << 20;
  if (!memory_is_real) return RecordLog::kEntryBytes;
  if (entries == 0) return RecordLog::kLeastEntryBytes;
  const std::size_t all = entries * (1 + static_cast<std::size_t>(placement.copies()));
  return std::clamp(std::bit_floor(kEnough / all), RecordLog::kLeastEntryBytes, RecordLog::kEntryBytes);
}

struct Control::Sizes {
  Sizes(const Placement& placement, int ranks, std::uint32_t entries, std::size_t bytes_of_entry, bool in_place)
      : commits(to_pages(Dissemination::bytes(ranks) + kStatementBytes)),
        board(largest_set(placement, ranks) * ProgressCell::kBytes),
        boards(to_pages(2 * board)),
        bounce(in_place ? bounce_bytes(placement, board / ProgressCell::kBytes) : 0),
        entry(bytes_of_entry),
        announcement(board > 0 ? entry : 0),
        log(entries * entry),
        copies(static_cast<std::size_t>(placement.copies())) {}

  [[nodiscard]] std::size_t all() const {
    // A reader of a damaged record may read as much as the largest one has.
    const std::size_t behind = RecordLog::kEntryBytes - entry;
    return kPage + commits + boards + bounce + announcement + (1 + copies) * log + behind;
  }

  std::size_t commits;
  std::size_t board;
  std::size_t boards;
  std::size_t bounce;
  std::size_t entry;
  std::size_t announcement;
  std::size_t log;
  std::size_t copies;
};

void Control::lay_out(const Sizes& sizes, int rank, int ranks) {
  const auto bytes = region.bytes();
  std::size_t offset = kPage;
  commits = Dissemination(bytes.subspan(offset, Dissemination::bytes(ranks)), offset, rank, ranks);
  statement_offset = offset + Dissemination::bytes(ranks);
  statement = bytes.subspan(statement_offset, kStatementBytes);
  offset += sizes.commits;
  announced = Board(bytes.subspan(offset, sizes.board), offset);
  finished = Board(bytes.subspan(offset + sizes.board, sizes.board), offset + sizes.board);
  offset += sizes.boards;
  bounce = bytes.subspan(offset, sizes.bounce);
  bounce_offset = offset;
  bounce_buffer = bounce_buffer_bytes(std::max<std::size_t>(sizes.board / ProgressCell::kBytes, 1));
  offset += sizes.bounce;
  const auto log_at = [&](std::size_t length) {
    RecordLog log(bytes.subspan(offset, length), offset, sizes.entry);
    offset += length;
    return log;
  };
  announcement = log_at(sizes.announcement);
  own_log = log_at(sizes.log);
  for (std::size_t copy = 0; copy < sizes.copies; ++copy) held_logs.push_back(log_at(sizes.log));
}

Control::Control(Region written, const GroupRanks& ranks, std::uint32_t entries, bool in_place)
    : region(std::move(written)) {
  // The process that made it may have had another path, with other entries.
  for (std::size_t entry = RecordLog::kEntryBytes; entry >= RecordLog::kLeastEntryBytes; entry /= 2) {
    const Sizes sizes(ranks.placement, ranks.size, entries, entry, in_place);
    if (region.bytes().size() == sizes.all() + Region::kHeaderBytes) {
      lay_out(sizes, ranks.rank, ranks.size);
      return;
    }
  }
  throw Error(FENIX_ERROR_NO_MEMORY, "a control region has another size than it should have");
}

Control::Control(const GroupRanks& ranks, std::uint32_t entries, std::size_t entry_bytes, bool in_place,
                 Control& before) {
  const Sizes sizes(ranks.placement, ranks.size, entries, entry_bytes, in_place);
  region = Region(sizes.all());
  region.reserve(0, kPage + sizes.commits + sizes.boards + sizes.bounce);
  lay_out(sizes, ranks.rank, ranks.size);

  commits.continue_from(before.commits);
  announced.continue_from(before.announced);
  finished.continue_from(before.finished);
  reserve_records(before.reserved);
  const auto take_over = [&](const RecordLog& from, const RecordLog& to) {
    for (const auto& logged : from.read_all()) {
      if (record_bytes(logged.record) > to.entry_bytes()) {
        throw Error(FENIX_ERROR_NO_MEMORY, "the members are in more pieces than a record of the new log can describe");
      }
      region.reserve(to.offset(logged.entry), to_pages(record_bytes(logged.record)));
      to.put(logged.entry, logged.record);
    }
  };
  take_over(before.own_log, own_log);
  for (std::size_t copy = 0; copy < std::min(sizes.copies, before.held_logs.size()); ++copy) {
    take_over(before.held_logs[copy], held_logs[copy]);
  }
}

bool Control::suits(const Placement& placement, int rank, int ranks, std::size_t entry_bytes, bool in_place) const {
  const std::size_t bounces = in_place ? bounce_bytes(placement, largest_set(placement, ranks)) : 0;
  return own_log.entry_bytes() == entry_bytes && bounce.size() == bounces && commits.suits(rank, ranks) &&
         static_cast<int>(held_logs.size()) == placement.copies() &&
         static_cast<std::size_t>(announced.size()) == largest_set(placement, ranks);
}

void Control::reserve_records(std::size_t bytes) {
  const std::size_t needed = to_pages(bytes);
  if (needed <= reserved) return;
  if (announcement.entries() > 0) region.reserve(announcement.offset(0), needed);
  for (std::uint32_t entry = 0; entry < own_log.entries(); ++entry) {
    region.reserve(own_log.offset(entry), needed);
    for (const RecordLog& log : held_logs) region.reserve(log.offset(entry), needed);
  }
  reserved = needed;
}

void Control::make_room(const Placement& placement, int rank, const Record& record, std::uint32_t entry) {
  const std::size_t length = record_bytes(record);
  if (length <= reserved) return;
  region.reserve(own_log.offset(entry), length);
  for (int copy = 0; copy < placement.copies(); ++copy) {
    remote->reserve(placement.holder(rank, copy), held_logs[static_cast<std::size_t>(copy)].offset(entry), length);
  }
}

void Control::write_record(const Placement& placement, int rank, const Record& record, std::uint32_t entry) {
  make_room(placement, rank, record, entry);
  const auto bytes = own_log.write_unsealed(entry, record);
  fault_point("commit.written");
  for (int copy = 0; copy < placement.copies(); ++copy) {
    remote->put(placement.holder(rank, copy), held_logs[static_cast<std::size_t>(copy)].offset(entry), bytes);
  }
  fault_point("commit.sent");
  // The copies come first: once the own record counts, they must count as well if this rank dies.
  seal_copies(placement, rank, entry, record_seal(record.epoch));
  fault_point("commit.held");
  own_log.seal(entry, record.epoch);
  fault_point("commit.sealed");
}

void Control::clear_record(const Placement& placement, int rank, std::uint32_t entry) {
  seal_copies(placement, rank, entry, 0);
  own_log.clear(entry);
}

// Flushes first: the record is in the holders' memory when they see the seal.
void Control::seal_copies(const Placement& placement, int rank, std::uint32_t entry, std::uint64_t seal) {
  const auto each_copy = [&](auto&& act) {
    for (int copy = 0; copy < placement.copies(); ++copy) {
      act(placement.holder(rank, copy), held_logs[static_cast<std::size_t>(copy)].offset(entry));
    }
  };
  each_copy([&](int holder, std::size_t) { remote->flush(holder); });
  each_copy([&](int holder, std::size_t offset) { remote->put_words(holder, offset, {&seal, 1}); });
  each_copy([&](int holder, std::size_t) { remote->flush(holder); });
}

std::optional<std::vector<std::byte>> fetch_record(RemoteRegions& control, int rank, std::size_t offset) {
  std::vector<std::byte> bytes;
  return fetch_record(control, rank, offset, bytes) ? std::optional(std::move(bytes)) : std::nullopt;
}

bool fetch_record(RemoteRegions& control, int rank, std::size_t offset, std::vector<std::byte>& bytes) {
  bytes.resize(record_format::kHeadBytes);
  control.get(rank, offset, bytes);
  const auto length = length_in_head(bytes, RecordLog::kEntryBytes);
  if (!length) return false;
  bytes.resize(*length);
  control.get(rank, offset, bytes);
  return true;
}

std::optional<Record> record_at(RemoteRegions& control, int rank, std::size_t offset, Epoch epoch) {
  const auto bytes = fetch_record(control, rank, offset);
  auto record = bytes ? decode(*bytes) : std::nullopt;
  return record && record->epoch == epoch && !record->deleted ? record : std::nullopt;
}

}  // namespace fenix_impl
