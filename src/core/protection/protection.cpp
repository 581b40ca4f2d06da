// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/protection.hpp"

#include <algorithm>

#include "core/protection/copy_protection.hpp"
#include "core/protection/parity_protection.hpp"

namespace fenix_impl {

bool own_is_sound(const GroupParameters& parameters, const Member& member, const MemberVersion& version) {
  return parameters.hashing == 0 ||
         verify(member.memory.own_slot(version.slot), version.found, version.element_bytes, version.hash);
}

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
