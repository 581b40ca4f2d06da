// SPDX-License-Identifier: BSD-3-Clause
// Revokes a communicator while a receive from MPI_ANY_SOURCE on it is matched and under way. Shows that the buffer is written to
// after the end of the request, or that the receiver crashes. Knows nothing of Fenix: it tests Open MPI.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o wildcard_revoke tests/open_mpi/wildcard_revoke.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm --mca btl tcp,self -n 2 ./wildcard_revoke [exact]
//           timeout -s KILL 60 mpirun --with-ft ulfm --mca smsc ^cma    -n 2 ./wildcard_revoke [exact]
//
// Nobody dies. Rank 1 sends 64 MiB. Rank 0 receives it and revokes the communicator in the middle. It tests the request until it
// has ended, fills the buffer with a pattern, goes on with 0.5 s of progress, and looks at the pattern. With "exact" the receive
// names its source.
// Reason: MPIX_Comm_revoke sets any_source_enabled to false. So ompi_comm_is_proc_active(comm, MPI_ANY_SOURCE) says that the peer
// is dead, and mca_pml_ob1_recv_request_cancel ends the matched request at once, though its sender lives and goes on sending.
// Seen (3 of 3 runs each): over TCP the request ended at once, and 63 to 66 MB of the buffer were changed afterwards. Over shared
// memory without CMA rank 0 crashed in mca_pml_ob1_recv_request_progress_frag. With "exact" it ended after 17 to 667 ms, and 0 bytes
// were changed. With CMA the transfer is one step, and is never cut.
#include <cstdio>
#include <cstring>
#include <mpi.h>
#include <unistd.h>
#include <vector>
#include <mpi-ext.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me, flag = 0, kind = 0, error = 0, other;
  const int size = 1 << 26;
  std::vector<char> buffer(size, 1);
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &me);
  if (me == 1) {
    error = MPI_Isend(buffer.data(), size, MPI_BYTE, 0, 1, comm, &request);
  } else {
    error = MPI_Irecv(buffer.data(), size, MPI_BYTE, argc > 1 ? 1 : MPI_ANY_SOURCE, 1, comm, &request);
  }
  double start = MPI_Wtime(), revoked = 0;
  if (me == 0) memset(buffer.data(), 0, size);
  MPI_Barrier(MPI_COMM_WORLD);
  while (!flag && error == MPI_SUCCESS) {
    error = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    // Revoke when the first bytes have arrived: the receive is matched, and under way.
    if (me == 0 && revoked == 0 && buffer[1 << 20] != 0) {
      MPIX_Comm_revoke(comm);
      revoked = MPI_Wtime();
    }
  }
  const double ended = MPI_Wtime();
  MPI_Error_class(error, &kind);
  memset(buffer.data(), 0x5A, size);
  for (start = MPI_Wtime(); MPI_Wtime() - start < 0.5;)
    MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &other, MPI_STATUS_IGNORE);
  int changed = 0;
  for (char c : buffer) changed += c != 0x5A;
  printf("rank %d: error class %d, ended %.3f ms after the revoke; %d bytes of the buffer were changed afterwards\n",
         me, kind, revoked == 0 ? 0 : (ended - revoked) * 1e3, changed);
  fflush(stdout);
  MPI_Finalize();
}
