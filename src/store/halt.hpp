// SPDX-License-Identifier: BSD-3-Clause
// The wish that a run ends, as a small text file in the store: written by users, tools and the run itself, read by the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "store/file_system.hpp"

namespace fenix_impl {

struct HaltConditions {
  static constexpr std::size_t kMostReasonBytes = 1000;  ///< a longer one is cut off

  std::uint32_t run = 0;                 ///< for which they hold; other runs ignore them
  std::optional<std::uint64_t> commits;  ///< end after so many more commits
  std::optional<std::int64_t> at;        ///< end at this time, in seconds since 1970
  std::optional<std::int64_t> before;    ///< be at the end by this time, with the program's own time for its end
  std::string reason;                    ///< one line

  bool operator==(const HaltConditions&) const = default;
};

/// Returns the text of the file.
[[nodiscard]] std::string text_of(const HaltConditions& conditions);
/// Returns nullopt for a text that is none. Any text may be given.
[[nodiscard]] std::optional<HaltConditions> parse_halt(const std::string& text);

/// Read and write the file of a store. Throw StoreError.
[[nodiscard]] std::optional<HaltConditions> read_halt(FileSystem& files, const std::string& root);
void write_halt(FileSystem& files, const std::string& root, const HaltConditions& conditions);

}  // namespace fenix_impl
