// SPDX-License-Identifier: BSD-3-Clause
// Programs of the shapes that simulations have, without any call of Fenix. Each rank prints a value for each iteration, and at its end.
//
//   logged_proxies SHAPE ITERATIONS [ELEMENTS]
//
// SHAPE: halo (neighbours on a torus, Irecv and Isend, Waitall), sweep (a pipeline in both directions) or transpose (Alltoall). Others:
// solver (sums over all ranks in each iteration), overlap (Iallreduce while messages go on), farm (messages from any rank, with any tag).
#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Values = std::vector<double>;

int rank = 0;
int size = 0;

void report(int iteration, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::printf("%d %d %016lx\n", rank, iteration, static_cast<unsigned long>(bits));
  std::fflush(stdout);
}

double sum_of(const Values& values) {
  double sum = 0;
  for (const double each : values) sum += each;
  return sum;
}

double halo(Values& field, int iterations) {
  std::array<int, 2> dimensions{};
  const std::array<int, 2> periods{1, 1};
  MPI_Dims_create(size, 2, dimensions.data());
  MPI_Comm torus = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions.data(), periods.data(), 0, &torus);
  std::array<int, 4> neighbours{};
  MPI_Cart_shift(torus, 0, 1, &neighbours[0], &neighbours[1]);
  MPI_Cart_shift(torus, 1, 1, &neighbours[2], &neighbours[3]);
  const int count = static_cast<int>(field.size());
  std::array<Values, 4> got;
  for (Values& each : got) each.resize(field.size());
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::array<MPI_Request, 8> requests{};
    for (std::size_t side = 0; side < 4; ++side) {
      // What goes in one direction arrives from the other one.
      MPI_Irecv(got[side].data(), count, MPI_DOUBLE, neighbours[side], static_cast<int>(side ^ 1U), torus,
                &requests[side]);
      MPI_Isend(field.data(), count, MPI_DOUBLE, neighbours[side], static_cast<int>(side), torus, &requests[4 + side]);
    }
    MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < field.size(); ++i)
      field[i] = 0.5 * field[i] + 0.1 * got[0][i] + 0.13 * got[1][i] + 0.11 * got[2][i] + 0.16 * got[3][i];
    report(iteration, sum_of(field));
  }
  MPI_Comm_free(&torus);
  return sum_of(field);
}

double sweep(Values& field, int iterations) {
  Values front(field.size());
  const int count = static_cast<int>(field.size());
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (const int step : {1, -1}) {
      const int from = rank - step;
      const int to = rank + step;
      if (from >= 0 && from < size) {
        MPI_Recv(front.data(), count, MPI_DOUBLE, from, step + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        front.assign(field.size(), 1.0 / (iteration + 1));
      }
      for (std::size_t i = 0; i < field.size(); ++i) field[i] = 0.9 * field[i] + 0.1 * front[i];
      if (to >= 0 && to < size) MPI_Send(field.data(), count, MPI_DOUBLE, to, step + 1, MPI_COMM_WORLD);
    }
    report(iteration, sum_of(field));
  }
  return sum_of(field);
}

double transpose(Values& field, int iterations) {
  const int block = static_cast<int>(field.size()) / size;
  Values other(field.size());
  for (int iteration = 0; iteration < iterations; ++iteration) {
    MPI_Alltoall(field.data(), block, MPI_DOUBLE, other.data(), block, MPI_DOUBLE, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < field.size(); ++i) field[i] = 0.7 * other[i] + 0.3 * std::sin(field[i]);
    report(iteration, sum_of(field));
  }
  return sum_of(field);
}

double solver(Values& field, int iterations) {
  MPI_Comm rows = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &rows);
  double residual = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    double own = sum_of(field);
    double in_row = 0;
    MPI_Allreduce(&own, &in_row, 1, MPI_DOUBLE, MPI_SUM, rows);
    MPI_Allreduce(&in_row, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double largest = field[static_cast<std::size_t>(iteration) % field.size()];
    MPI_Bcast(&largest, 1, MPI_DOUBLE, iteration % size, MPI_COMM_WORLD);
    for (double& each : field) each = each * 0.99 + residual * 1e-5 + largest * 1e-3;
    report(iteration, residual);
  }
  return residual;
}

double overlap(Values& field, int iterations) {
  double total = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const double own = sum_of(field);
    double sum = 0;
    double least = 0;
    std::array<MPI_Request, 2> requests{};
    MPI_Iallreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&own, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD, &requests[1]);
    // Some ranks wait for a message before they wait for the sums.
    double token = own;
    if (rank % 2 == 0 && rank + 1 < size) MPI_Send(&token, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
    if (rank % 2 == 1) MPI_Recv(&token, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    for (double& each : field) each = each * 0.9 + (sum + least + token) * 1e-3;
    total += sum;
    report(iteration, total);
  }
  return total;
}

// The barrier is under way while rank 0 receives from any source with any tag: its messages must not be taken for those.
double farm(Values& field, int iterations) {
  double total = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    // Whole numbers: the order in which they come does not matter.
    double sum = 0;
    if (rank == 0) {
      for (int i = 1; i < size; ++i) {
        double value = 0;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        sum += value * (status.MPI_SOURCE + 1) + status.MPI_TAG;
      }
    } else {
      const double value = std::floor(std::fmod(total, 1000) + 7 * rank);
      MPI_Send(&value, 1, MPI_DOUBLE, 0, iteration % 5, MPI_COMM_WORLD);
    }
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    total += sum;
    field[0] = total;
    report(iteration, total);
  }
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) return 2;
  const std::string shape = argv[1];
  const int iterations = std::atoi(argv[2]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Values field(argc > 3 ? static_cast<std::size_t>(std::atoi(argv[3])) : 64);
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = std::cos(static_cast<double>(i) + rank);
  double value = 0;
  if (shape == "halo") value = halo(field, iterations);
  if (shape == "sweep") value = sweep(field, iterations);
  if (shape == "transpose") value = transpose(field, iterations);
  if (shape == "solver") value = solver(field, iterations);
  if (shape == "overlap") value = overlap(field, iterations);
  if (shape == "farm") value = farm(field, iterations);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::printf("Final: %d %016lx\n", rank, static_cast<unsigned long>(bits));
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
