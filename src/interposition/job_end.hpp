// SPDX-License-Identifier: BSD-3-Clause
// Ends of jobs that cannot go on, in programs that know nothing of Fenix. Part of libfenix and of libfenix_mpi.
#pragma once

#include <string>

namespace fenix_impl {

/// The statuses with which such a job ends: mpirun returns them (docs/message-logging.md).
enum class JobEnd : int {
  differs = 70,       ///< a replacement does not do what its predecessor did
  begins_again = 75,  ///< ranks have died, and nobody can take their places
  never_begins = 78,  ///< the program cannot be protected as the environment asks for
};

/// Ends the job with a text. rank: of this process. waits: another rank is about to end the job, for the same reason, and its text is enough.
[[noreturn]] void abort_job(JobEnd end, int rank, const std::string& why, bool waits = false);

}  // namespace fenix_impl
