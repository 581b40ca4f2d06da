// SPDX-License-Identifier: BSD-3-Clause
// The operations of a file system that the store needs, so that tests can have one that forgets, fails or hangs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fenix_impl {

/// A file system has refused an operation.
class StoreError : public std::runtime_error {
 public:
  /// error: of errno.
  StoreError(int error, const std::string& operation, const std::string& path);
  /// text: all of it.
  StoreError(int error, const std::string& text) : std::runtime_error(text), error_(error) {}
  [[nodiscard]] int error() const { return error_; }

 private:
  int error_;
};

/// An open file. All functions throw StoreError.
class StoreFile {
 public:
  StoreFile() = default;
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;
  virtual ~StoreFile() = default;

  /// Writes all bytes at an offset. Of large files the offset, the number of bytes and their place in memory are multiples of
  /// FileSystem::kAlignment.
  virtual void write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// Reads bytes at an offset. Returns fewer than wanted at the end of the file.
  [[nodiscard]] virtual std::size_t read(std::uint64_t offset, std::span<std::byte> to) = 0;
  [[nodiscard]] virtual std::uint64_t size() = 0;
  /// Returns when the contents survive the end of the system. The name of a new file needs FileSystem::sync_folder too.
  virtual void sync() = 0;
};

/// Paths are those of the system. All functions throw StoreError. What another user has put into a store is not followed, read or written.
class FileSystem {
 public:
  static constexpr std::size_t kAlignment = 4096;
  enum class Use {
    small,  ///< read and written as the system likes
    large,  ///< past the memory that the system keeps files in, where that is possible
  };

  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  /// Makes a file that must not exist. Returns null if it exists.
  [[nodiscard]] virtual std::unique_ptr<StoreFile> create(const std::string& path, Use use) = 0;
  /// Opens a file to read. Returns null if there is none.
  [[nodiscard]] virtual std::unique_ptr<StoreFile> open(const std::string& path, Use use) = 0;
  /// Opens a file to be written over, small. Returns null if there is none.
  [[nodiscard]] virtual std::unique_ptr<StoreFile> modify(const std::string& path) = 0;
  /// Adds bytes at the end of a file, all at once; the file is made if there is none. They need not survive the end of the system.
  virtual void append(const std::string& path, std::span<const std::byte> bytes) = 0;
  /// Gives a file another name, in place of what has that name.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file. Nothing happens if there is none.
  virtual void remove(const std::string& path) = 0;
  /// Makes a folder. Nothing happens if there is one.
  virtual void make_folder(const std::string& path) = 0;
  /// Removes a file, or a folder with all that is in it. Links are removed, and not followed.
  virtual void remove_tree(const std::string& path) = 0;
  /// Returns the names in a folder, in no order; none if there is no folder.
  [[nodiscard]] virtual std::vector<std::string> list(const std::string& path) = 0;
  /// Returns when all names in a folder survive the end of the system.
  virtual void sync_folder(const std::string& path) = 0;
  /// Returns why other users may change what is in a folder; empty if they may not.
  [[nodiscard]] virtual std::string trust_in(const std::string& path) {
    (void)path;
    return {};
  }
};

}  // namespace fenix_impl
