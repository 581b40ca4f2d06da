// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rows.hpp"

namespace bad_input {

/// Prints the page "Wrong arguments" of the site.
void print_table(const Rows& rows);

/// Whether every function has a row, and every row a name of its own and a code that has a name; says what is wrong.
bool is_good(const Rows& rows);

}  // namespace bad_input
