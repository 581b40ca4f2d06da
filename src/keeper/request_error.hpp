// SPDX-License-Identifier: BSD-3-Clause
// How requests to the keeper fail.
#pragma once

#include <string>

#include "base/error.hpp"

namespace fenix_impl {

/// Throws Error(FENIX_ERROR_STORE).
[[noreturn]] inline void fail_request(const std::string& why) { throw Error(FENIX_ERROR_STORE, "the store: " + why); }
[[noreturn]] inline void fail_damaged_answer() { fail_request("an answer of the keeper is damaged"); }

}  // namespace fenix_impl
