// SPDX-License-Identifier: BSD-3-Clause
// Memory that the program asks for with new: of each process in a range of its own, always at the same address. It goes with
// the process, and no destructor runs.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace fenix_simulation {

class Heap {
 public:
  Heap() = default;
  /// slot: number of the range.
  explicit Heap(std::size_t slot);

  /// Returns null if there is no memory.
  void* allocate(std::size_t bytes, std::size_t alignment);
  void release(void* block);
  /// Says that MPI uses bytes of the program, until take_back(). They must not be released meanwhile.
  void lend(const std::byte* bytes, std::size_t number) { lent_.emplace_back(bytes, number); }
  void take_back(const std::byte* bytes);

  [[nodiscard]] std::size_t used() const { return used_; }
  /// Returns whether an address is in the range of any process.
  static bool has(const void* address);

 private:
  static constexpr std::size_t kClasses = 96;
  struct Header;

  std::byte* begin_ = nullptr;
  std::size_t top_ = 0;
  std::size_t used_ = 0;
  std::array<void*, kClasses> free_{};  ///< lists of blocks of one size
  std::vector<std::span<const std::byte>> lent_;
};

}  // namespace fenix_simulation
