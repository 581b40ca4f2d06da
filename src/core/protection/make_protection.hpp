// SPDX-License-Identifier: BSD-3-Clause
// The choice of the protection that implements a policy.
#pragma once

#include <memory>

#include "core/protection/protection.hpp"

namespace fenix_impl {

/// Returns the protection for the policy of the group.
[[nodiscard]] std::unique_ptr<Protection> make_protection(const ProtectionContext& context);

}  // namespace fenix_impl
