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

/// A file as a checkpoint has it that is in its own place.
struct FileSeal {
  std::uint64_t size = 0;
  std::uint64_t hash = 0;
};

/// Reads a file. is_durable: waits until its bytes survive the end of the system. Returns nothing if that fails.
std::optional<FileSeal> seal_file(const std::filesystem::path& path, bool is_durable);
/// Waits until the names of folders survive the end of the system: of this one, and of those above it up to top.
bool sync_folders(std::filesystem::path folder, const std::filesystem::path& top);

/// Writes a file for the private folder.
bool write_file(const std::filesystem::path& path, std::uint32_t mode, std::span<const std::byte> bytes);

/// Tells whether a name is one that files have here while they are written. No other file may have it.
bool is_unfinished_name(const std::string& name);

/// Copies a file under another name and then gives it its own, such that it survives the end of the system. Makes its folder.
bool copy_durably(const std::filesystem::path& from, const std::filesystem::path& to);

// Files of the library's own folder are for this user alone, whatever the umask is.

/// Makes a folder with mode 0700, with those above it that are missing, or gives one this mode that is there. Returns false if it cannot, if the
/// folder belongs to another user, and if it is a link.
bool make_private_folder(const std::filesystem::path& folder);
/// Writes a file with mode 0600, as copy_durably does. Makes its folder.
bool write_durably(const std::filesystem::path& to, const std::string& text);
/// Reads a file of this user. Returns nothing for others, and for links: somebody else may have put them there.
std::optional<std::string> read_own_file(const std::filesystem::path& path);

}  // namespace scr_impl
