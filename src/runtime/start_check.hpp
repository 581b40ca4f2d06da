// SPDX-License-Identifier: BSD-3-Clause
// The check of Fenix_Init: arguments and the environment are right on each rank, and suit those of the others.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "recovery/groups/storage/storage.hpp"
#include "runtime/outputs.hpp"
#include "store/store_run.hpp"

namespace fenix_impl {

/// The message of a rank to the others.
struct StartArguments {
  std::int32_t rank = 0;  ///< in comm
  std::int32_t size = 0;  ///< of comm
  std::int32_t spares = 0;
  std::int32_t spawn = 0;
  std::uint32_t resume_mode = 0;
  std::uint32_t unhandled_mode = 0;
  std::uint32_t recovery_mode = 0;
  std::uint32_t spare_finalize_mode = 0;
  StoreRun run;  ///< this job on its store, from the first rank
  std::uint32_t drains = 0;
};

/// Throws Error on all ranks if something is wrong on one, or if the ranks do not suit each other. Warns of what they differ in, and of ignored:
/// what was given in vain. Begins the run of the job on its store. Collective over living.
void check_start(MPI_Comm living, StartArguments own, const Outputs& outputs, std::vector<std::string> ignored,
                 Storage& storage);

}  // namespace fenix_impl
