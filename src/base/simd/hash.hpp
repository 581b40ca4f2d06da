// SPDX-License-Identifier: BSD-3-Clause
// XXH3, the hash of stored bytes and records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace fenix_impl {

[[nodiscard]] std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

/// hash_bytes of bytes that come in pieces.
class StreamingHash {
 public:
  StreamingHash();
  ~StreamingHash();
  StreamingHash(const StreamingHash&) = delete;
  StreamingHash& operator=(const StreamingHash&) = delete;

  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fenix_impl
