// SPDX-License-Identifier: BSD-3-Clause
// Memory that a group does not use any more goes back to the system while the program runs, on every path: regions that were
// outgrown, and those of deleted members and groups. With a failure in between, too.
#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace {

using check::require;
using check::success;

constexpr int kGroup = 1;
constexpr int kStep = 9;    // member with the number of the step
constexpr int kSteps = 20;  // in which a member grows, each time by a quarter of its first size
constexpr int kFirst = 40'000;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int ranks = 0;
int role = -1;
int init_error = 0;
int step = 0;
std::vector<double> values;

/// Sums over all ranks.
struct Bytes {
  std::uint64_t mapped = 0;  ///< mappings of regions
  std::uint64_t used = 0;    ///< memory behind them; a page that n processes map counts once
};

// Regions that are mapped by this process. Processes that share a page count a share of it each.
Bytes of_this_process() {
  std::ifstream maps("/proc/self/smaps");
  Bytes bytes;
  bool is_region = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("-") < line.find(" ") && line.find(":") > line.find(" ")) {
      is_region = line.find("/memfd:fenix") != std::string::npos;
      bytes.mapped += is_region ? 1 : 0;
    } else if (is_region) {
      std::uint64_t kilobytes = 0;
      if (std::sscanf(line.c_str(), "Pss: %lu", &kilobytes) == 1) bytes.used += kilobytes * 1024;
    }
  }
  return bytes;
}

