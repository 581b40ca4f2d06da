// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call_guards.hpp"

namespace fenix_impl {

thread_local int Inside::depth_ = 0;

thread_local std::optional<int> Inside::working_group_id_;

thread_local int RepeatedCall::depth_ = 0;

}  // namespace fenix_impl
