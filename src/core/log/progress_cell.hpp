// SPDX-License-Identifier: BSD-3-Clause
// An epoch that a rank tells another one by writing it into that rank's memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/types.hpp"

namespace fenix_impl {

/// The words of a cell: generation and epoch, and a hash of them. Not every path writes 8 bytes at once on every
/// system: words that are read while they are being written must not count.
using ProgressWords = std::array<std::uint64_t, 2>;

/// The largest epoch that a cell can have: of a rank that takes no further part.
inline constexpr Epoch kEpochOfTheGone{(std::uint64_t{1} << 48) - 1};

[[nodiscard]] ProgressWords encode_progress(Generation generation, Epoch epoch);
/// Returns the epoch; nullopt if the words are torn, or of another generation.
[[nodiscard]] std::optional<Epoch> decode_progress(const ProgressWords& words, Generation generation);

/// A cell in memory of this process to which peers write: 16 bytes, 8-byte aligned.
class ProgressCell {
 public:
  static constexpr std::size_t kBytes = sizeof(ProgressWords);

  explicit ProgressCell(std::span<std::byte> memory) : words_(reinterpret_cast<std::uint64_t*>(memory.data())) {}

  void store(const ProgressWords& words) const;
  [[nodiscard]] ProgressWords load() const;

 private:
  std::uint64_t* words_;
};

}  // namespace fenix_impl
