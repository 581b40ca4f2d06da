// SPDX-License-Identifier: BSD-3-Clause
// The start of the keeper's process by a rank.
#pragma once

#include <string>

#include "base/deadline.hpp"
#include "keeper/local_socket.hpp"

namespace fenix_impl {

/// Starts the program, which gets the socket and the lock of its name. limit: for it to leave this process. Throws
/// Error(FENIX_ERROR_STORE).
void launch_keeper(const std::string& program, const Listener& listener, Deadline::Clock::duration limit);

}  // namespace fenix_impl
