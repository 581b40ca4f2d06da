// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/journal_memory.hpp"

#include <algorithm>
#include <atomic>

#include "base/simd/copy.hpp"

namespace fenix_impl {
JournalMemory::JournalMemory(const JournalParameters& parameters)
    : layout_(parameters), ring_bytes_(parameters.ring_bytes), region_(layout_.bytes()) {
  region_.reserve(0, layout_.ring(0));
}

ReadRing JournalMemory::reader(int ring) const {
  const auto bytes = region_.bytes().subspan(layout_.ring(ring), ring_bytes_);
  return [bytes](std::size_t position, std::span<std::byte> to) {
    copy_bytes(to, bytes.subspan(position, to.size()), Stores::cached);
  };
}

void JournalMemory::reserve(std::size_t end) {
  if (end <= reserved_) return;
  end = std::min(ring_bytes_, std::max(end, reserved_ + kReservedAtOnce));
  region_.reserve(layout_.ring(0) + reserved_, end - reserved_);
  // One call for all pages takes less than a fault for each of them.
  (void)populate_pages(region_.bytes(), layout_.ring(0) + reserved_, end - reserved_);
  reserved_ = end;
}

std::uint64_t JournalMemory::word(std::size_t offset) const {
  auto* place = reinterpret_cast<std::uint64_t*>(region_.bytes().data() + offset);
  return std::atomic_ref(*place).load(std::memory_order_acquire);
}

void JournalMemory::set_word(std::size_t offset, std::uint64_t word) {
  auto* place = reinterpret_cast<std::uint64_t*>(region_.bytes().data() + offset);
  std::atomic_ref(*place).store(word, std::memory_order_release);
  // Nothing that is written after it may be seen before it.
  std::atomic_thread_fence(std::memory_order_release);
}

}  // namespace fenix_impl
