// SPDX-License-Identifier: BSD-3-Clause
// Communicators derived from the resilient one are repaired. Rank 1 dies in a collective on a grandchild, or where FENIX_FAULT says.
// usage: derived again|keep spares|spawn [many|nokill|twice|slow]
//   again: control comes out of Fenix_Init after a repair, and every rank calls the constructors again
//   keep:  survivors go on (resume mode "return") and keep their handles; the recovered rank calls the constructors alone
//   many:  100 communicators more
//   twice: process 2 dies after the first repair, too
//   slow:  more steps, which rank 0 prints; somebody else kills
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "../check.hpp"
#include "comms.hpp"

namespace {

constexpr int kRanks = 4;
constexpr int kMany = 100;
constexpr int kSlowSteps = 40;
constexpr useconds_t kPause = 100'000;
constexpr int kVictim = 1;
constexpr std::size_t kKinds = 10;
const std::array<const char*, kKinds> kNames = {"dup",    "split",        "cart", "graph",      "dist_graph",
                                                "create", "create_group", "row",  "grandchild", "later"};

struct All {
  std::array<MPI_Comm, kKinds> comms{};
  std::vector<MPI_Comm> many;
};

int role = -1;
int error = -1;
int spares = 0;
int first_size = 0;
bool keeps = false;
bool has_many = false;
bool kills = true;
bool kills_twice = false;
bool is_slow = false;
int steps = 4;
int process = -1;  // number in the job
int step = 0;
All all;
All first;  // of a survivor, before the death
int keyval = MPI_KEYVAL_INVALID;
int attribute = 4711;

bool shrunk() { return size_of(MPI_COMM_WORLD) < first_size; }

/// The first half of the ranks of a communicator.
MPI_Group first_half(MPI_Comm comm) {
  MPI_Group whole = MPI_GROUP_NULL;
  MPI_Group half = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &whole);
  std::array<int[3], 1> range = {{{0, size_of(comm) / 2 - 1, 1}}};
  MPI_Group_range_incl(whole, 1, range.data(), &half);
  MPI_Group_free(&whole);
  return half;
}

#define MAKE(CALL) \
  if (const int code = (CALL); code != MPI_SUCCESS) return code

