// SPDX-License-Identifier: BSD-3-Clause
// Writes to a file in a thread of its own, one piece at a time, so that the next piece can be made ready meanwhile.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>

#include "store/file_system.hpp"

namespace fenix_impl {

class WriteBehind {
 public:
  /// The file is synced when so many bytes have been written since.
  static constexpr std::uint64_t kMostUnsynced = std::uint64_t{256} << 20U;

  /// written: called in the thread after each piece, with room to wait. file and written have to outlive this object.
  WriteBehind(StoreFile& file, const std::function<void(std::uint64_t bytes)>& written);
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;
  ~WriteBehind();

  /// Begins to write a piece, which has to stay until the next call. Waits for the piece before it, and throws what went wrong with that.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Waits for the last piece. Throws what went wrong with it.
  void finish();

 private:
  void run();
  void sync_now_and_then(std::uint64_t bytes);
  void wait(std::unique_lock<std::mutex>& lock);

  StoreFile& file_;
  const std::function<void(std::uint64_t bytes)>& written_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t offset_ = 0;
  std::span<const std::byte> bytes_;  // empty: there is nothing to write
  std::uint64_t unsynced_ = 0;        // of the thread
  bool quit_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace fenix_impl
