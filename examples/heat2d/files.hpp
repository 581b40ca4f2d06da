// SPDX-License-Identifier: BSD-3-Clause
//
// Files that appear under their name only when they are complete: their writer may be killed at any time.
#ifndef HEAT2D_FILES_HPP
#define HEAT2D_FILES_HPP

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace heat2d {

/// Has write(temporary) make a file, then gives it the name path. Throws std::filesystem::filesystem_error.
void replace_file(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write);

/// Throws std::runtime_error if the file cannot be written.
void write_file(const std::filesystem::path& path, const void* bytes, std::size_t size);
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace heat2d

#endif