/// Makes all communicators. Returns the error of MPI.
int make_all(All& made) {
  auto& [dup, split, cart, graph, dist, create, by_group, row, grandchild, later] = made.comms;
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  MAKE(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
  // Odd and even ranks, in reverse order.
  MAKE(MPI_Comm_split(dup, rank % 2, -rank, &split));
  const std::array<int, 2> dims = {2, size / 2};
  const std::array<int, 2> periods = {0, 1};
  MAKE(MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), periods.data(), 0, &cart));
  // A line of nodes.
  std::vector<int> index(static_cast<std::size_t>(size));
  std::vector<int> edges;
  for (int i = 0; i < size; ++i) {
    if (i > 0) edges.push_back(i - 1);
    if (i < size - 1) edges.push_back(i + 1);
    index[static_cast<std::size_t>(i)] = static_cast<int>(edges.size());
  }
  MAKE(MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), edges.data(), 0, &graph));
  const int from = (rank + size - 1) % size;
  const int to = (rank + 1) % size;
  const int weight = 10 + rank;
  const int weight_from = 10 + from;
  MAKE(
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &weight_from, 1, &to, &weight, MPI_INFO_NULL, 0, &dist));
  MPI_Group half = first_half(dup);
  MAKE(MPI_Comm_create(dup, half, &create));
  by_group = MPI_COMM_NULL;
  if (rank < size / 2) MAKE(MPI_Comm_create_group(MPI_COMM_WORLD, half, 5, &by_group));
  MPI_Group_free(&half);
  row = MPI_COMM_NULL;
  grandchild = MPI_COMM_NULL;
  if (cart != MPI_COMM_NULL) {
    int topology = MPI_UNDEFINED;
    MPI_Topo_test(cart, &topology);
    const std::array<int, 2> remain = {0, 1};
    if (topology == MPI_CART) MAKE(MPI_Cart_sub(cart, remain.data(), &row));
  }
  MAKE(MPI_Comm_dup(split, &grandchild));
  later = MPI_COMM_NULL;
  if (cart != MPI_COMM_NULL) {
    MPI_Request request = MPI_REQUEST_NULL;
    MAKE(MPI_Comm_idup(cart, &later, &request));
    MAKE(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  for (int i = 0; has_many && i < kMany; ++i) {
    made.many.resize(kMany, MPI_COMM_NULL);
    auto& one = made.many[static_cast<std::size_t>(i)];
    MAKE(i % 2 == 0 ? MPI_Comm_dup(MPI_COMM_WORLD, &one)
                    : MPI_Comm_split(MPI_COMM_WORLD, rank % (i % 5 + 1), rank, &one));
  }
  return MPI_SUCCESS;
}

/// Adds up the ranks in MPI_COMM_WORLD over a communicator. Returns the error of MPI.
int check_sum(MPI_Comm comm, long wanted, const std::string& what) {
  const long rank = rank_in(MPI_COMM_WORLD);
  long sum = -1;
  const int code = MPI_Allreduce(&rank, &sum, 1, MPI_LONG, MPI_SUM, comm);
  if (code == MPI_SUCCESS) check::expect_equal(sum, wanted, "sum over " + what);
  return code;
}

/// Sum of the numbers below n that are rest modulo step.
long sum_of(int n, int by, int rest) {
  long sum = 0;
  for (int i = rest; i < n; i += by) sum += i;
  return sum;
}

void check_cart(MPI_Comm cart, int size) {
  std::array<int, 2> dims{};
  std::array<int, 2> periods{};
  std::array<int, 2> at{};
  MPI_Cart_get(cart, 2, dims.data(), periods.data(), at.data());
  const int rank = rank_in(cart);
  check::expect_equal(dims[0], 2, "first dimension");
  check::expect_equal(dims[1], size / 2, "second dimension");
  check::require(periods[0] == 0 && periods[1] == 1, "the grid has other periods");
  check::require(at[0] == rank / dims[1] && at[1] == rank % dims[1], "the rank is elsewhere in the grid");
  int below = -2;
  int above = -2;
  MPI_Cart_shift(cart, 1, 1, &below, &above);
  check::expect_equal(above, rank / dims[1] * dims[1] + (rank + 1) % dims[1], "neighbour in the grid");
}

void check_graphs(MPI_Comm graph, MPI_Comm dist, int rank, int size) {
  int count = 0;
  MPI_Graph_neighbors_count(graph, rank, &count);
  check::expect_equal(count, rank == 0 || rank == size - 1 ? 1 : 2, "neighbours in the graph");
  int from = -1;
  int to = -1;
  int weight_from = -1;
  int weight_to = -1;
  MPI_Dist_graph_neighbors(dist, 1, &from, &weight_from, 1, &to, &weight_to);
  check::expect_equal(from, (rank + size - 1) % size, "source in the distributed graph");
  check::expect_equal(to, (rank + 1) % size, "destination in the distributed graph");
  check::expect_equal(weight_from, 10 + from, "weight of the source");
  check::expect_equal(weight_to, 10 + rank, "weight of the destination");
}

/// Uses all communicators. Returns the error of MPI.
int use_all() {
  const auto& [dup, split, cart, graph, dist, create, by_group, row, grandchild, later] = all.comms;
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  MAKE(check_sum(dup, sum_of(size, 1, 0), "dup"));
  if (!shrunk()) {
    check::expect_equal(rank_in(split), size_of(split) - 1 - rank / 2, "rank in split");
    MAKE(check_sum(split, sum_of(size, 2, rank % 2), "split"));
    MAKE(check_sum(cart, sum_of(size, 1, 0), "cart"));
    check_cart(cart, size);
    MAKE(check_sum(later, sum_of(size, 1, 0), "later"));
    check_cart(later, size);
    check_graphs(graph, dist, rank, size);
    MAKE(check_sum(row, rank < size / 2 ? sum_of(size / 2, 1, 0) : sum_of(size, 1, 0) - sum_of(size / 2, 1, 0), "row"));
    check::require((create != MPI_COMM_NULL) == (rank < size / 2), "create has other members");
    if (create != MPI_COMM_NULL) {
      MAKE(check_sum(create, sum_of(size / 2, 1, 0), "create"));
      MAKE(check_sum(by_group, sum_of(size / 2, 1, 0), "create_group"));
    }
  }
  MAKE(check_sum(graph, sum_of(size, 1, 0), "graph"));
  MAKE(check_sum(dist, sum_of(size, 1, 0), "dist_graph"));
  for (std::size_t i = 0; i < all.many.size(); ++i) {
    const int parts = static_cast<int>(i % 2 == 0 ? 1 : i % 5 + 1);
    if (!shrunk()) MAKE(check_sum(all.many[i], sum_of(size, parts, rank % parts), "communicator " + std::to_string(i)));
  }
  if (kills && step == 2 && role == FENIX_ROLE_INITIAL_RANK && rank == kVictim) raise(SIGKILL);
  if (kills_twice && step == 3 && role == FENIX_ROLE_SURVIVOR_RANK && process == 2) raise(SIGKILL);
  const MPI_Comm last = grandchild;
  if (!shrunk()) return check_sum(last, sum_of(size, 2, rank % 2), "grandchild");
  long size_of_grandchild = size_of(last);
  MAKE(MPI_Allreduce(MPI_IN_PLACE, &size_of_grandchild, 1, MPI_LONG, MPI_SUM, last));
  check::expect_equal(size_of_grandchild, long{size_of(last)} * size_of(last), "sum of sizes");
  return MPI_SUCCESS;
}

void check_handles() {
  for (std::size_t i = 0; i < kKinds; ++i) {
    check::require(all.comms[i] == first.comms[i], std::string("another handle of ") + kNames[i]);
  }
  check::require(all.many == first.many, "other handles of many");
  int* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(all.comms[0], keyval, static_cast<void*>(&value), &flag);
  check::require(flag != 0 && value == &attribute, "the attribute is lost");
}

void note_handles() {
  first = all;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
  MPI_Comm_set_attr(all.comms[0], keyval, &attribute);
}

void pause() {
  if (rank_in(MPI_COMM_WORLD) == 0) std::printf("step %d\n", step);
  std::fflush(stdout);
  usleep(kPause);
}

/// Returns false if a rank has died meanwhile.
bool run() {
  const bool makes = !keeps || role != FENIX_ROLE_SURVIVOR_RANK || all.comms[0] == MPI_COMM_NULL;
  if (makes && make_all(all) != MPI_SUCCESS) return false;
  if (first.comms[0] != MPI_COMM_NULL && !shrunk()) check_handles();
  if (first.comms[0] == MPI_COMM_NULL) note_handles();
  while (step < steps) {
    if (is_slow) pause();
    if (use_all() != MPI_SUCCESS) return false;
    ++step;
  }
  return Fenix_Finalize() == FENIX_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  keeps = std::string(argv[1]) == "keep";
  spares = std::atoi(argv[2]);
  has_many = argc > 3 && std::string(argv[3]) == "many";
  is_slow = argc > 3 && std::string(argv[3]) == "slow";
  kills = !is_slow && (argc <= 3 || std::string(argv[3]) != "nokill");
  if (is_slow) steps = kSlowSteps;
  kills_twice = argc > 3 && std::string(argv[3]) == "twice";
  for (MPI_Comm& comm : all.comms) comm = MPI_COMM_NULL;
  first = all;
  MPI_Init(&argc, &argv);
  first_size = size_of(MPI_COMM_WORLD) - spares;
  process = rank_in(MPI_COMM_WORLD);
  const bool spawns = std::string(argv[2]) == "spawn";
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) first_size = kRanks;
  if (keeps) Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  Fenix_Init(&role, MPI_COMM_WORLD, nullptr, &argc, &argv, spares, spawns ? 1 : 0, MPI_INFO_NULL, &error);
  do {
    // All ranks begin with the same step after a repair.
    if (role != FENIX_ROLE_INITIAL_RANK) step = 3;
  } while (!run());
  check::require((!kills && !is_slow) || role != FENIX_ROLE_INITIAL_RANK, "nobody has died");
  check::require(!kills_twice || process != 2, "the second one has not died");
  check::ok(rank_in(MPI_COMM_WORLD));
  MPI_Finalize();
  return 0;
}
