// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment_checks.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>

#include "base/environment.hpp"
#include "base/other_variables.hpp"
#include "base/simd/hash.hpp"
#include "base/simd/simd.hpp"

namespace fenix_impl::environment {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

bool is_known(std::string_view name) {
  const auto has_name = [&](const auto& each) { return each.name == name; };
  return std::any_of(kVariables.begin(), kVariables.end(), has_name) ||
         std::any_of(kOtherVariables.begin(), kOtherVariables.end(), has_name) ||
         std::any_of(kQuietNames.begin(), kQuietNames.end(), [&](auto each) { return name.starts_with(each); });
}

/// Returns the known name that is most like this one, if one is.
std::string_view meant_by(std::string_view name) {
  constexpr std::size_t kLong = 11;
  std::string_view nearest;
  std::size_t least = name.size() >= kLong ? 3 : 2;
  for (const Variable& each : kVariables) {
    const std::size_t mistakes = distance(name, each.name);
    if (mistakes < least) nearest = each.name;
    least = std::min(least, mistakes);
  }
  return nearest;
}

}  // namespace

std::vector<std::string> ignored() {
  constexpr std::string_view kOwn = "FENIX_";
  std::vector<std::string> found;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry = *each;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (!name.starts_with(kOwn) || is_known(name)) continue;
    const std::string_view meant = meant_by(name);
    found.push_back(std::string(name) + " is in the environment, and nobody reads it" +
                    (meant.empty() ? "" : "; " + std::string(meant) + " may be meant"));
  }
  const auto sets = available_simd();
  const std::string_view simd = word("FENIX_SIMD");
  if (!simd.empty() && std::none_of(sets.begin(), sets.end(), [&](Simd each) { return simd == name_of(each); })) {
    found.push_back("FENIX_SIMD is " + std::string(simd) + ", which this machine does not have; " +
                    name_of(sets.back()) + " is used");
  }
  if (!is_set("FENIX_STORE") && (whole("FENIX_FLUSH") > 0 || whole("FENIX_KEEP") > 0 || is_on("FENIX_DRAIN"))) {
    found.emplace_back("FENIX_STORE is not set, so that nothing is flushed or kept, whatever other variables say");
  }
#ifndef FENIX_FAULT_INJECTION
  if (is_set("FENIX_FAULT")) found.emplace_back("FENIX_FAULT is set, and this build has no fault points");
#endif
  return found;
}

std::vector<Shared> shared() {
  std::vector<Shared> all;
  for (const Variable& each : kVariables) {
    if (each.differing == Differing::allowed) continue;
    const std::string value = effective_text(each);
    const auto hash = static_cast<std::uint32_t>(hash_bytes(std::as_bytes(std::span(value))) | 1U);
    all.push_back({&each, value.empty() ? 0 : hash});
  }
  return all;
}

}  // namespace fenix_impl::environment
