// SPDX-License-Identifier: BSD-3-Clause
// The control region of a group: the progress of the ranks, the records of this rank, and the copies that it holds of
// others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/common/group_ranks.hpp"
#include "core/log/board.hpp"
#include "core/log/dissemination.hpp"
#include "core/log/record_log.hpp"
#include "parity/placement.hpp"
#include "rma/path.hpp"
#include "rma/region.hpp"

namespace fenix_impl {

/// The bytes of a log entry in a group that has so many entries, on a path that makes all memory of a region real or not. entries: 0
/// if their number will grow.
[[nodiscard]] std::size_t entry_bytes_of(const Placement& placement, std::uint32_t entries, bool memory_is_real);

/// Parts of the region. All ranks have the same number of entries, and redundancy sets of at most the same size: offsets are
/// the same everywhere.
struct Control {
  /// Largest statement, in bytes.
  static constexpr std::size_t kStatementBytes = 256;

  Region region;
  Dissemination commits;  ///< commits of all ranks
  /// The statement of this rank to others: written before a barrier, and read by them before the next collective
  /// operation.
  std::span<std::byte> statement;
  std::size_t statement_offset = 0;  ///< the same on all ranks
  Board announced;                   ///< by index in the redundancy set: announcements that it has made
  Board finished;                    ///< announcements that it has acted upon
  /// Buffers of this rank, where commits are in place: its redundancy set reads in them what is in no region.
  std::span<std::byte> bounce;
  std::size_t bounce_buffer = 0;  ///< bytes of each
  std::size_t bounce_offset = 0;  ///< the same on all ranks
  RecordLog announcement;
  RecordLog own_log;
  std::vector<RecordLog> held_logs;  ///< by number of the copy
  std::size_t reserved = 0;          ///< bytes in each entry that are backed by memory
  std::unique_ptr<RemoteRegions> remote;

  Control() = default;
  /// Takes memory for so many entries, and for the commits in place of a group that encodes. Goes on from another one, to which no
  /// rank may write any more. Throws Error(FENIX_ERROR_NO_MEMORY).
  Control(const GroupRanks& ranks, std::uint32_t entries, std::size_t entry_bytes, bool in_place, Control& before);

  /// Uses a region that another rank has written. Throws Error(FENIX_ERROR_NO_MEMORY) if it does not have this layout.
  Control(Region written, const GroupRanks& ranks, std::uint32_t entries, bool in_place);

  /// Sets the statement of this rank. Local.
  template <class T>
  void state(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kStatementBytes);
    std::memcpy(statement.data(), &value, sizeof value);
  }
  /// Reads the statement of a rank, which may be this one.
  template <class T>
  [[nodiscard]] T statement_of(int rank) const {
    T value;
    remote->get(rank, statement_offset, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  /// Whether it is laid out for this rank, for so many ranks, and for their placement.
  [[nodiscard]] bool suits(const Placement& placement, int rank, int ranks, std::size_t entry_bytes,
                           bool in_place) const;
  /// Makes sure that records of so many bytes find memory in all entries. Throws Error(FENIX_ERROR_NO_MEMORY).
  void reserve_records(std::size_t bytes);
  /// Makes sure that a record finds memory in its entry, here and on the holders of copies. Throws
  /// Error(FENIX_ERROR_NO_MEMORY).
  void make_room(const Placement& placement, int rank, const Record& record, std::uint32_t entry);
  /// Writes a record to an entry of the own log, and to the holders of copies. It counts when this returns.
  void write_record(const Placement& placement, int rank, const Record& record, std::uint32_t entry);
  /// Makes the record in an entry void, here and on the holders.
  void clear_record(const Placement& placement, int rank, std::uint32_t entry);

 private:
  struct Sizes;
  void lay_out(const Sizes& sizes, int rank, int ranks);
  void seal_copies(const Placement& placement, int rank, std::uint32_t entry, std::uint64_t seal);
};

/// Returns the bytes of a record in the log of another rank; nullopt if they cannot be one.
[[nodiscard]] std::optional<std::vector<std::byte>> fetch_record(RemoteRegions& control, int rank, std::size_t offset);
/// Reads into memory that is used again. Returns false instead of nullopt.
[[nodiscard]] bool fetch_record(RemoteRegions& control, int rank, std::size_t offset, std::vector<std::byte>& bytes);

/// Returns the record of an epoch in the log of another rank, if it is at that place, and its snapshot has not been deleted.
[[nodiscard]] std::optional<Record> record_at(RemoteRegions& control, int rank, std::size_t offset, Epoch epoch);

}  // namespace fenix_impl
