// SPDX-License-Identifier: BSD-3-Clause
// A FILE over the elements in a slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <span>

#include "base/kept_addresses.hpp"

namespace fenix_impl {

/// Reads and writes go straight to the memory: the FILE has no buffer.
class SlotFile {
 public:
  /// Opens memory that others own. bytes: the part of it that can be read. spill: takes over all bytes when writes go
  /// beyond memory. Writes beyond limit fail with ENOSPC. Throws Error(FENIX_ERROR_NO_MEMORY).
  SlotFile(std::span<std::byte> memory, std::uint64_t bytes, Spill& spill, std::uint64_t limit);
  /// Opens memory for reading only.
  explicit SlotFile(std::span<const std::byte> memory);
  SlotFile(const SlotFile&) = delete;
  SlotFile& operator=(const SlotFile&) = delete;
  ~SlotFile() { (void)close(); }

  [[nodiscard]] std::FILE* file() const { return file_; }
  [[nodiscard]] std::uint64_t position() const { return position_; }
  void seek(std::uint64_t position) { position_ = position; }
  /// Returns the position after the furthest byte written.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  /// Releases the memory: from here on reads, writes and seeks fail with EIO, also those of other threads.
  void cut();
  /// Closes the FILE. False if a write has failed.
  bool close();

 private:
  void open(const char* mode);
  static ssize_t read(void* cookie, char* to, std::size_t bytes);
  static ssize_t write(void* cookie, const char* from, std::size_t bytes);
  static int move(void* cookie, std::int64_t* offset, int whence);
  [[nodiscard]] std::span<std::byte> room_for(std::uint64_t end);

  std::span<std::byte> memory_;
  std::uint64_t size_ = 0;
  Spill* spill_ = nullptr;
  std::uint64_t limit_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t written_ = 0;
  bool failed_ = false;
  bool is_cut_ = false;
  std::mutex mutex_;  // protects what the FILE's functions use: one thread may repair while another one writes
  std::FILE* file_ = nullptr;
};

}  // namespace fenix_impl
