// SPDX-License-Identifier: BSD-3-Clause
// The kinds of datasets: checkpoints, outputs, or both.
#pragma once

#include <scr.h>

namespace scr_impl {

/// dataset: anything with the flags of SCR_Start_output.
template <class Dataset>
bool is_checkpoint(const Dataset& dataset) {
  return (dataset.flags & SCR_FLAG_CHECKPOINT) != 0;
}
template <class Dataset>
bool is_output(const Dataset& dataset) {
  return (dataset.flags & SCR_FLAG_OUTPUT) != 0;
}

}  // namespace scr_impl
