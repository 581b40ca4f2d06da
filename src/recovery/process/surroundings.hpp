// SPDX-License-Identifier: BSD-3-Clause
// Nodes and environments of all ranks, gathered in Fenix_Init: they have to agree in variables that count for all.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/known_variables.hpp"

namespace fenix_impl {

/// Sent to other ranks.
struct Surroundings {
  static constexpr std::size_t kShared = static_cast<std::size_t>(std::count_if(
      kVariables.begin(), kVariables.end(), [](const Variable& each) { return each.differing != Differing::allowed; }));

  std::uint64_t node = 0;
  std::uint64_t ignored = 0;                    ///< hash of what has no effect; 0: nothing
  std::uint64_t program = 0;                    ///< hash of its name and arguments
  std::array<std::uint32_t, kShared> shared{};  ///< hashes of the values of variables that all ranks should have

  /// Returns those of this rank. ignored: what it was given in vain.
  [[nodiscard]] static Surroundings here(std::span<const std::string> ignored);
};

/// The surroundings of all ranks, in the order of ranks.
class AllSurroundings {
 public:
  explicit AllSurroundings(std::vector<Surroundings> all) : all_(std::move(all)) {}

  /// Throws Error(FENIX_ERROR_MISMATCH), which names the variable, if ranks differ where all must agree. The same on all ranks.
  void check() const;
  /// Throws Error(FENIX_ERROR_MISMATCH) if ranks run different programs, or have different arguments. The same on all ranks.
  void require_one_program() const;
  /// Warns of what has no effect, on the first rank that has it; of other differences, and of a launcher that ends the job, on rank 0.
  void warn(int rank, std::span<const std::string> ignored) const;
  /// Says how the job begins, at the level info.
  void tell(int ranks, int spares) const;

 private:
  [[nodiscard]] std::size_t nodes() const;
  [[nodiscard]] std::string difference(Differing kind) const;

  std::vector<Surroundings> all_;
};

}  // namespace fenix_impl
