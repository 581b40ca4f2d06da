// SPDX-License-Identifier: BSD-3-Clause
// A message that matches a receive, and where it is.
#pragma once

#include "messages/log/logged_message.hpp"

namespace fenix_impl {

struct StoredMessage : LoggedMessage {
  int source = 0;       ///< rank in the communicator
  int source_slot = 0;  ///< of that rank
};

}  // namespace fenix_impl
