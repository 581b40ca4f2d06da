// SPDX-License-Identifier: BSD-3-Clause
// Constructions as numbers, to be told to other ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/base/derived.hpp"

namespace fenix_impl {

/// Appends a construction, and the calls that its communicators have served.
void encode(const Derived& derived, std::vector<std::int64_t>& words);

/// Reads the construction at a place, and returns the place behind it.
std::size_t decode(const std::vector<std::int64_t>& words, std::size_t at, Derived& derived);

}  // namespace fenix_impl
