// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection.hpp"

#include "core/copy_protection.hpp"
#include "core/parity_protection.hpp"

namespace fenix_impl {

bool own_is_sound(const GroupParameters& parameters, const Member& member, const MemberVersion& version) {
  return parameters.hashing == 0 ||
         verify(member.own_slot(version.slot), version.found, version.element_bytes, version.hash);
}

std::unique_ptr<Protection> make_protection(const Surroundings& surroundings) {
  if (surroundings.parameters.policy.encodes()) return std::make_unique<ParityProtection>(surroundings);
  return std::make_unique<CopyProtection>(surroundings);
}

}  // namespace fenix_impl
