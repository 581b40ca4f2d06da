// SPDX-License-Identifier: BSD-3-Clause
// The price of telling the state of a checkpoint with collective operations (Bronevetsky et al., section 6): by two operations more, by one, or on the
// data itself. With checkpoints, nothing is told: the operations are made of messages that are counted.
//
//   control_collectives NUMBER [checkpoints] [BYTES]
#include <fenix.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kBatches = 60;

int rank = 0;
int size = 0;
int count = 1;
std::vector<double> sent;
std::vector<double> received;
/// The color and whether the rank logs, and those of all.
std::array<int, 2> own_bits{1, 0};
std::array<int, 2> all_bits{};
std::vector<int> gathered;

/// Does an operation, with so many elements and perhaps one more.
using Operation = void (*)(int elements);
/// Tells so many of the two bits in one operation.
using Telling = void (*)(int bits);

void all_to_all(int elements) {
  MPI_Allreduce(sent.data(), received.data(), elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
void tell_all(int bits) { MPI_Allreduce(own_bits.data(), all_bits.data(), bits, MPI_INT, MPI_BOR, MPI_COMM_WORLD); }
void to_root(int elements) {
  MPI_Reduce(sent.data(), received.data(), elements, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
void tell_root(int bits) {
  MPI_Gather(own_bits.data(), bits, MPI_INT, gathered.data(), bits, MPI_INT, 0, MPI_COMM_WORLD);
}
void from_root(int elements) { MPI_Bcast(sent.data(), elements, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
void tell_from_root(int bits) { MPI_Bcast(own_bits.data(), bits, MPI_INT, 0, MPI_COMM_WORLD); }

/// Returns the median of the time of one call, in microseconds.
template <class Call>
double time_of(int number, const Call& call) {
  std::vector<double> times;
  for (int batch = 0; batch < kBatches; ++batch) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < number; ++i) call();
    times.push_back((MPI_Wtime() - start) / number * 1e6);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void measure(const char* name, int number, bool is_alone, Operation operation, Telling tell) {
  const double alone = time_of(number, [&] { operation(count); });
  if (is_alone) {
    if (rank == 0) std::printf("%s %.3f\n", name, alone);
    return;
  }
  const double two = time_of(number, [&] {
    tell(1);
    tell(1);
    operation(count);
  });
  const double one = time_of(number, [&] {
    tell(2);
    operation(count);
  });
  const double with_data = time_of(number, [&] { operation(count + 1); });
  if (rank == 0) std::printf("%s %.3f two %.3f one %.3f with_data %.3f\n", name, alone, two, one, with_data);
}

void begin_checkpoints() {
  static double data = 0;
  constexpr int kGroup = 1;
  constexpr int kLogMember = 2;
  constexpr int kLogBytes = 1 << 16;
  Fenix_Data_group_create(kGroup, MPI_COMM_WORLD, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr);
  Fenix_Data_member_define(kGroup, 1, &data, 1, MPI_DOUBLE);
  if (Fenix_Checkpoint_begin(kGroup, kLogMember, kLogBytes, nullptr) != FENIX_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int number = std::atoi(argv[1]);
  static bool counts = false;
  counts = argc > 2 && std::string(argv[2]) == "checkpoints";
  count = (argc > 3 ? std::atoi(argv[3]) : 8) / static_cast<int>(sizeof(double));
  MPI_Init(&argc, &argv);
  static int role = 0;
  static int error = FENIX_SUCCESS;
  if (counts) Fenix_Init(&role, MPI_COMM_WORLD, nullptr, &argc, &argv, 0, &error);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sent.assign(static_cast<std::size_t>(count) + 1, 1.0);
  received = sent;
  gathered.resize(2 * static_cast<std::size_t>(size));
  if (counts) begin_checkpoints();
  measure("allreduce", number, counts, all_to_all, tell_all);
  measure("reduce", number, counts, to_root, tell_root);
  measure("bcast", number, counts, from_root, tell_from_root);
  if (counts) Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
