// SPDX-License-Identifier: BSD-3-Clause
// Files that are read and written as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace scr_impl {

struct FileStatus {
  std::uint64_t size = 0;
  std::uint32_t mode = 0;
};

/// Returns nothing for anything that is no plain file that can be read.
std::optional<FileStatus> status_of_file(const std::filesystem::path& path);

/// Gives all bytes of a file to take, piece by piece, until it returns false. Returns whether they were size bytes, and all were taken.
bool read_file(const std::filesystem::path& path, std::uint64_t size,
               const std::function<bool(std::span<const std::byte>)>& take);

/// Writes a file for the private folder.
bool write_file(const std::filesystem::path& path, std::uint32_t mode, std::span<const std::byte> bytes);

/// Copies a file under another name and then gives it its own, such that it survives the end of the system. Makes its folder.
bool copy_durably(const std::filesystem::path& from, const std::filesystem::path& to);
bool write_durably(const std::filesystem::path& to, const std::string& text);

}  // namespace scr_impl
