// SPDX-License-Identifier: BSD-3-Clause
// A get from a stopped rank ends with FENIX_ERROR_TIMEOUT, and when the rank goes on, its answer touches no memory of
// the caller.
// usage: late_get window|fabric, with 2 ranks and a FENIX_TIMEOUT of a second or two.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "../check.hpp"
#include "base/error.hpp"
#include "rma/fabric/fabric.hpp"
#include "rma/mpi_team.hpp"
#include "rma/window_path.hpp"

using namespace fenix_impl;

namespace {

constexpr std::size_t kBytes = std::size_t{3} << 20;  // several pieces
constexpr std::byte kThere{7};
constexpr std::byte kUntouched{1};

int code_of_get(RemoteRegions& remote, std::span<std::byte> data) {
  try {
    remote.get(1, Region::kHeaderBytes, data);
    return FENIX_SUCCESS;
  } catch (const Error& error) {
    return error.code();
  }
}

std::shared_ptr<Path> path_of(std::string_view name, MpiTeam& team) {
  if (name == "fabric") return make_fabric_path(open_fabric());
  return std::make_shared<WindowPath>(team);
}

void fetch(MpiTeam& team, Path& path, RemoteRegions& remote, pid_t owner) {
  std::vector<std::byte> data(kBytes);
  check::success(code_of_get(remote, data), "a get");
  check::require(std::ranges::count(data, kThere) == static_cast<std::ptrdiff_t>(kBytes), "not all bytes came");

  std::ranges::fill(data, kUntouched);
  kill(owner, SIGSTOP);
  usleep(100000);  // until all its threads have stopped
  check::expect_equal(code_of_get(remote, data), FENIX_ERROR_TIMEOUT, "a get from a stopped rank");
  kill(owner, SIGCONT);
  // The answer has come when this has: both ranks work on what MPI has for them meanwhile.
  for (int i = 0; i < 100; ++i) {
    team.check();
    (void)path.make_progress();
    usleep(1000);
  }
  check::require(std::ranges::count(data, kUntouched) == static_cast<std::ptrdiff_t>(kBytes),
                 "a late answer was written");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "window";
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  {
    SilenceWatch watch;
    MpiTeam team(MPI_COMM_WORLD, MPI_COMM_WORLD, watch);
    Region region(kBytes);
    region.reserve(0, Region::kHeaderBytes + kBytes);
    std::ranges::fill(region.bytes().subspan(Region::kHeaderBytes), kThere);
    const auto path = path_of(name, team);
    const auto remote = path->expose(team, region);
    const auto processes = team.gather(getpid());
    if (team.rank() == 0) fetch(team, *path, *remote, processes[1]);
    int done = 0;
    MPI_Request all_done = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all_done);
    while (done == 0) MPI_Test(&all_done, &done, MPI_STATUS_IGNORE);
    check::ok(team.rank());
  }
  MPI_Finalize();
}
