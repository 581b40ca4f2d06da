// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI whose cost libfenix_mpi changes. bench/interposition/measure runs it with and without that library.
// usage: mpi_calls latency|calls|places NUMBER [none|fenix|checkpoints|log] [BYTES]
//
// fenix: with newcomm NULL, so that MPI_COMM_WORLD stands for another communicator. checkpoints: messages are counted as well. log: messages
// are logged. places: calls of Fenix_Checkpoint_potential. BYTES: of a message, 8 by default
#include <fenix.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kBatches = 200;

constexpr int kLog = 0;
bool has_log = false;
int region = 0;

/// Begins a region of the log: what has been logged before may go.
void begin_region() {
  if (has_log && Fenix_Mlog_activate_region(kLog, region++) != FENIX_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Prints the median of the time that a message takes, in microseconds.
void measure_latency(int number, int bytes) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<char> message(static_cast<std::size_t>(bytes));
  std::vector<double> times;
  for (int batch = 0; batch < kBatches; ++batch) {
    MPI_Barrier(MPI_COMM_WORLD);
    begin_region();
    const double start = MPI_Wtime();
    for (int i = 0; i < number; ++i) {
      if (rank == 0) MPI_Send(message.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(message.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(message.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    times.push_back((MPI_Wtime() - start) / (2.0 * number) * 1e6);
  }
  std::sort(times.begin(), times.end());
  if (rank == 0) std::printf("latency %.4f\n", times[times.size() / 2]);
}

/// A call that does next to nothing in MPI itself.
void call_often(int number) {
  int size = 0;
  for (int i = 0; i < number; ++i) MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/// The places of a program where it could take a checkpoint, and is not asked for one.
void pass_places(int number) {
  const double start = MPI_Wtime();
  for (int i = 0; i < number; ++i) Fenix_Checkpoint_potential(nullptr);
  std::printf("place %.1f ns\n", (MPI_Wtime() - start) / number * 1e9);
}

void begin_log() {
  static MPI_Comm comm = MPI_COMM_WORLD;
  has_log = true;
  if (Fenix_Mlog_create(kLog, &comm, 1) != FENIX_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  begin_region();
}

void begin_checkpoints() {
  static double data = 0;
  constexpr int kGroup = 1;
  constexpr int kLogMember = 2;
  constexpr int kLogBytes = 1 << 16;
  int flag = 0;
  Fenix_Data_group_create(kGroup, MPI_COMM_WORLD, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, &flag);
  Fenix_Data_member_define(kGroup, 1, &data, 1, MPI_DOUBLE);
  if (Fenix_Checkpoint_begin(kGroup, kLogMember, kLogBytes, nullptr) != FENIX_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string what = argv[1];
  const int number = std::atoi(argv[2]);
  const int bytes = argc > 4 ? std::atoi(argv[4]) : 8;
  MPI_Init(&argc, &argv);
  static int role = 0;
  static int error = FENIX_SUCCESS;
  static bool fenix = false;
  fenix = argc > 3 && std::string(argv[3]) != "none";
  if (fenix) Fenix_Init(&role, MPI_COMM_WORLD, nullptr, &argc, &argv, 0, &error);
  if (error != FENIX_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  if (fenix && std::string(argv[3]) == "checkpoints") begin_checkpoints();
  if (fenix && std::string(argv[3]) == "log") begin_log();
  if (what == "latency") measure_latency(number, bytes);
  if (what == "calls") call_often(number);
  if (what == "places") pass_places(number);
  if (fenix) Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
