// SPDX-License-Identifier: BSD-3-Clause
// Sends rendezvous messages toward a rank that has revoked the communicator. Shows that they end with MPI_SUCCESS, though nobody
// receives them. Knows nothing of Fenix: it tests Open MPI.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o unreceived_sends tests/open_mpi/unreceived_sends.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm --mca smsc ^cma -n 2 ./unreceived_sends
//           timeout -s KILL 60 mpirun --with-ft ulfm -n 2 ./unreceived_sends vector      (types with gaps do not use CMA either)
//
// Nobody dies. Rank 0 revokes communicator A while rank 1 sends on A. Rank 0 answers a rendezvous on A with a NACK. Rank 1 then
// completes and frees the request at once (mca_pml_ob1_recv_frag_callback_ack), though the completion of its first fragment
// is still to come (mca_pml_ob1_rndv_completion). It might then count for the next send that gets the same request object, here
// one on the healthy communicator B. Rank 0 checks the bytes that it receives on B.
// Seen: 4,587 to 4,756 of 4,800 such sends ended with success over shared memory, 3,334 and 3,455 over TCP. No damage to the next
// send was seen: 0 messages with wrong bytes on B in 10 runs.
#include <cstdio>
#include <cstring>
#include <mpi.h>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>
#include <mpi-ext.h>

static int iteration, me;

static void hung(int) {
  fprintf(stderr, "rank %d HUNG in iteration %d\n", me, iteration);
  kill(getpid(), SIGKILL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool vector = argc > 1 && std::string(argv[1]) == "vector";
  const int size = 1 << 18, burst = 4;
  MPI_Comm a, b;
  MPI_Datatype type = MPI_BYTE;
  int units = size;
  if (vector) {
    MPI_Type_vector(size / 8192, 4096, 8192, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    units = 1;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &b);
  MPI_Comm_set_errhandler(b, MPI_ERRORS_RETURN);
  MPI_Comm_rank(b, &me);
  std::vector<char> memory[burst];
  for (auto& m : memory) m.resize(size, 7);
  int success = 0, errors = 0, wrong = 0;
  signal(SIGALRM, hung);
  const int iterations = 400;
  for (iteration = 0; iteration < iterations; ++iteration) {
    alarm(5);
    MPI_Comm_dup(b, &a);
    MPI_Comm_set_errhandler(a, MPI_ERRORS_RETURN);
    MPI_Barrier(b);
    MPI_Request requests[burst];
    if (me == 0) {
      MPIX_Comm_revoke(a);
      for (auto& m : memory) memset(m.data(), 0, size);
      for (int i = 0; i < burst; ++i) MPI_Irecv(memory[i].data(), units, type, 1, i, b, &requests[i]);
      for (auto& r : requests)
        if (MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS) ++errors;
      for (auto& m : memory)
        for (int at = 0; at < size; at += vector ? 8192 : 4096)
          if (m[at] != char(iteration + 1)) {
            ++wrong;
            break;
          }
    } else {
      for (auto& m : memory) memset(m.data(), 0x55, size);
      for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < burst; ++i)
          if (MPI_Isend(memory[i].data(), units, type, 0, i, a, &requests[i]) != MPI_SUCCESS) {
            requests[i] = MPI_REQUEST_NULL;
            ++errors;
          }
        for (auto& r : requests)
          if (r != MPI_REQUEST_NULL) ++(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS ? success : errors);
      }
      for (auto& m : memory) memset(m.data(), iteration + 1, size);
      for (int i = 0; i < burst; ++i) MPI_Isend(memory[i].data(), units, type, 0, i, b, &requests[i]);
      MPI_Waitall(burst, requests, MPI_STATUSES_IGNORE);
    }
  }
  printf(
      "rank %d: %d iterations; sends on A that ended with success %d, with an error %d; "
      "messages with wrong bytes on B %d\n",
      me, iterations, success, errors, wrong);
  fflush(stdout);
  MPI_Finalize();
}
