// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/slot_file.hpp"

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <limits>

#include "base/error.hpp"

namespace fenix_impl {

SlotFile::SlotFile(std::span<std::byte> memory, std::uint64_t bytes, Spill& spill, std::uint64_t limit)
    : memory_(memory), size_(bytes), spill_(&spill), limit_(limit) {
  open("w+");
}

SlotFile::SlotFile(std::span<const std::byte> memory)
    // Reads only: no write function can be reached.
    : memory_(const_cast<std::byte*>(memory.data()), memory.size()), size_(memory.size()) {
  open("r");
}

void SlotFile::open(const char* mode) {
  file_ = fopencookie(this, mode, {read, write, move, nullptr});
  if (file_ == nullptr) throw Error(FENIX_ERROR_NO_MEMORY, "a file over a slot could not be opened");
  std::setvbuf(file_, nullptr, _IONBF, 0);
}

void SlotFile::cut() {
  const std::lock_guard lock(mutex_);
  is_cut_ = true;
  memory_ = {};
  spill_ = nullptr;
}

bool SlotFile::close() {
  if (file_ != nullptr && std::fclose(file_) != 0) failed_ = true;
  file_ = nullptr;
  return !failed_;
}

std::span<std::byte> SlotFile::room_for(std::uint64_t end) {
  if (spill_->empty() && end <= memory_.size()) return memory_;
  if (spill_->size() < end) {
    const bool first = spill_->empty();
    if (spill_->capacity() < end) spill_->reserve(std::max<std::uint64_t>(end, spill_->capacity() * 2));
    spill_->resize(end);
    if (first) std::copy_n(memory_.begin(), size_, spill_->begin());
  }
  return *spill_;
}

ssize_t SlotFile::read(void* cookie, char* to, std::size_t bytes) {
  auto& self = *static_cast<SlotFile*>(cookie);
  const std::lock_guard lock(self.mutex_);
  if (self.is_cut_) {
    errno = EIO;
    return -1;
  }
  if (self.position_ >= self.size_) return 0;
  const auto from = self.spill_ != nullptr && !self.spill_->empty() ? std::span(*self.spill_) : self.memory_;
  const std::size_t amount = std::min<std::uint64_t>(bytes, self.size_ - self.position_);
  std::memcpy(to, from.data() + self.position_, amount);
  self.position_ += amount;
  return static_cast<ssize_t>(amount);
}

ssize_t SlotFile::write(void* cookie, const char* from, std::size_t bytes) {
  auto& self = *static_cast<SlotFile*>(cookie);
  const std::lock_guard lock(self.mutex_);
  if (self.is_cut_) {
    errno = EIO;
    return 0;
  }
  try {
    const std::size_t amount =
        self.position_ < self.limit_ ? std::min<std::uint64_t>(bytes, self.limit_ - self.position_) : 0;
    if (amount < bytes) {
      self.failed_ = true;
      errno = ENOSPC;
    }
    if (amount == 0) return 0;
    const auto to = self.room_for(self.position_ + amount);
    // A gap that was skipped by a seek reads as zeros, as in any file.
    if (self.position_ > self.size_) std::memset(to.data() + self.size_, 0, self.position_ - self.size_);
    std::memcpy(to.data() + self.position_, from, amount);
    self.position_ += amount;
    self.written_ = std::max(self.written_, self.position_);
    self.size_ = std::max(self.size_, self.position_);
    return static_cast<ssize_t>(amount);
  } catch (const std::exception&) {
    // There is no memory, or less than the vector would need. Nothing may be thrown through C code.
    self.failed_ = true;
    errno = ENOMEM;
    return 0;
  }
}

int SlotFile::move(void* cookie, std::int64_t* offset, int whence) {
  auto& self = *static_cast<SlotFile*>(cookie);
  const std::lock_guard lock(self.mutex_);
  if (self.is_cut_) {
    errno = EIO;
    return -1;
  }
  const std::int64_t start = whence == SEEK_SET   ? 0
                             : whence == SEEK_CUR ? static_cast<std::int64_t>(self.position_)
                                                  : static_cast<std::int64_t>(self.size_);
  if (*offset < -start || *offset > std::numeric_limits<std::int64_t>::max() - start) return -1;
  *offset += start;
  self.position_ = static_cast<std::uint64_t>(*offset);
  return 0;
}

}  // namespace fenix_impl
