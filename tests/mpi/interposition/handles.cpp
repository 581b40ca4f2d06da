// SPDX-License-Identifier: BSD-3-Clause
// Handles that survivors keep through a repair: groups, pending requests, error handlers, and a communicator whose parent was freed.
// 4 ranks and 1 spare; rank 1 dies. Resume mode "return": the calls of survivors return, and they go on.
#include <array>
#include <csignal>
#include <numeric>
#include <vector>

#include "../check.hpp"
#include "comms.hpp"

namespace {

constexpr int kVictim = 1;
constexpr int kTag = 9;

int role = -1;
int error = -1;
int repairs = 0;
int handled = 0;
int handled_size = 0;

void count_repair(MPI_Comm, int, void*) { ++repairs; }

void handle(MPI_Comm* comm, int* code, ...) {
  (void)code;
  ++handled;
  // The communicator of the handler stands for the one with the error.
  handled_size = size_of(*comm);
}

/// A send to a rank that does not exist is no failure: it goes to the handler of the program, and nothing is repaired.
void check_handler(MPI_Comm comm, int size) {
  const int before = handled;
  const int repairs_before = repairs;
  const int code = MPI_Send(&size, 1, MPI_INT, size + 5, kTag, comm);
  check::expect_equal(class_of(code), MPI_ERR_RANK, "class of the error of a send to nobody");
  check::expect_equal(handled, before + 1, "calls of the program's handler");
  check::expect_equal(handled_size, size, "size of the communicator in the handler");
  check::expect_equal(repairs, repairs_before, "repairs");
}

void check_ranks(MPI_Group group, const std::vector<int>& wanted, const char* what) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> numbers(wanted.size());
  std::vector<int> ranks(wanted.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  MPI_Group_translate_ranks(group, static_cast<int>(numbers.size()), numbers.data(), world, ranks.data());
  check::require(ranks == wanted, what);
  MPI_Group_free(&world);
}

/// Called by all ranks after the repair: the group that a survivor has kept, or the same group as a new process makes it.
void use_group(MPI_Group group) {
  check_ranks(group, {2, 1}, "the successor of the dead rank is not in the group");
  MPI_Comm pair = MPI_COMM_NULL;
  check::success(MPI_Comm_create(MPI_COMM_WORLD, group, &pair), "MPI_Comm_create with a group from before the repair");
  const int rank = rank_in(MPI_COMM_WORLD);
  check::require((pair != MPI_COMM_NULL) == (rank == 1 || rank == 2), "the communicator has other members");
  if (pair == MPI_COMM_NULL) return;
  check::expect_equal(rank_in(pair), rank == 2 ? 0 : 1, "rank in the pair");
  check::success(MPI_Barrier(pair), "MPI_Barrier");
  check::success(MPI_Comm_free(&pair), "MPI_Comm_free");
}

MPI_Group make_group() {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  const std::array<int, 2> members = {2, 1};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, members.data(), &group);
  MPI_Group_free(&world);
  return group;
}

struct Pending {
  std::array<MPI_Request, 3> requests{};
  std::array<int, 3> values{};
};

/// A receive from the dead rank, one from a living rank that never sends, and one from anybody.
void post(Pending& pending, MPI_Comm comm) {
  const int living = rank_in(MPI_COMM_WORLD) == 3 ? 2 : 3;
  MPI_Irecv(&pending.values[0], 1, MPI_INT, kVictim, kTag, comm, &pending.requests[0]);
  MPI_Irecv(&pending.values[1], 1, MPI_INT, living, kTag, comm, &pending.requests[1]);
  MPI_Irecv(&pending.values[2], 1, MPI_INT, MPI_ANY_SOURCE, kTag, comm, &pending.requests[2]);
}

/// They end with an error, in finite time, and nothing is repaired because of them.
void check_pending(Pending& pending) {
  for (MPI_Request& request : pending.requests) {
    const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    check::require(is_failure(code), "a request from before the repair ended without the error of a failure");
    check::require(request == MPI_REQUEST_NULL, "a request from before the repair is still there");
  }
  check::expect_equal(repairs, 1, "repairs after the requests");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  Fenix_Init(&role, MPI_COMM_WORLD, nullptr, &argc, &argv, 1, &error);
  check::success(error, "Fenix_Init");
  const int rank = rank_in(MPI_COMM_WORLD);

  // A grid on a communicator that is freed at once.
  MPI_Comm line = MPI_COMM_NULL;
  MPI_Comm grid = MPI_COMM_NULL;
  const int dims = 4;
  const int periods = 1;
  check::success(MPI_Comm_dup(MPI_COMM_WORLD, &line), "MPI_Comm_dup");
  check::success(MPI_Cart_create(line, 1, &dims, &periods, 0, &grid), "MPI_Cart_create");
  check::success(MPI_Comm_free(&line), "MPI_Comm_free");
  check::require(line == MPI_COMM_NULL, "the handle of a freed communicator is still there");

  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(grid, handler);
  MPI_Errhandler_free(&handler);
  check_handler(MPI_COMM_WORLD, 4);
  check_handler(grid, 4);

  MPI_Group group = make_group();
  if (role == FENIX_ROLE_INITIAL_RANK) {
    Fenix_Callback_register(count_repair, nullptr);
    Pending in_world;
    Pending in_grid;
    post(in_world, MPI_COMM_WORLD);
    post(in_grid, grid);
    if (rank == kVictim) raise(SIGKILL);
    check::require(is_failure(MPI_Barrier(grid)), "a barrier with a dead rank");
    check::expect_equal(repairs, 1, "repairs");
    check_pending(in_world);
    check_pending(in_grid);
  }
  check::expect_equal(role, rank == kVictim ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK, "role");
  check_handler(MPI_COMM_WORLD, 4);
  check_handler(grid, 4);
  use_group(group);
  int before = -1;
  int after = -1;
  check::success(MPI_Cart_shift(grid, 0, 1, &before, &after), "MPI_Cart_shift");
  int got = -1;
  check::success(MPI_Sendrecv(&rank, 1, MPI_INT, after, kTag, &got, 1, MPI_INT, before, kTag, grid, MPI_STATUS_IGNORE),
                 "MPI_Sendrecv on the grid");
  check::expect_equal(got, (rank + 3) % 4, "what came around the grid");
  check::success(MPI_Comm_free(&grid), "MPI_Comm_free");
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
