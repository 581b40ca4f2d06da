// SPDX-License-Identifier: BSD-3-Clause
// The key of messages in a log.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace fenix_impl {

/// Whom a message is for, and of which kind it is. Messages of an owner with the same signature follow each other.
struct Signature {
  std::uint64_t comm_id = 0;     ///< hash of session key and communicator
  std::int32_t destination = 0;  ///< slot of the rank
  std::int32_t tag = 0;

  auto operator<=>(const Signature&) const = default;
};

struct HashOfSignature {
  std::size_t operator()(const Signature& signature) const {
    constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
    const std::uint64_t numbers = static_cast<std::uint64_t>(static_cast<std::uint32_t>(signature.destination)) << 32U |
                                  static_cast<std::uint32_t>(signature.tag);
    return static_cast<std::size_t>(((signature.comm_id ^ numbers) * kGoldenRatio) >> 32U);
  }
};

}  // namespace fenix_impl
