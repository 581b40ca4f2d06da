// SPDX-License-Identifier: BSD-3-Clause
// A member of more than 2³¹ elements and bytes, through the functions with large counts. Needs 12 GiB: where they are not
// there, the test is skipped. With the argument "ends" only the first and the last elements are stored: the rest of that
// memory is never written to, which takes a second instead of half a minute.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 1;
constexpr MPI_Count kLarge = (MPI_Count{1} << 31) + 4321;

long available_gib() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    if (word == "MemAvailable:") break;
  }
  long kib = 0;
  file >> kib;
  return kib >> 20;
}

// Only some elements are looked at closely; the library's hashes look at all.
char value(MPI_Count i) { return static_cast<char>(i * 2654435761 >> 13); }

constexpr MPI_Count kEnd = 10;

// Calls with the number of each element that is stored.
template <class Function>
void for_each_stored(MPI_Count count, bool only_ends, Function function) {
  const MPI_Count first_end = only_ends ? kEnd : count;
  for (MPI_Count i = 0; i < first_end; ++i) function(i);
  for (MPI_Count i = std::max(first_end, count - kEnd); i < count; ++i) function(i);
}

void store(MPI_Count count, bool only_ends) {
  if (!only_ends) {
    success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
    return;
  }
  const MPI_Count from[] = {0, count - kEnd};
  const MPI_Count to[] = {kEnd - 1, count - 1};
  Fenix_Data_subset ends;
  success(Fenix_Data_subset_createv_c(2, from, to, &ends), "subset_createv_c");
  success(Fenix_Data_member_store(kGroup, 0, ends), "store of both ends");
  success(Fenix_Data_subset_delete(&ends), "subset_delete");
}

void expect_block(const Fenix_Data_subset& found, MPI_Count position, MPI_Count from, MPI_Count to) {
  MPI_Count start = -1;
  MPI_Count end = -1;
  success(Fenix_Data_subset_get_block(found, position, &start, &end), "get_block");
  require(start == from && end == to, "found other elements");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool only_ends = argc > 1 && std::string(argv[1]) == "ends";
  MPI_Comm comm = MPI_COMM_NULL;
  int role = -1;
  int error = 0;
  int rank = -1;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  MPI_Comm_rank(comm, &rank);
  int enough = available_gib() >= 14 ? 1 : 0;
  MPI_Bcast(&enough, 1, MPI_INT, 0, comm);
  if (enough == 0) {
    if (rank == 0) std::printf("FENIX-TEST-SKIPPED there are only %ld GiB\n", available_gib());
  } else {
    // Large on one rank only: its slots are on both.
    const MPI_Count count = rank == 0 ? kLarge : kEnd;
    auto* data = static_cast<char*>(std::malloc(static_cast<std::size_t>(count)));
    require(data != nullptr, "malloc");
    for_each_stored(count, only_ends, [&](MPI_Count i) { data[i] = value(i); });
    success(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
    success(Fenix_Data_member_create_c(kGroup, 0, data, count, MPI_CHAR), "member_create_c");
    store(count, only_ends);
    success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");

    // The last elements again, by a subset beyond 2^31.
    Fenix_Data_subset last;
    success(Fenix_Data_subset_create_c(1, count - 5, count - 1, 1, &last), "subset_create_c");
    for (MPI_Count i = count - 5; i < count; ++i) data[i] = 'x';
    success(Fenix_Data_member_store(kGroup, 0, last), "store of a subset");
    success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
    success(Fenix_Data_subset_delete(&last), "subset_delete");

    int small = 0;
    MPI_Count told = 0;
    int flag = 0;
    expect_equal(Fenix_Data_member_attr_get(kGroup, 0, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &small, &flag, 0),
                 FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "attr_get of a count that an int cannot hold");
    success(Fenix_Data_member_attr_get_c(kGroup, 0, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &told, &flag, 0), "attr_get_c");
    require(told == kLarge, "another count");

    for_each_stored(count, only_ends, [&](MPI_Count i) { data[i] = 0; });
    Fenix_Data_subset found;
    expect_equal(Fenix_Data_member_restore_c(kGroup, 0, data, count, FENIX_DATA_SNAPSHOT_LATEST, &found),
                 only_ends && rank == 0 ? FENIX_WARNING_PARTIAL_RESTORE : FENIX_SUCCESS, "restore_c");
    for_each_stored(count, only_ends,
                    [&](MPI_Count i) { require(data[i] == (i < count - 5 ? value(i) : 'x'), "a wrong element"); });
    if (only_ends && rank == 0) {
      expect_block(found, 0, 0, kEnd - 1);
      expect_block(found, 1, count - kEnd, count - 1);
    } else {
      expect_block(found, 0, 0, count - 1);
    }
    success(Fenix_Data_subset_delete(&found), "subset_delete");
    std::free(data);
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
