// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI whose cost libfenix_mpi changes. bench/interposition/measure runs it with and without that library.
// usage: mpi_calls latency|window|calls|places|stencil NUMBER [none|fenix|checkpoints|log] [BYTES]
//
// fenix: with newcomm NULL, so that MPI_COMM_WORLD stands for another communicator. checkpoints: messages are counted as well. log: messages
// are logged. window: 16 messages that are begun together. places: calls of Fenix_Checkpoint_potential. BYTES: of a message, 8 by default, or
// of an edge of the field
#include <fenix.h>

#include <algorithm>
#include <array>
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

/// Prints the median of the time of a message among 16 that are begun together, in microseconds.
void measure_window(int number, int bytes) {
  constexpr int kWindow = 16;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<char> messages(static_cast<std::size_t>(bytes) * kWindow);
  std::vector<double> times;
  for (int batch = 0; batch < kBatches; ++batch) {
    MPI_Barrier(MPI_COMM_WORLD);
    begin_region();
    const double start = MPI_Wtime();
    for (int i = 0; i < number; ++i) {
      std::array<MPI_Request, kWindow> requests{};
      for (std::size_t each = 0; each < kWindow; ++each) {
        char* const message = messages.data() + each * static_cast<std::size_t>(bytes);
        if (rank == 0) MPI_Isend(message, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[each]);
        if (rank == 1) MPI_Irecv(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[each]);
      }
      MPI_Waitall(kWindow, requests.data(), MPI_STATUSES_IGNORE);
      if (rank == 0) MPI_Recv(messages.data(), 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(messages.data(), 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    times.push_back((MPI_Wtime() - start) / (kWindow * number) * 1e6);
  }
  std::sort(times.begin(), times.end());
  if (rank == 0) std::printf("window %.4f\n", times[times.size() / 2]);
}

/// Prints the median of the time of a step of a stencil code, in microseconds: a square field on each rank, whose edges go to the neighbour. bytes:
/// of an edge.
void measure_stencil(int number, int bytes) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto edge = static_cast<std::size_t>(bytes) / sizeof(double);
  const std::size_t width = edge + 2;
  std::vector<double> field(width * width, 1.0);
  std::vector<double> next = field;
  const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  std::vector<double> times;
  for (int step = 0; step < number; ++step) {
    begin_region();
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    std::array<MPI_Request, 4> requests{};
    MPI_Irecv(&field[1], bytes, MPI_BYTE, up, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&field[(edge + 1) * width + 1], bytes, MPI_BYTE, down, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&field[width + 1], bytes, MPI_BYTE, up, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&field[edge * width + 1], bytes, MPI_BYTE, down, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t y = 1; y <= edge; ++y) {
      const std::size_t row = y * width;
      for (std::size_t x = 1; x <= edge; ++x) {
        next[row + x] =
            0.25 * (field[row + x - 1] + field[row + x + 1] + field[row + x - width] + field[row + x + width]);
      }
    }
    field.swap(next);
    times.push_back((MPI_Wtime() - start) * 1e6);
  }
  std::sort(times.begin(), times.end());
  if (rank == 0) std::printf("stencil %.2f\n", times[times.size() / 2]);
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
  if (what == "window") measure_window(number, bytes);
  if (what == "stencil") measure_stencil(number, bytes);
  if (what == "calls") call_often(number);
  if (what == "places") pass_places(number);
  if (fenix) Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
