// SPDX-License-Identifier: BSD-3-Clause
#include "store/write_behind.hpp"

#include <utility>

#include "base/signals_blocked.hpp"

namespace fenix_impl {

WriteBehind::WriteBehind(StoreFile& file, const std::function<void(std::uint64_t bytes)>& written)
    : file_(file), written_(written) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

WriteBehind::~WriteBehind() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WriteBehind::wait(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return bytes_.empty(); });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void WriteBehind::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::unique_lock lock(mutex_);
  wait(lock);
  offset_ = offset;
  bytes_ = bytes;
  changed_.notify_all();
}

void WriteBehind::finish() {
  std::unique_lock lock(mutex_);
  wait(lock);
}

// Without O_DIRECT, all that is written waits in the memory of the system. One sync of it all could take longer than a file system has time
// to move.
void WriteBehind::sync_now_and_then(std::uint64_t bytes) {
  unsynced_ += bytes;
  if (unsynced_ < kMostUnsynced) return;
  file_.sync();
  unsynced_ = 0;
}

void WriteBehind::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return quit_ || !bytes_.empty(); });
    if (bytes_.empty()) return;
    const auto bytes = bytes_;
    const std::uint64_t offset = offset_;
    lock.unlock();
    std::exception_ptr error;
    try {
      file_.write(offset, bytes);
      sync_now_and_then(bytes.size());
      if (written_) written_(bytes.size());
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    bytes_ = {};
    changed_.notify_all();
  }
}

}  // namespace fenix_impl
