// SPDX-License-Identifier: BSD-3-Clause
#include "base/deadline.hpp"

#include <string>

#include "base/environment.hpp"
#include "base/error.hpp"

namespace fenix_impl {

Deadline::Clock::duration Deadline::timeout() {
  static const auto value =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(environment::number("FENIX_TIMEOUT")));
  return value;
}

Deadline::Deadline() : end_(Clock::now() + timeout()) {}

void Deadline::check(const char* waited_for) const {
  if (passed()) {
    throw Error(FENIX_ERROR_TIMEOUT, std::string("waited longer than FENIX_TIMEOUT for ") + waited_for);
  }
}

}  // namespace fenix_impl
