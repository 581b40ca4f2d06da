// SPDX-License-Identifier: BSD-3-Clause
// Objects behind the handles of type Fenix_Data_subset.
#pragma once

#include <fenix/data.h>

#include "core/member/selection.hpp"

namespace fenix_impl {

/// Gets the selection of a handle. Throws Error(FENIX_ERROR_INVALID_ARGUMENT), which names the argument, if the handle
/// is not valid.
[[nodiscard]] Selection selection_of(const Fenix_Data_subset& subset, const char* argument);

/// Creates a subset. The application has to delete it.
[[nodiscard]] Fenix_Data_subset make_subset(IntervalSet elements);

}  // namespace fenix_impl
