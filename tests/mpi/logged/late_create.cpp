// SPDX-License-Identifier: BSD-3-Clause
// A message log that is created while a rank dies: the survivors get it, and what it needs is made by the repair.
//
//   logged_late_create MODE SPARES [--again 1]
//
// MODE: known (the others create the log when they know of the death), waiting (they wait for the rank that dies), jump (as known; the
// repair sends the survivors back to Fenix_Init), or fault. With fault, rank 1 dies by FENIX_FAULT, in the call. --again: a further rank
// dies when messages are logged. Its successor begins anew, and its messages come from copies of the logs.
#include <fenix.h>
#include <fenix/mpi_util.hpp>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "../check.hpp"

using check::expect_equal;
using check::require;
using check::success;

namespace {

constexpr int kLog = 2;
constexpr int kVictim = 1;
constexpr int kSecondVictim = 2;
constexpr int kIterations = 20;
constexpr int kDeadline = 20;  // seconds

MPI_Comm comm = MPI_COMM_NULL;
std::string mode;
int calls_of_help = 0;

void help(MPI_Comm, int, void*) { ++calls_of_help; }

void wait_for_death() {
  for (const double begin = MPI_Wtime(); Fenix_Process_detect_failures(0) == FENIX_SUCCESS;)
    require(MPI_Wtime() - begin < kDeadline, "the death is known");
}

/// The first victim dies beside the call of the others.
void create_beside_death() {
  MPI_Barrier(comm);
  if (fenix::util::comm_rank(comm) == kVictim && mode != "fault") {
    if (mode == "waiting") usleep(300'000);
    raise(SIGKILL);
  }
  if (mode == "known" || mode == "jump") wait_for_death();
  success(Fenix_Mlog_create(kLog, &comm, kIterations), "Fenix_Mlog_create beside a death");
  expect_equal(Fenix_Mlog_create(kLog, &comm, kIterations), FENIX_ERROR_MLOG_EXISTS, "the same log again");
  double noticed = 0;
  double repaired = 0;
  expect_equal(Fenix_Process_repair_times(&noticed, &repaired), FENIX_ERROR_INVALID_LOGIC_CALL, "a repair in the call");
  if (mode == "jump") {
    MPI_Barrier(comm);
    check::fail("a call has not jumped");
  }
}

/// The repair is made here, and the callbacks are called.
void meet_failure() {
  Fenix_Callback_register(help, nullptr);
  Fenix_Mlog_activate(kLog);
  for (const double begin = MPI_Wtime(); calls_of_help == 0;) {
    success(Fenix_Process_detect_failures(1), "Fenix_Process_detect_failures goes on");
    require(MPI_Wtime() - begin < kDeadline, "the callback is called");
  }
  expect_equal(calls_of_help, 1, "calls of the callback");
}

/// Values that depend on all messages so far, and are compared with those that this rank computes for all.
void exchange(bool again) {
  constexpr long kModulus = 1'000'003;
  const int rank = fenix::util::comm_rank(comm);
  const int size = fenix::util::comm_size(comm);
  std::vector<long> values(static_cast<std::size_t>(size));
  std::iota(values.begin(), values.end(), 1);
  for (int i = 0; i < kIterations; ++i) {
    success(Fenix_Mlog_activate_region(kLog, i), "Fenix_Mlog_activate_region");
    const auto at = [&](int of) { return values[static_cast<std::size_t>((of + size) % size)]; };
    const long own = at(rank);
    long left = 0;
    long sum = 0;
    success(MPI_Sendrecv(&own, 1, MPI_LONG, (rank + 1) % size, 0, &left, 1, MPI_LONG, (rank + size - 1) % size, 0, comm,
                         MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
    expect_equal(left, at(rank - 1), "the value from the left");
    if (again && i == kIterations / 2 && fenix::util::comm_rank(MPI_COMM_WORLD) == kSecondVictim) raise(SIGKILL);
    success(MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, comm), "MPI_Allreduce");
    expect_equal(sum, std::accumulate(values.begin(), values.end(), 0L), "the sum");
    for (long& each : values) each = (each * 31 + sum) % kModulus;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  require(argc >= 3, "arguments");
  mode = argv[1];
  const bool again = argc > 4 && std::strcmp(argv[3], "--again") == 0;
  int role = 0;
  int error = 0;
  Fenix_set_option(FENIX_RESUME_MODE, mode == "jump" ? FENIX_RESUME_JUMP : FENIX_RESUME_RETURN);
  Fenix_set_option(FENIX_MLOG_RECOVERY_MODE, FENIX_MLOG_RECOVERY_INLINE);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, std::atoi(argv[2]), 0, MPI_INFO_NULL, &error);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    create_beside_death();
    meet_failure();
  } else {
    success(Fenix_Mlog_create(kLog, &comm, kIterations), "Fenix_Mlog_create after the repair");
    success(Fenix_Mlog_sync(kLog, 0), "Fenix_Mlog_sync");
  }
  exchange(again);
  const int rank = fenix::util::comm_rank(comm);
  success(Fenix_Finalize(), "Fenix_Finalize");
  MPI_Finalize();
  check::ok(rank);
}
