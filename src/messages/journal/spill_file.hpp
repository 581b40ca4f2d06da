// SPDX-License-Identifier: BSD-3-Clause
// One file of a log that goes on in files: its name, its first bytes, and its entries. docs/journal-format.md describes the bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "messages/journal/entry.hpp"

namespace fenix_impl {

/// Place of the files of a rank, for other processes.
struct SpillPlace {
  std::uint64_t id = 0;     ///< of the process that has made them; 0: there are none
  std::int32_t slot = 0;    ///< of that rank
  std::uint32_t first = 0;  ///< file that is still there
  std::uint32_t last = 0;   ///< newest file
  std::uint32_t zero = 0;
  std::uint64_t end = 0;           ///< bytes of the newest file; 0: there is none yet
  std::uint64_t determinants = 0;  ///< number of the latest entry with determinants that is in them

  bool operator==(const SpillPlace&) const = default;
};

/// An entry in a file.
struct Spilled {
  std::uint32_t file = 0;
  Entry entry;
};

/// Takes an entry with its payload. Returns false if no more are wanted.
using TakeEntry = std::function<bool(const EntryHead& head, std::span<const std::byte> payload)>;

/// First bytes of a file.
struct SpillFileHead {
  std::array<char, 8> magic{'F', 'E', 'N', 'I', 'X', 'S', 'P', '1'};
  std::uint64_t id = 0;
  std::int32_t slot = 0;
  std::uint32_t file = 0;
  std::uint64_t node = 0;     // of the job whose file it is
  std::int32_t launcher = 0;  // of the job there
  std::uint32_t zero = 0;
  std::array<std::uint64_t, 3> zeros{};

  [[nodiscard]] bool is_of(const SpillPlace& place, std::uint32_t number) const {
    return magic == SpillFileHead().magic && id == place.id && slot == place.slot && file == number;
  }
};
static_assert(sizeof(SpillFileHead) == journal_format::kHeadBytes);

/// Returns the first bytes of a file of this job.
[[nodiscard]] SpillFileHead spill_head_of(const SpillPlace& place, std::uint32_t file);

/// Writes bytes. Returns false if the system refuses, and leaves errno.
[[nodiscard]] bool write_spilled(int fd, std::span<const std::byte> bytes, std::uint64_t position);
/// Reads as much as there is. Returns nothing if the system refuses.
[[nodiscard]] std::optional<std::size_t> read_spilled(int fd, std::span<std::byte> to, std::uint64_t position);

/// Calls see for each whole entry of a file, in their order, from a position on; 0: from the first one on. Returns the position behind the
/// last one; nothing if the file cannot be read, or is not of this rank. Any bytes may be in it. Payloads are not read.
[[nodiscard]] std::optional<std::uint64_t> scan_spill_file(const std::string& path, const SpillPlace& of,
                                                           std::uint32_t file, std::uint64_t from,
                                                           const std::function<void(const Entry&)>& see);

/// Returns the numbers of the files that there are, ascending.
[[nodiscard]] std::vector<std::uint32_t> spill_files(const std::string& folder, const SpillPlace& of);

/// Removes the files of a rank.
void remove_spill_files(const std::string& folder, const SpillPlace& of);

/// Removes the files of jobs of this user and this node whose launcher is gone. Files of another node stay, and those from before this node was
/// restarted.
void remove_spill_files_of_ended_jobs(const std::string& folder);

/// Returns the path of a file.
[[nodiscard]] std::string spill_file_path(const std::string& folder, const SpillPlace& of, std::uint32_t file);

}  // namespace fenix_impl
