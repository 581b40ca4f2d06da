// SPDX-License-Identifier: BSD-3-Clause
// How many of all cases a test tries.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace fenix_test {

/// Returns n, where each n-th case is to be tried: `plain`, or `sanitized` in builds with the address or the thread
/// sanitizer, which take several times as long. FENIX_TEST_EACH=<n> has precedence; the nightly set has 1.
inline int stride([[maybe_unused]] int plain, [[maybe_unused]] int sanitized) {
  if (const char* const set = std::getenv("FENIX_TEST_EACH")) return std::max(1, std::atoi(set));
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return sanitized;
#else
  return plain;
#endif
}

}  // namespace fenix_test
