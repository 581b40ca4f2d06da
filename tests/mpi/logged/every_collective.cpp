// SPDX-License-Identifier: BSD-3-Clause
// Every collective function in every form, again and again, in a program that knows nothing of Fenix. Each rank prints a hash of what it
// has got: an undisturbed run and one in which ranks die have to print the same.
//
//   logged_every_collective ITERATIONS [each]
//
// each: a line for each function as well, to find one that gives something else than MPI.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../persist/collective_cases.hpp"

namespace {

constexpr std::array kForms{Form::blocking, Form::immediate, Form::started};

constexpr std::uint64_t kFirstHash = 14695981039346656037U;

std::uint64_t mixed(std::uint64_t hash, const std::vector<int>& values) {
  for (const int value : values) hash = (hash ^ static_cast<std::uint32_t>(value)) * 1099511628211U;
  return hash;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int iterations = argc > 1 ? std::atoi(argv[1]) : 10;
  const bool says_each = argc > 2;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::array<MPI_Comm, kKinds> comms{};
  for (int kind = 0; kind < kKinds; ++kind)
    comms[static_cast<std::size_t>(kind)] = make_comm(MPI_COMM_WORLD, static_cast<Kind>(kind));
  const std::vector<Case> cases = all_cases(size);
  std::uint64_t hash = kFirstHash;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (std::size_t number = 0; number < cases.size(); ++number) {
      const Case& each = cases[number];
      Buffers buffers;
      fill(each, rank, size, /*with_contribution=*/true, buffers);
      // The data depends on everything that has been received so far.
      if (!each.in_place && !says_each) buffers.sent.back() = static_cast<int>(hash);
      Form form = kForms[(number + static_cast<std::size_t>(iteration)) % kForms.size()];
      // Where both neighbours in a dimension are the same rank, Open MPI's other forms exchange the two blocks.
      if (each.kind == Kind::torus) form = Form::blocking;
      const int error = each.call(form, comms[static_cast<std::size_t>(each.kind)], buffers);
      if (error != MPI_SUCCESS) {
        std::printf("Wrong: rank %d, %s: error %d\n", rank, each.name.c_str(), error);
        return 1;
      }
      if (each.defined) buffers.received.resize(static_cast<std::size_t>(each.defined(rank, size)));
      hash = mixed(hash, buffers.received);
      if (says_each) {
        std::printf("%d %zu.%d %s %016lx\n", rank, number, static_cast<int>(form), each.name.c_str(),
                    static_cast<unsigned long>(mixed(kFirstHash, buffers.received)));
      }
    }
    std::printf("%d %d %016lx\n", rank, iteration, static_cast<unsigned long>(hash));
    std::fflush(stdout);
  }
  std::printf("Final: %d %016lx\n", rank, static_cast<unsigned long>(hash));
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
