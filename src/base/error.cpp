// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"

namespace fenix_impl {
namespace {

// Made when the program starts: later there may be no memory for it.
const Error& made_in_advance = *new Error(FENIX_ERROR_NO_MEMORY, "out of memory");

}  // namespace

const Error& out_of_memory() { return made_in_advance; }

}  // namespace fenix_impl
