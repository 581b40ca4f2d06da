// SPDX-License-Identifier: BSD-3-Clause
// A receiver that revokes refuses what it has not received, also what MPI_Mprobe has matched. The senders must hear of it: MPI_ERR_REVOKED, not
// MPI_SUCCESS, and no wait for ever. mpirun --with-ft ulfm -n 2 refused_sends [matched]
#include <mpi.h>
#include <unistd.h>
#include <mpi-ext.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  constexpr int kBytes = 4 << 20;
  constexpr double kMostSeconds = 5.0;
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  std::vector<char> data(kBytes);
  if (rank == 0) {
    char small = 0;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Isend(data.data(), kBytes, MPI_BYTE, 1, 0, comm, &requests[0]);
    MPI_Issend(&small, 1, MPI_BYTE, 1, 1, comm, &requests[1]);
    for (MPI_Request& request : requests) {
      const double since = MPI_Wtime();
      int flag = 0;
      int error = MPI_SUCCESS;
      while (flag == 0 && error == MPI_SUCCESS && MPI_Wtime() - since < kMostSeconds)
        error = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      const bool is_revoked = error != MPI_SUCCESS && [&] {
        int error_class = 0;
        MPI_Error_class(error, &error_class);
        return error_class == MPIX_ERR_REVOKED;
      }();
      std::printf("the send %s\n", is_revoked ? "was refused" : flag != 0 ? "ended with success" : "waits for ever");
    }
    std::fflush(stdout);
  } else {
    MPI_Message messages[2] = {MPI_MESSAGE_NULL, MPI_MESSAGE_NULL};
    for (int i = 0; i < 2; ++i) {
      if (argc > 1) {
        MPI_Mprobe(0, i, comm, &messages[i], MPI_STATUS_IGNORE);
      } else {
        MPI_Probe(0, i, comm, MPI_STATUS_IGNORE);
      }
    }
    MPIX_Comm_revoke(comm);
    for (int i = 0; i < 2 && argc > 1; ++i) {
      const double since = MPI_Wtime();
      for (int flag = 0; MPI_Wtime() - since < 1;)
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
      const int error = MPI_Mrecv(data.data(), kBytes, MPI_BYTE, &messages[i], MPI_STATUS_IGNORE);
      std::printf("MPI_Mrecv returned %s\n", error == MPI_SUCCESS ? "success" : "an error");
    }
    std::fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
