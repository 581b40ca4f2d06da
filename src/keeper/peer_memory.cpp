// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/peer_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <stdexcept>
#include <utility>

#include "base/pages.hpp"

namespace fenix_impl {

PeerMemory::PeerMemory(const Descriptor& file, std::uint64_t offset, std::uint64_t bytes, bool to_be_written) {
  if (bytes == 0) return;
  struct stat status {};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  // To touch what was cut off would end this process.
  const bool is_fixed = seals >= 0 && (static_cast<unsigned>(seals) & F_SEAL_SHRINK) != 0;
  const bool is_there = ::fstat(file.get(), &status) == 0 && is_fixed &&
                        offset <= static_cast<std::uint64_t>(status.st_size) &&
                        bytes <= static_cast<std::uint64_t>(status.st_size) - offset;
  if (!is_there) throw std::runtime_error("the memory of a rank is not where it said");
  const std::uint64_t begin = offset / system_page() * system_page();
  mapped_bytes_ = static_cast<std::size_t>(offset - begin + bytes);
  mapped_ = ::mmap(nullptr, mapped_bytes_, to_be_written ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file.get(),
                   static_cast<off_t>(begin));
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    throw std::runtime_error("the memory of a rank cannot be mapped");
  }
  bytes_ = {static_cast<std::byte*>(mapped_) + (offset - begin), static_cast<std::size_t>(bytes)};
}

PeerMemory::PeerMemory(PeerMemory&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      bytes_(std::exchange(other.bytes_, {})) {}

PeerMemory::~PeerMemory() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

}  // namespace fenix_impl
