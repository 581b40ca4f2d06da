// SPDX-License-Identifier: BSD-3-Clause
// Seeds of tests that try something else each time.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>

namespace fenix_test {

/// Returns a new seed and prints it; FENIX_TEST_SEED=<seed> repeats one. A scoped trace would not do where ranks are threads:
/// failures that they find do not show it.
inline unsigned random_seed() {
  const char* const set = std::getenv("FENIX_TEST_SEED");
  const unsigned seed = set != nullptr ? static_cast<unsigned>(std::strtoul(set, nullptr, 10)) : std::random_device{}();
  std::printf("FENIX_TEST_SEED=%u\n", seed);
  return seed;
}

}  // namespace fenix_test
