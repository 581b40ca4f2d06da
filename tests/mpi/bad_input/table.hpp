// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rows.hpp"

namespace bad_input {

/// Prints docs/bad-input.md.
void print_table(const Rows& rows);

/// Whether every function has a row, and every row a name of its own; says what is missing.
bool all_covered(const Rows& rows);

}  // namespace bad_input
