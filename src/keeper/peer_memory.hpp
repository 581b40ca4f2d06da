// SPDX-License-Identifier: BSD-3-Clause
// Memory of a rank, as its keeper has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/descriptor.hpp"

namespace fenix_impl {

/// Memory of a rank, mapped. It stays when the rank dies.
class PeerMemory {
 public:
  /// Maps part of a file. Throws std::runtime_error if the file is smaller, or may become smaller.
  PeerMemory(const Descriptor& file, std::uint64_t offset, std::uint64_t bytes, bool to_be_written);
  PeerMemory(PeerMemory&& other) noexcept;
  PeerMemory& operator=(PeerMemory&&) = delete;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  ~PeerMemory();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::span<std::byte> bytes_;
};

}  // namespace fenix_impl
