// SPDX-License-Identifier: BSD-3-Clause
// The objects behind Fenix_Data_subset.
#pragma once

#include <fenix/data.h>

#include "core/member/selection.hpp"

namespace fenix_impl {

/// What a handle stands for. Throws Error(FENIX_ERROR_INVALID_ARGUMENT) naming the argument if it is none that lives.
[[nodiscard]] Selection selection_of(const Fenix_Data_subset& subset, const char* argument);

/// Makes a handle, which the application has to delete.
[[nodiscard]] Fenix_Data_subset make_subset(IntervalSet elements);

}  // namespace fenix_impl
