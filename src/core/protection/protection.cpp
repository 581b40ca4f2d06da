// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/protection.hpp"

namespace fenix_impl {

bool own_is_sound(const GroupParameters& parameters, const Member& member, const MemberVersion& version) {
  return parameters.hashing == 0 ||
         verify(member.memory.own_slot(version.slot), version.found, version.element_bytes, version.hash);
}

}  // namespace fenix_impl
