// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/use_state.hpp"

#include <unistd.h>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

constexpr const char* kInChild = "called in a child of fork: Fenix is in use by its parent";

}  // namespace

void UseState::require_ready() const {
  if (!initialized_) throw Error(FENIX_ERROR_UNINITIALIZED, "called before Fenix_Init");
  if (finalized_) throw Error(FENIX_ERROR_UNINITIALIZED, is_child_ ? kInChild : "called after Fenix_Finalize");
}

void UseState::require_none() const {
  if (ready()) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "Fenix_Init was called before, and Fenix_Finalize was not");
  if (is_child_) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, kInChild);
}

void UseState::begin() {
  process_id_ = getpid();
  initialized_ = true;
  finalized_ = false;
}

void UseState::pass() {
  ++count_;
  initialized_ = true;
  finalized_ = true;
}

bool UseState::end_in_child() noexcept {
  if (!ready()) return false;
  is_child_ = true;
  finalized_ = true;
  return true;
}

}  // namespace fenix_impl
