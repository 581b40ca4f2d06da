// SPDX-License-Identifier: BSD-3-Clause
#include "scr/patience.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

#include "base/settings_files.hpp"

namespace scr_impl {

std::chrono::milliseconds patience() {
  constexpr std::chrono::milliseconds kDefault{60'000};
  struct Unit {
    const char* name;
    double milliseconds;
  };
  static constexpr std::array<Unit, 6> kUnits{
      {{"", 1e3}, {"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3'600e3}, {"d", 86'400e3}}};
  const char* const text = fenix_impl::setting("FENIX_FLUSH_TIMEOUT");
  if (text == nullptr || *text == 0) return kDefault;
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  for (const Unit& unit : kUnits) {
    // Fenix_Init has refused what is out of range.
    if (std::strcmp(end, unit.name) == 0 && number > 0)
      return std::chrono::milliseconds(static_cast<long long>(number * unit.milliseconds));
  }
  return kDefault;
}

std::atomic<bool>& is_stuck() {
  static std::atomic<bool> stuck{false};
  return stuck;
}

}  // namespace scr_impl
