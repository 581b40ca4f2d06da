// SPDX-License-Identifier: BSD-3-Clause
// newcomm is NULL: MPI_COMM_WORLD is the resilient communicator from Fenix_Init on. A rank dies, and the sum of what all ranks have
// done is that of an undisturbed run.
// usage: newcomm_null jump|return|throw spares|spawn [victim step]…
//   spawn: no spares, new processes are spawned
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../check.hpp"

namespace {

constexpr int kSteps = 8;
constexpr int kGroup = 3;
constexpr int kState = 0;

struct State {
  int step = 0;
  long sum = 0;
};

int role = -1;
int error = -1;
int spares = 0;
int process = -1;  // number in the job
bool must_shrink = false;
bool spawns = false;
std::vector<std::pair<int, int>> deaths;
State state;

int rank_in_world() {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int size_of_world() {
  int size = -1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void die_if_due() {
  for (const auto& [victim, step] : deaths) {
    if (process == victim && state.step == step) raise(SIGKILL);
  }
}

/// Every rank sends its number around the ring, and all add up what has come. Returns the error of MPI.
int work() {
  const int rank = rank_in_world();
  const int size = size_of_world();
  int received = -1;
  std::array<MPI_Request, 2> requests{};
  int code = MPI_Irecv(&received, 1, MPI_INT, (rank + size - 1) % size, state.step, MPI_COMM_WORLD, &requests[0]);
  if (code == MPI_SUCCESS)
    code = MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, state.step, MPI_COMM_WORLD, &requests[1]);
  die_if_due();
  if (code == MPI_SUCCESS) code = MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  if (code != MPI_SUCCESS) return code;
  check::expect_equal(received, (rank + size - 1) % size, "what came around the ring");
  int sum = 0;
  code = MPI_Allreduce(&received, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (code != MPI_SUCCESS) return code;
  check::expect_equal(sum, size * (size - 1) / 2, "sum of the ranks");
  state.sum += sum + state.step;
  ++state.step;
  return MPI_SUCCESS;
}

/// Returns false if a rank has died meanwhile.
bool protect(int code, const char* call) {
  if (code == FENIX_ERROR_CANCELLED) return false;
  check::success(code, call);
  return true;
}

bool store() {
  return protect(Fenix_Data_member_store(kGroup, kState, FENIX_DATA_SUBSET_FULL), "store") &&
         protect(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
}

/// Takes up the group, and the state of the last step that is on all ranks.
bool begin() {
  int flag = 0;
  if (!protect(Fenix_Data_group_create(kGroup, MPI_COMM_WORLD, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, &flag),
               "group_create")) {
    return false;
  }
  if (role == FENIX_ROLE_INITIAL_RANK) {
    return protect(Fenix_Data_member_create(kGroup, kState, &state, sizeof state, MPI_BYTE), "member_create") &&
           store();
  }
  if (must_shrink) {
    // Nobody has the data of the lost rank: the others begin with the first step that one of them has not done.
    int done = 0;
    const int code = MPI_Allreduce(&state.step, &done, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    state.step = done;
    return code == MPI_SUCCESS;
  }
  if (!protect(Fenix_Data_member_restore(kGroup, kState, &state, sizeof state, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
               "restore")) {
    return false;
  }
  return protect(Fenix_Data_member_attr_set(kGroup, kState, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &state, nullptr),
                 "attr_set");
}

/// Works to the end, or until a failure is reported by a call.
bool run() {
  if (!begin()) return false;
  while (state.step < kSteps) {
    if (work() != MPI_SUCCESS || !store()) return false;
  }
  const int code = Fenix_Finalize();
  return protect(code, "Fenix_Finalize");
}

/// The same after each exit from Fenix_Init.
void check_world(int processes) {
  const int lost = must_shrink && role != FENIX_ROLE_INITIAL_RANK ? 1 : 0;
  if (processes > 0) check::expect_equal(size_of_world(), processes - spares - lost, "size of MPI_COMM_WORLD");
  check::expect_equal(error, lost != 0 ? FENIX_WARNING_SPARE_RANKS_DEPLETED : FENIX_SUCCESS, "error");
  int own = -1;
  check::success(Fenix_Get_role(MPI_COMM_WORLD, rank_in_world(), &own), "Fenix_Get_role");
  check::expect_equal(own, role, "role of this rank in MPI_COMM_WORLD");
  int* tag_bound = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&tag_bound), &flag);
  check::require(flag != 0 && *tag_bound > 0, "MPI_TAG_UB is not there");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argv[1];
  static int processes = 0;
  spares = std::atoi(argv[2]);
  for (int i = 3; i + 1 < argc; i += 2) deaths.emplace_back(std::atoi(argv[i]), std::atoi(argv[i + 1]));
  spawns = std::string(argv[2]) == "spawn";
  must_shrink = spares == 0 && !spawns && !deaths.empty();
  MPI_Init(&argc, &argv);
  processes = size_of_world();
  process = rank_in_world();
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    // A spawned process: it does not die, and joins a job of other size.
    deaths.clear();
    processes = 0;
  }
  if (mode == "return") Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  if (mode == "throw") Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_THROW);
  Fenix_Init(&role, MPI_COMM_WORLD, nullptr, &argc, &argv, spares, spawns ? 1 : 0, MPI_INFO_NULL, &error);
  for (bool finished = false; !finished;) {
    check_world(processes);
    try {
      finished = run();
    } catch (const fenix::CommException& exception) {
      check::require(exception.repaired_comm == MPI_COMM_WORLD, "the exception has another communicator");
    }
  }
  const int size = size_of_world();
  // After a shrink, the steps have had different numbers of ranks.
  if (!must_shrink) {
    check::expect_equal(state.sum, kSteps * (size * (size - 1) / 2) + kSteps * (kSteps - 1) / 2, "sum of all steps");
  }
  check::ok(rank_in_world());
  MPI_Finalize();
  return 0;
}
