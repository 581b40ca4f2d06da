// SPDX-License-Identifier: BSD-3-Clause
// Constructions as numbers, to be told to other ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/derived.hpp"

namespace fenix_impl {

/// Appends a construction.
void encode(const Construction& construction, std::vector<std::int64_t>& words);

/// Reads the construction at a place, and returns the place behind it.
std::size_t decode(const std::vector<std::int64_t>& words, std::size_t at, Construction& construction);

}  // namespace fenix_impl
