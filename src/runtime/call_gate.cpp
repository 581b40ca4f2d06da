// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call_gate.hpp"

#include <string>

#include "base/error.hpp"

namespace fenix_impl {

thread_local bool CallGate::repair_is_pending_ = false;

void CallGate::require_no_repair(const char* call) {
  if (!repair_is_pending_) return;
  throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, std::string(call) + " in a callback before a repair");
}

}  // namespace fenix_impl
