// SPDX-License-Identifier: BSD-3-Clause
// How recovery throws fenix::CommException without knowing the public headers.
#pragma once

#include "runtime/failure_exception.hpp"

namespace fenix_impl {

[[nodiscard]] FailureException comm_exception();

}  // namespace fenix_impl
