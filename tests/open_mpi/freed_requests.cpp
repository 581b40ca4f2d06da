// SPDX-License-Identifier: BSD-3-Clause
// MPI_Waitall gives up receives that are still under way: a revoke marks them with its error, and Open MPI frees all requests with an error
// (ompi_errhandler_request_invoke), complete or not. The message comes into the buffer later, or ends the job with "Recv error after
// request freed". Over TCP: mpirun --with-ft ulfm --mca btl tcp,self -n 3 freed_requests
#include <mpi.h>
#include <unistd.h>
#include <mpi-ext.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

void progress(int looks) {
  for (int i = 0; i < looks; ++i) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    usleep(500);
  }
}

long received(const std::vector<char>& data) { return static_cast<long>(std::count(data.begin(), data.end(), 0)); }

}  // namespace

int main(int argc, char** argv) {
  constexpr int kBytes = 256 << 20;
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  std::vector<char> data(rank < 2 ? kBytes : 1, static_cast<char>(rank));
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Barrier(comm);
  if (rank == 0) {
    MPI_Isend(data.data(), kBytes, MPI_BYTE, 1, 0, comm, requests);
    progress(5);
    usleep(300000);
    progress(2000);
  }
  if (rank == 1) {
    char nothing = 0;
    MPI_Irecv(data.data(), kBytes, MPI_BYTE, 0, 0, comm, &requests[0]);
    MPI_Irecv(&nothing, 1, MPI_BYTE, 2, 0, comm, &requests[1]);
    const int error = MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    const char* const what = requests[0] == MPI_REQUEST_NULL ? "given up" : "there";
    std::printf("MPI_Waitall returned %d. The large receive is %s, with %ld of %d bytes\n", error, what, received(data),
                kBytes);
    std::fflush(stdout);
    progress(2000);
    std::printf("later it has %ld bytes\n", received(data));
  }
  if (rank == 2) {
    usleep(100000);
    MPIX_Comm_revoke(comm);
    progress(3000);
  }
  MPI_Finalize();
  return 0;
}
