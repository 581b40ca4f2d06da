// SPDX-License-Identifier: BSD-3-Clause
// Messages between the ranks of a team over MPI: lists of different lengths, empty ones and long ones among them. With
// "kill", rank 1 dies in the middle of it, and all others get to know. With "withdraw", it has no memory to go on with.
#include <mpi.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <string_view>
#include <vector>

#include "../check.hpp"
#include "rma/mpi_team.hpp"

using namespace fenix_impl;

namespace {

constexpr int kRounds = 24;
constexpr int kEndsIn = 12;

enum class End { none, kill, withdraw };

using Numbers = std::vector<int>;

// The same on all ranks. Now and then longer than what MPI sends without being asked for it.
Numbers list_of(int rank, int round) {
  std::mt19937 random(static_cast<unsigned>(1000 * round + rank));
  constexpr unsigned kLong = 20'000;
  const unsigned most = round % 7 == 0 ? kLong : 4;
  Numbers list(random() % (most + 1));
  for (int& each : list) each = static_cast<int>(random() % 100'000);
  return list;
}

void check_gathered(MpiTeam& team, int round) {
  const Numbers mine = list_of(team.rank(), round);
  Numbers all;
  for (int rank = 0; rank < team.size(); ++rank) {
    const Numbers theirs = list_of(rank, round);
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  auto got = team.gather_some(std::span<const int>(mine));
  got.erase(std::unique(got.begin(), got.end()), got.end());
  check::require(got == all, "what is gathered in round " + std::to_string(round));
}

// Peers at a distance that changes, on both sides.
void check_asked(MpiTeam& team, int round) {
  const int ranks = team.size();
  const int distance = round % ranks;
  Numbers peers{(team.rank() + distance) % ranks, (team.rank() + ranks - distance) % ranks};
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  std::erase(peers, team.rank());
  const Numbers mine = list_of(team.rank(), round);
  const auto said = team.ask(peers, std::span<const int>(mine));
  check::expect_equal(static_cast<long>(said.size()), static_cast<long>(peers.size()), "the number of answers");
  for (const auto& [peer, theirs] : said) {
    check::require(theirs == list_of(peer, round), "what rank " + std::to_string(peer) + " says");
  }
}

void talk(MpiTeam& team, End end) {
  for (int round = 0; round < kRounds; ++round) {
    if (team.rank() == 1 && round == kEndsIn) {
      if (end == End::kill) raise(SIGKILL);
      if (end == End::withdraw) team.withdraw();
    }
    check_gathered(team, round);
    check_asked(team, round);
    check::require(
        team.reduce(team.rank(), [](int& into, int from) { into = std::max(into, from); }) == team.size() - 1,
        "the highest rank");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  const End end = wanted == "kill" ? End::kill : wanted == "withdraw" ? End::withdraw : End::none;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  {
    SilenceWatch watch;
    MpiTeam team(MPI_COMM_WORLD, MPI_COMM_WORLD, watch);
    End noticed = End::none;
    try {
      talk(team, end);
    } catch (const PeerFailure&) {
      noticed = End::kill;
    } catch (const Error& error) {
      check::expect_equal(error.code(), FENIX_ERROR_NO_MEMORY, "code on rank " + std::to_string(team.rank()));
      noticed = End::withdraw;
    }
    check::require(noticed == end, "the end of the talk that a rank has noticed");
    check::require(team.sound() == (noticed == End::none), "the team's own state");
    check::ok(team.rank());
  }
  MPI_Finalize();
}
