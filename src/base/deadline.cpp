// SPDX-License-Identifier: BSD-3-Clause
#include "base/deadline.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

constexpr double kDefaultSeconds = 600;
constexpr double kMostSeconds = 1e9;  // more would overflow the clock, and is for ever anyway

}  // namespace

Deadline::Clock::duration Deadline::timeout() {
  static const auto value = [] {
    const char* text = std::getenv("FENIX_TIMEOUT");
    const double seconds = text != nullptr ? std::strtod(text, nullptr) : 0;
    const std::chrono::duration<double> wanted(seconds > 0 ? std::min(seconds, kMostSeconds) : kDefaultSeconds);
    return std::chrono::duration_cast<Clock::duration>(wanted);
  }();
  return value;
}

Deadline::Deadline() : end_(Clock::now() + timeout()) {}

void Deadline::check(const char* waited_for) const {
  if (passed()) {
    throw Error(FENIX_ERROR_TIMEOUT, std::string("waited longer than FENIX_TIMEOUT for ") + waited_for);
  }
}

}  // namespace fenix_impl
