// SPDX-License-Identifier: BSD-3-Clause
// Start and end of programs that know nothing of Fenix: libfenix_mpi calls these functions in MPI_Init and MPI_Finalize.
#include <fenix.h>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "messages/options.hpp"
#include "recovery/process/comm_functions.hpp"
#include "rma/quiet_comm.hpp"
#include "runtime/job_ending.hpp"
#include "services/mpi_entry.hpp"

namespace fenix_impl {
namespace {

// Whether this process has begun in the place of a dead one.
bool has_predecessor = false;

// Other ranks may have no FENIX_SPARES: they have gone on, and will never come. If one has died, Fenix begins without it.
void wait_for_all_to_begin() {
  const MPI_Comm all = present(MPI_COMM_WORLD);
  const QuietComm quiet(all);
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(all, &request) != MPI_SUCCESS) return;
  const Deadline deadline;
  for (const Backoff backoff;; backoff.pause()) {
    int done = 0;
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0) return;
    if (!known_failed(all).empty()) return;
    if (!deadline.passed()) continue;
    throw Error(FENIX_ERROR_TIMEOUT,
                "some ranks have no FENIX_SPARES: give it to the processes of all nodes, as by mpirun -x FENIX_SPARES");
  }
}

void end_job_that_ends_early(const char* what_that_one_did) {
  const std::string why = "a replacement does not do what its predecessor did: it calls MPI_Finalize, and that one ";
  end_job((why + what_that_one_did).c_str());
}

// Ranks that are still at work may be waiting for this process. It looks only after some time: a program may end without a message that it
// was sent, and then all come to the end.
void check_messages_at_end() {
  (void)ready_entry([]() -> int {
    const bool is_early =
        has_predecessor && runtime().persistence().logged().with_log(
                               [](MessageLog& log, const RankJournals&) { return log.replay().has_unreceived(); });
    if (is_early) end_job_that_ends_early("was sent messages that this one has not received");
    return FENIX_SUCCESS;
  });
}

}  // namespace
}  // namespace fenix_impl

using namespace fenix_impl;

extern "C" {

int fenix_detail_begin(int spares) {
  // Written again after each repair.
  static int role = 0;
  static int error = FENIX_SUCCESS;
  int code = entry([]() -> int {
    // Now, as a replacement reads such files in Fenix_Init.
    runtime().persistence().logged().spill_to(spill_options_of_environment());
    wait_for_all_to_begin();
    return FENIX_SUCCESS;
  });
  if (code < 0) return code;
  code = Fenix_Init_no_jump(&role, MPI_COMM_WORLD, nullptr, nullptr, nullptr, spares, 0, MPI_INFO_NULL, &error);
  if (code < 0) return code;
  if (code == FENIX_WARNING_SPARE_RANKS_DEPLETED) end_job_without_spares(runtime().process());
  has_predecessor = role == FENIX_ROLE_RECOVERED_RANK;
  const auto begin = [] {
    return ready_entry([]() -> int {
      runtime().persistence().logged().log_messages(log_options_of_environment());
      return FENIX_SUCCESS;
    });
  };
  int begun = FENIX_ERROR_CANCELLED;
  while (begun == FENIX_ERROR_CANCELLED) begun = begin();
  return begun;
}

int fenix_detail_check_end(void) {
  return ready_entry([]() -> int {
    const bool is_early =
        has_predecessor && runtime().persistence().logged().with_log(
                               [](MessageLog& log, const RankJournals&) { return log.predecessor_went_on(); });
    if (is_early) end_job_that_ends_early("had gone on");
    return FENIX_SUCCESS;
  });
}

int fenix_detail_end(void) {
  int code = FENIX_ERROR_CANCELLED;
  // After a repair, other ranks may need what this one has logged. Ranks that are still at work are waited for.
  while (code == FENIX_ERROR_CANCELLED || code == FENIX_ERROR_TIMEOUT) {
    code = Fenix_Finalize();
    if (code == FENIX_ERROR_TIMEOUT) check_messages_at_end();
  }
  return code;
}

}  // extern "C"
