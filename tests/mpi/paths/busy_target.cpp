// SPDX-License-Identifier: BSD-3-Clause
// Writes of the fabric path arrive while their target computes and calls neither MPI nor the library. Run with 2 ranks.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "../check.hpp"
#include "rma/fabric/fabric.hpp"
#include "rma/mpi_team.hpp"

using namespace fenix_impl;

namespace {

constexpr std::size_t kBytes = std::size_t{16} << 20;
constexpr double kComputes = 4;
constexpr std::byte kThere{7};

double compute(double seconds) {
  const double end = MPI_Wtime() + seconds;  // a clock, which makes no progress
  double sum = 0;
  while (MPI_Wtime() < end) {
    for (int i = 1; i < 1000; ++i) sum += std::sqrt(i);
  }
  return sum;
}

void write(RemoteRegions& remote) {
  const std::vector<std::byte> data(kBytes, kThere);
  const double begin = MPI_Wtime();
  remote.put(1, Region::kHeaderBytes, data);
  remote.flush(1);
  remote.put_word(1, Region::kHeaderBytes + kBytes, 1);
  const double took = MPI_Wtime() - begin;
  std::printf("%.1f MiB in %.3f s\n", static_cast<double>(kBytes >> 20), took);
  check::require(took < kComputes / 2, "a write has waited for its target");
}

void look(const Region& region) {
  std::uint64_t word = 0;
  std::memcpy(&word, region.bytes().data() + Region::kHeaderBytes + kBytes, sizeof word);
  check::require(word == 1, "the word is not there");
  const auto data = region.bytes().subspan(Region::kHeaderBytes, kBytes);
  check::require(std::ranges::count(data, kThere) == static_cast<std::ptrdiff_t>(kBytes), "not all bytes are there");
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  {
    SilenceWatch watch;
    MpiTeam team(MPI_COMM_WORLD, MPI_COMM_WORLD, watch);
    Region region(kBytes + sizeof(std::uint64_t));
    region.reserve(0, region.bytes().size());
    const auto remote = make_fabric_path(open_fabric())->expose(team, region);
    team.barrier();
    if (team.rank() == 0) {
      write(*remote);
    } else {
      check::require(compute(kComputes) > 0, "nothing was computed");
      look(region);
    }
    team.barrier();
    check::ok(team.rank());
  }
  MPI_Finalize();
}
