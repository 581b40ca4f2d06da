// SPDX-License-Identifier: BSD-3-Clause
// A member of more than 2³¹ elements and bytes, through the functions with large counts. Needs 12 GiB: where they are not
// there, it says so and ends well.
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

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  int role = -1;
  int error = 0;
  int rank = -1;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  MPI_Comm_rank(comm, &rank);
  int enough = available_gib() >= 14 ? 1 : 0;
  MPI_Bcast(&enough, 1, MPI_INT, 0, comm);
  if (enough == 0) {
    if (rank == 0) std::printf("large_counts: skipped, there are only %ld GiB\n", available_gib());
  } else {
    // Large on one rank only: its slots are on both.
    const MPI_Count count = rank == 0 ? kLarge : 10;
    auto* data = static_cast<char*>(std::malloc(static_cast<std::size_t>(count)));
    require(data != nullptr, "malloc");
    for (MPI_Count i = 0; i < count; ++i) data[i] = value(i);
    success(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
    success(Fenix_Data_member_create_c(kGroup, 0, data, count, MPI_CHAR), "member_create_c");
    success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
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

    for (MPI_Count i = 0; i < count; i += 4096) data[i] = 0;
    Fenix_Data_subset found;
    success(Fenix_Data_member_restore_c(kGroup, 0, data, count, FENIX_DATA_SNAPSHOT_LATEST, &found), "restore_c");
    for (MPI_Count i = 0; i < count; ++i) require(data[i] == (i < count - 5 ? value(i) : 'x'), "a wrong element");
    MPI_Count start = -1;
    MPI_Count end = -1;
    success(Fenix_Data_subset_get_block(found, 0, &start, &end), "get_block");
    require(start == 0 && end == count - 1, "found other elements");
    success(Fenix_Data_subset_delete(&found), "subset_delete");
    std::free(data);
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
