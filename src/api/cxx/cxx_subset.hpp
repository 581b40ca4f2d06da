// SPDX-License-Identifier: BSD-3-Clause
// Conversion from DataSubset to Fenix_Data_subset, for calls of the C interface.
#pragma once

#include <fenix/cxx/data_subset.hpp>

namespace fenix_impl {

/// Sets subset to a subset with these elements. It exists until the next call on this thread, because calls that use it
/// may end by a jump, which runs no destructors. Returns a code of Fenix_Data_subset_createv_c.
int lend_subset(const fenix::DataSubset& elements, Fenix_Data_subset& subset);

}  // namespace fenix_impl
