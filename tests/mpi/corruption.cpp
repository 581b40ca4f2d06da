// SPDX-License-Identifier: BSD-3-Clause
// What FENIX_FAULT has flipped after the third commit is found: corruption POLICY MENDED LOST says how often Fenix_Data_verify has
// to mend, and how much it has to give up. Then all ranks get what they stored, or the same error. MENDED "restore": without
// verification.
#include <cstdlib>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::success;

constexpr int kGroup = 1;
constexpr int kMember = 4;
constexpr int kCount = 50'000;  // several blocks of hashes
constexpr int kCommits = 3;

double value(int of, int stamp, int i) { return of * 1e6 + stamp * 1e5 + i; }

void create(MPI_Comm comm, const std::string& policy) {
  int ring[] = {1};
  int parity[] = {5, 1, 4};
  int codes[] = {1, 4, 2};
  const auto make = [&](int name, int* values) {
    success(Fenix_Data_group_create(kGroup, comm, 0, 1, name, values, nullptr), "group_create");
  };
  if (policy == "buddies") make(FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr);
  if (policy == "ring") make(FENIX_DATA_POLICY_PEER_RANK_SEPARATION, ring);
  if (policy == "xor") make(FENIX_DATA_POLICY_IN_MEMORY_RAID, parity);
  if (policy == "rs") make(FENIX_DATA_POLICY_REED_SOLOMON, codes);
}

void expect_restored(int rank, int stamp, int code) {
  std::vector<double> got(kCount, -1);
  expect_equal(Fenix_Data_member_restore(kGroup, kMember, got.data(), kCount, stamp, nullptr), code,
               "restore of time stamp " + std::to_string(stamp));
  for (int i = 0; code == FENIX_SUCCESS && i < kCount; ++i) {
    check::require(got[static_cast<std::size_t>(i)] == value(rank, stamp, i),
                   [&] { return "element " + std::to_string(i); });
  }
}

void expect_verified(int mended, int lost) {
  int got_mended = -1;
  int got_lost = -1;
  expect_equal(Fenix_Data_verify(kGroup, &got_mended, &got_lost), lost > 0 ? FENIX_ERROR_NODATA_FOUND : FENIX_SUCCESS,
               "verify");
  expect_equal(got_mended, mended, "num_mended");
  expect_equal(got_lost, lost, "num_lost");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) return 2;
  const std::string policy = argv[1];
  const std::string mended = argv[2];
  const int lost = std::atoi(argv[3]);
  MPI_Comm comm = MPI_COMM_NULL;
  int role = -1;
  int error = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  create(comm, policy);
  std::vector<double> data(kCount);
  success(Fenix_Data_member_create(kGroup, kMember, data.data(), kCount, MPI_DOUBLE), "member_create");
  for (int stamp = 0; stamp < kCommits; ++stamp) {
    for (int i = 0; i < kCount; ++i) data[static_cast<std::size_t>(i)] = value(rank, stamp, i);
    success(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store");
    success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  }
  if (mended != "restore") {
    expect_verified(std::atoi(mended.c_str()), lost);
    if (lost == 0) expect_verified(0, 0);
  }
  for (int turn = 0; turn < 2; ++turn) {
    expect_restored(rank, kCommits - 2, FENIX_SUCCESS);
    expect_restored(rank, kCommits - 1, lost > 0 ? FENIX_ERROR_NODATA_FOUND : FENIX_SUCCESS);
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
