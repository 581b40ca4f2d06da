// SPDX-License-Identifier: BSD-3-Clause
//
// Files that get their name only when they are complete, because the process that writes them may be killed at any
// time.
#ifndef HEAT2D_FILES_HPP
#define HEAT2D_FILES_HPP

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace heat2d {

/// Calls write(temporary) to make a file, then gives the file the name path. Throws std::filesystem::filesystem_error.
void replace_file(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write);

/// Writes a text to a file. Throws std::runtime_error if the file cannot be written.
void write_file(const std::filesystem::path& path, const void* bytes, std::size_t size);
/// Writes two pieces, one after the other.
void write_file(const std::filesystem::path& path, std::span<const std::byte> head, std::span<const std::byte> rest);
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace heat2d

#endif
