// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/make_protection.hpp"

#include <algorithm>

#include "core/protection/copy_protection.hpp"
#include "core/protection/parity_protection.hpp"

namespace fenix_impl {

std::unique_ptr<Protection> make_protection(const ProtectionContext& context) {
  std::unique_ptr<Protection> protection;
  if (context.parameters.policy.encodes()) {
    protection = std::make_unique<ParityProtection>(context);
  } else {
    protection = std::make_unique<CopyProtection>(context);
  }
  const auto others = protection->neighbours();
  protection->puts_are_copies_ =
      std::all_of(others.begin(), others.end(), [&](int rank) { return context.path.puts_are_copies(rank); });
  return protection;
}

}  // namespace fenix_impl
