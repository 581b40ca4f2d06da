// SPDX-License-Identifier: BSD-3-Clause
// killed_target [stop]: rank 1 is killed, or stopped for a while, in the midst of a write of the fabric path to it. The
// writer gets a failure, or a time-out, in time; and reaches the third rank afterwards. Run with 3 ranks.
#include <mpi.h>
#include <unistd.h>
#include <mpi-ext.h>

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

using namespace fenix_impl;

namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;
constexpr std::byte kThere{7};
constexpr int kFailure = 1;

/// Has no deadline: one of them is stopped meanwhile.
void meet() {
  int done = 0;
  MPI_Request all_are_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_are_here);
  while (done == 0) MPI_Test(&all_are_here, &done, MPI_STATUS_IGNORE);
}

int end_of_write(RemoteRegions& remote, int target, const Region& region, std::size_t bytes) {
  try {
    remote.put(target, Region::kHeaderBytes, region.bytes().subspan(Region::kHeaderBytes, bytes));
    remote.flush(target);
    return FENIX_SUCCESS;
  } catch (const PeerFailure&) {
    return kFailure;
  } catch (const Error& error) {
    return error.code();
  }
}

void write(RemoteRegions& remote, const Region& region, pid_t target, bool stops) {
  constexpr double kInTime = 10;
  check::expect_equal(end_of_write(remote, 1, region, kBytes), FENIX_SUCCESS, "a write before the failure");
  remote.put(1, Region::kHeaderBytes, region.bytes().subspan(Region::kHeaderBytes, kBytes));
  usleep(2000);
  kill(target, stops ? SIGSTOP : SIGKILL);
  if (stops) usleep(100000);  // until all its threads have stopped
  // The few bytes of the last one find room in some buffer on the way.
  for (const std::size_t bytes : {kBytes, std::size_t{8}}) {
    const double begin = MPI_Wtime();
    const int ended = end_of_write(remote, 1, region, bytes);
    std::printf("the write of %zu bytes ended after %.3f s\n", bytes, MPI_Wtime() - begin);
    check::expect_equal(ended, stops ? static_cast<int>(FENIX_ERROR_TIMEOUT) : kFailure, "the end of a write");
    check::require(MPI_Wtime() - begin < kInTime, "a write has not ended in time");
  }
  check::expect_equal(end_of_write(remote, 2, region, kBytes), stops ? static_cast<int>(FENIX_SUCCESS) : kFailure,
                      "a write to the third rank");
  if (stops) kill(target, SIGCONT);
}

// A write is complete when it is in the memory of the target, not in a socket: it cannot be while the target is
// stopped.
void write_a_little(RemoteRegions& remote, const Region& region, pid_t target) {
  check::expect_equal(end_of_write(remote, 1, region, 8), FENIX_SUCCESS, "the first write, which connects");
  kill(target, SIGSTOP);
  usleep(100000);
  check::expect_equal(end_of_write(remote, 1, region, 8), FENIX_ERROR_TIMEOUT, "the end of a small write");
  kill(target, SIGCONT);
  remote.flush(1);
}

void write_to_the_next(MpiTeam& team, Path& path, const Region& region) {
  const auto remote = path.expose(team, region);
  const int next = (team.rank() + 1) % team.size();
  check::expect_equal(end_of_write(*remote, next, region, kBytes), FENIX_SUCCESS, "a write between survivors");
  team.barrier();
  const auto data = region.bytes().subspan(Region::kHeaderBytes, kBytes);
  check::require(std::ranges::count(data, kThere) == static_cast<std::ptrdiff_t>(kBytes), "not all bytes are there");
  team.barrier();
}

void wait_for_the_end(MpiTeam& team, bool stops) {
  try {
    if (stops) return;
    for (;;) team.check();
  } catch (const PeerFailure&) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool stops = argc > 1 && std::string_view(argv[1]) == "stop";
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  {
    SilenceWatch watch;
    Region region(kBytes);
    region.reserve(0, region.bytes().size());
    std::ranges::fill(region.bytes().subspan(Region::kHeaderBytes), kThere);
    const auto network = open_fabric();
    {
      const auto path = make_fabric_path(network);
      MpiTeam team(MPI_COMM_WORLD, MPI_COMM_WORLD, watch);
      const auto remote = path->expose(team, region);
      const auto processes = team.gather(getpid());
      meet();
      if (team.rank() == 0 && stops) write_a_little(*remote, region, processes[1]);
      if (team.rank() == 0) write(*remote, region, processes[1], stops);
      if (team.rank() == 2) wait_for_the_end(team, stops);
      if (team.rank() == 1 && !stops) pause();
      if (stops) meet();
    }
    MPI_Comm survivors = MPI_COMM_NULL;
    MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors);
    MpiTeam team(survivors, survivors, watch);
    write_to_the_next(team, *make_fabric_path(network), region);
    check::ok(team.rank());
  }
  MPI_Finalize();
}