std::uint64_t over_ranks(std::uint64_t mine) {
  std::uint64_t sum = 0;
  success(MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  return sum;
}

Bytes of_all() {
  MPI_Barrier(comm);
  const Bytes mine = of_this_process();
  return {over_ranks(mine.mapped), over_ranks(mine.used)};
}

std::uint64_t documented(std::initializer_list<int> members) {
  std::uint64_t sum = 0;
  for (const int member : members) {
    MPI_Count footprint = 0;
    success(Fenix_Data_member_footprint(kGroup, member, &footprint), "member_footprint");
    sum += static_cast<std::uint64_t>(footprint);
  }
  return over_ranks(sum);
}

/// Compares with the memory of the members that there are. Control regions have a few dozen pages each, at depth -1 more.
void expect_no_more(std::initializer_list<int> members, const std::string& when, std::uint64_t control = 400'000) {
  const std::uint64_t bound = documented(members);
  const Bytes bytes = of_all();
  const double ratio = static_cast<double>(bytes.used) / static_cast<double>(bound);
  if (rank == 0) {
    std::printf("%s: %.2f MB in use, members %.2f MB: %.2f times; %lu mappings\n", when.c_str(),
                static_cast<double>(bytes.used) / 1e6, static_cast<double>(bound) / 1e6, ratio, bytes.mapped);
  }
  require(bytes.used <= bound + bound / 20 + control * static_cast<std::uint64_t>(ranks),
          when + ": memory that is not used any more has not been given back");
}

void create_group(int depth) {
  success(Fenix_Data_group_create(kGroup, comm, 0, depth, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr),
          "group_create");
}

void commit() { success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier"); }

void store_and_commit(int member) {
  success(Fenix_Data_member_store(kGroup, member, FENIX_DATA_SUBSET_FULL), "store");
  commit();
}

// ------------------------------------------------------------------------------------------------------------- growth

int count_at(int at) { return kFirst + at * (kFirst / 4) + 100 * rank; }

double value_at(int at, int i) { return at * 1000.0 + rank + i * 1e-6; }

void check_values(int at) {
  const int count = count_at(at);
  std::vector<double> got(static_cast<std::size_t>(count), -1);
  success(Fenix_Data_member_restore(kGroup, 0, got.data(), count, FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE),
          "restore");
  for (int i = 0; i < count; ++i) {
    require(got[static_cast<std::size_t>(i)] == value_at(at, i), "another value than was stored");
  }
}

void define(int member, void* data, int count, MPI_Datatype type) {
  if (Fenix_Data_member_created(kGroup, member)) {
    int flag = 0;
    success(Fenix_Data_member_attr_set(kGroup, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, data, &flag), "attr_set");
  } else {
    success(Fenix_Data_member_create(kGroup, member, data, count, type), "member_create");
  }
}

void grow_once() {
  values.resize(static_cast<std::size_t>(count_at(step)));
  for (int i = 0; i < count_at(step); ++i) values[static_cast<std::size_t>(i)] = value_at(step, i);
  int flag = 0;
  success(Fenix_Data_member_attr_set(kGroup, 0, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, values.data(), &flag), "attr_set");
  Fenix_Data_subset all = FENIX_DATA_SUBSET_EMPTY;
  success(Fenix_Data_subset_create_c(1, 0, count_at(step) - 1, 1, &all), "subset_create");
  success(Fenix_Data_member_storev(kGroup, 0, all), "storev");
  success(Fenix_Data_subset_delete(&all), "subset_delete");
  store_and_commit(kStep);
}

/// A member that grows in small steps. After a failure the ranks come here again.
void grow() {
  create_group(0);
  define(kStep, &step, 1, MPI_INT);
  define(0, values.data(), FENIX_RESIZEABLE, MPI_DOUBLE);
  const int code =
      Fenix_Data_member_restore(kGroup, kStep, &step, 1, FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE);
  if (code == FENIX_SUCCESS) {
    check_values(step++);
  } else {
    check::expect_equal(code, FENIX_ERROR_NODATA_FOUND, "code of the restore of the step");
    step = 0;
  }
  for (; step < kSteps; ++step) {
    grow_once();
    expect_no_more({0, kStep}, "step " + std::to_string(step));
  }
  check_values(kSteps - 1);
}

/// Slots and log at depth -1.
void keep_all() {
  create_group(-1);
  values.assign(kFirst, rank);
  define(0, values.data(), kFirst, MPI_DOUBLE);
  for (int i = 0; i < kSteps; ++i) store_and_commit(0);
  // The control region takes the pages of its records when they are written.
  expect_no_more({0}, "20 snapshots");
}

// ----------------------------------------------------------------------------------------------------------- deletion

void delete_member(int member) { success(Fenix_Data_member_delete(kGroup, member), "member_delete"); }

void barrier() { success(Fenix_Data_barrier(kGroup), "barrier"); }

void delete_group() {
  success(Fenix_Data_group_delete(kGroup), "group_delete");
  barrier();
  // Each process has a page of its own besides groups. With windows, news of a commit may arrive late, and take a page.
  const auto used = of_all().used;
  require(used <= 4 * 4096 * static_cast<std::uint64_t>(ranks),
          std::to_string(used) + " bytes are in use after the group was deleted");
}

void delete_members() {
  constexpr std::uint64_t kSmall = 40'000;  // less than a member
  values.assign(kFirst, rank);
  const Bytes before = of_all();
  create_group(0);
  const std::uint64_t control = of_all().used - before.used;
  // The creation of another one gives back what all have deleted.
  for (int i = 0; i < 4; ++i) {
    define(i, values.data(), kFirst, MPI_DOUBLE);
    store_and_commit(i);
    expect_no_more({i}, "member " + std::to_string(i), kSmall + control);
    if (i < 3) delete_member(i);
  }
  // As long as one rank has a member, nobody gives it back: that rank may read and write what the others have of it.
  define(4, values.data(), kFirst, MPI_DOUBLE);
  store_and_commit(4);
  if (rank != 1) delete_member(4);
  define(5, values.data(), kFirst, MPI_DOUBLE);
  values.assign(kFirst, -1);
  if (rank == 1) {
    success(Fenix_Data_member_lrestore(kGroup, 4, values.data(), kFirst, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
            "lrestore");
    for (const double value : values) require(value == rank, "another value than was stored");
  }
  barrier();
  expect_no_more({3, 5}, "after a barrier", kSmall + control);
  delete_member(3);
  delete_member(5);
  barrier();
  require(of_all().used <= before.used + control + 65536 * static_cast<std::uint64_t>(ranks),
          "the memory of deleted members is in use after a barrier");
  // A growth of a third one, too.
  define(6, values.data(), kFirst, MPI_DOUBLE);
  define(0, values.data(), FENIX_RESIZEABLE, MPI_DOUBLE);
  define(kStep, &step, 1, MPI_INT);
  delete_member(6);
  grow_once();
  expect_no_more({0, kStep}, "after a growth", kSmall + control);
  delete_group();
}

void change_policy() {
  const Bytes before = of_all();
  create_group(0);
  const std::uint64_t control = of_all().used - before.used;
  define(0, values.data(), kFirst, MPI_DOUBLE);
  for (const int losses : {1, 2, 1}) {
    std::array<int, 3> policy{1, ranks, losses};
    int flag = 0;
    success(Fenix_Data_group_set_redundancy_policy(kGroup, FENIX_DATA_POLICY_REED_SOLOMON, policy.data(), &flag),
            "set_redundancy_policy");
    expect_no_more({0}, "policy with " + std::to_string(losses) + " losses", 2 * control + 100'000);
  }
  delete_group();
}

}  // namespace

int main(int argc, char** argv) {
  static const std::string_view what = argc > 1 ? argv[1] : "grow";
  static const int spares = argc > 2 ? std::atoi(argv[2]) : 0;
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, &init_error);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (what == "grow") grow();
  if (what == "keep_all") keep_all();
  if (what == "delete") {
    delete_members();
    change_policy();
  }
  const bool failed = over_ranks(role == FENIX_ROLE_INITIAL_RANK ? 0 : 1) > 0;
  require(failed == (spares > 0), "there should have been a failure, or none");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
