// SPDX-License-Identifier: BSD-3-Clause
// A process contributes to an agreement and dies. Its child hears of that before the root, and contributes again. The decision must reach it.
// mpirun --with-ft ulfm -n 6 lost_decision
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
#include <mpi-ext.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// Open MPI's tree of 6 processes: 1 and 2 are children of 0, 3 and 4 of 1, 5 is the child of 2.
constexpr int kRoot = 0;
constexpr int kDying = 2;
constexpr int kLast = 3;
constexpr unsigned kMicroseconds = 200'000;

// The root stands still while its child dies, and while the last contributions come.
void kill_beside_standing_root(const std::vector<int>& numbers) {
  const std::string root = std::to_string(numbers[kRoot]);
  kill(numbers[kRoot], SIGSTOP);
  kill(numbers[kDying], SIGKILL);
  usleep(kMicroseconds);
  (void)!std::system(("(sleep 0.2; kill -CONT " + root + ") &").c_str());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int own = getpid();
  std::vector<int> numbers(static_cast<std::size_t>(size));
  MPI_Allgather(&own, 1, MPI_INT, numbers.data(), 1, MPI_INT, comm);
  int flag = 1;
  MPIX_Comm_agree(comm, &flag);
  if (rank == kLast) {
    usleep(kMicroseconds);
    kill_beside_standing_root(numbers);
  }
  flag = 1;
  MPIX_Comm_agree(comm, &flag);
  std::printf("rank %d: the agreement has ended\n", rank);
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
