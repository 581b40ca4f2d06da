// SPDX-License-Identifier: BSD-3-Clause
// The log of a run, as lines of text in the store. It is for people: nothing depends on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/file_system.hpp"

namespace fenix_impl {

/// Adds a line, with the time. Several processes may add lines. A line that cannot be written is lost.
void note_in_log(FileSystem& files, const std::string& root, std::uint32_t run, const std::string& text) noexcept;
/// Returns the lines, or nullopt. Throws StoreError.
[[nodiscard]] std::optional<std::string> read_log(FileSystem& files, const std::string& root, std::uint32_t run);

}  // namespace fenix_impl
