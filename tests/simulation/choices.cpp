// SPDX-License-Identifier: BSD-3-Clause
#include "choices.hpp"

#include <algorithm>

namespace fenix_simulation {
namespace {

constexpr std::array<std::string_view, kKinds> kNames{"delay", "stall", "yield",  "tear", "notice", "network", "loss",
                                                      "race",  "agree", "revoke", "nap",  "random", "disk"};

}  // namespace

std::string_view name_of(Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

bool find_kind(std::string_view name, Kind& kind) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  kind = static_cast<Kind>(found - kNames.begin());
  return found != kNames.end();
}

bool Choices::is_edited(Kind kind, int who, std::uint64_t number, std::uint64_t& salt) const {
  const auto found = std::find_if(edits_.begin(), edits_.end(), [&](const Edit& each) {
    return each.kind == kind && (each.who == who || each.who == Edit::kAll) && each.from <= number && number < each.to;
  });
  if (found == edits_.end()) return false;
  salt = found->salt;
  return true;
}

}  // namespace fenix_simulation
