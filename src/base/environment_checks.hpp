// SPDX-License-Identifier: BSD-3-Clause
// Mistakes in the environment as a whole, and whether ranks have the same one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/known_variables.hpp"

namespace fenix_impl::environment {

/// Returns what is in the environment without an effect: names that nobody knows, and values that this machine or build cannot follow.
[[nodiscard]] std::vector<std::string> ignored();

/// The value on this rank of a variable that should have the same one on all.
struct Shared {
  const Variable* variable = nullptr;
  std::uint32_t value = 0;  ///< a hash
};
/// Returns those variables, in the same order on all ranks.
[[nodiscard]] std::vector<Shared> shared();

}  // namespace fenix_impl::environment
