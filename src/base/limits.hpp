// SPDX-License-Identifier: BSD-3-Clause
// The limits of a process that make requests to the system fail.
#pragma once

#include <string>

namespace fenix_impl {

/// Names the limit that a request has met, with its value, for the text of an error: " (RLIMIT_NOFILE: 1024)". Empty if none is known to
/// be met. error: errno of the request.
[[nodiscard]] std::string limit_met(int error);

}  // namespace fenix_impl
