// SPDX-License-Identifier: BSD-3-Clause
// Data that a rank has offered, on its way to the store: what is given has been verified after it was copied, so a slot that is used
// anew meanwhile is noticed.
#pragma once

#include <cstddef>
#include <span>

#include "keeper/offer.hpp"
#include "store/dataset_writer.hpp"

namespace fenix_impl {

/// data: of the slot, up to the last element with a value. It has to stay, and may change.
[[nodiscard]] MemberSource verified_source(const MemberOffer& offer, std::span<const std::byte> data);

}  // namespace fenix_impl
