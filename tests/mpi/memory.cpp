// SPDX-License-Identifier: BSD-3-Clause
// The memory in use is what docs/how-to-data.md says, for each policy and depth, and all of it is given back.
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 1;
constexpr std::uint64_t kPage = 4096;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int role = -1;
int error = 0;

/// Bytes of memory behind the anonymous shared segments that this process owns.
std::uint64_t bytes_in_use() {
  std::uint64_t bytes = 0;
  std::vector<ino_t> seen;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || target.find("/memfd:fenix") != 0) continue;
    struct stat status {};
    if (stat(entry.path().c_str(), &status) != 0) continue;
    bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  return bytes;
}

std::uint64_t up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

/// A policy, and what docs/how-to-data.md, "Memory", says of it on this rank.
struct Case {
  int policy;
  std::vector<int> values;
  std::vector<int> held;    ///< ranks of which this one keeps whole copies
  std::vector<int> cohort;  ///< ranks that encode together
  int copies;               ///< of each record, with other ranks
};

std::uint64_t bytes_of(int of, int base) { return 8 * static_cast<std::uint64_t>(base + base / 6 * of); }

std::uint64_t held_bytes(const Case& with, int base) {
  if (!with.held.empty()) return bytes_of(with.held[0], base);
  if (with.cohort.empty()) return 0;
  const auto losses = static_cast<std::uint64_t>(with.copies);
  const std::uint64_t data_ranks = with.cohort.size() - losses;
  std::uint64_t most = 0;
  for (const int of : with.cohort) most = std::max(most, bytes_of(of, base));
  const std::uint64_t share = up((most + data_ranks - 1) / data_ranks, 64);
  const std::uint64_t unit = std::clamp<std::uint64_t>(share, 64, 32768);
  const std::uint64_t stripe = data_ranks * unit;
  return (most + stripe - 1) / stripe * losses * unit;
}

/// (depth + 2) slots for the own data and for what is held; in place, one for the own data.
std::uint64_t documented_member(std::uint64_t own, std::uint64_t held, int depth, bool in_place) {
  const auto slot = [](std::uint64_t bytes) {
    const std::uint64_t all = up(bytes, 8) + (bytes + 131071) / 131072 * 8;
    return up(all, all < kPage ? 64 : kPage);
  };
  const auto slots = static_cast<std::uint64_t>(depth) + 2;
  return up(kPage + (in_place ? 1 : slots) * slot(own) + slots * slot(held), kPage);
}

/// Logs, own and held, the boards, and bounce buffers.
std::uint64_t documented_control(const Case& with, int depth, bool in_place) {
  const auto logs = static_cast<std::uint64_t>(with.copies) + 1;
  const std::uint64_t cohort_pages = with.cohort.empty() ? 0 : 2;
  const std::uint64_t bounce = in_place && !with.cohort.empty() ? std::uint64_t{2} << 20 : 0;
  return (logs * (static_cast<std::uint64_t>(depth) + 8) + 2 + cohort_pages) * kPage + bounce;
}

void measure(Case with, int depth, int base, bool in_place = false) {
  const int policy = with.policy;
  const std::uint64_t before = bytes_in_use();
  const auto count = [=](int of) { return static_cast<int>(bytes_of(of, base) / 8); };
  std::vector<double> data(static_cast<std::size_t>(count(rank)), rank);
  success(Fenix_Data_group_create(kGroup, comm, 0, depth, policy, with.values.data(), nullptr), "group_create");
  if (in_place) success(Fenix_Data_group_set_in_place(kGroup, 1), "set_in_place");
  success(Fenix_Data_member_create(kGroup, 0, data.data(), count(rank), MPI_DOUBLE), "member_create");
  const std::uint64_t member = documented_member(bytes_of(rank, base), held_bytes(with, base), depth, in_place);
  MPI_Count footprint = -1;
  success(Fenix_Data_member_footprint(kGroup, 0, &footprint), "member_footprint");
  expect_equal(static_cast<long>(footprint), static_cast<long>(member), "footprint");
  success(Fenix_Data_member_create(kGroup, 1, data.data(), FENIX_RESIZEABLE, MPI_DOUBLE), "member_create, resizeable");
  success(Fenix_Data_member_footprint(kGroup, 1, &footprint), "member_footprint, resizeable");
  expect_equal(static_cast<long>(footprint), kPage,
               "footprint before the first store of a member that is FENIX_RESIZEABLE");
  success(Fenix_Data_member_delete(kGroup, 1), "member_delete");
  for (int step = 0; step < depth + 4; ++step) {
    success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
    success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  }
  const std::uint64_t used = bytes_in_use() - before;
  const std::uint64_t bound = member + documented_control(with, depth, in_place);
  std::printf("rank %d policy %d depth %d%s: %llu bytes in use, %llu documented\n", rank, policy, depth,
              in_place ? " in place" : "", static_cast<unsigned long long>(used),
              static_cast<unsigned long long>(bound));
  require(used <= bound, "more memory in use than documented");
  require(used + bound / 50 >= bound, "the documented bound is far from what is used: the measurement is wrong");
  success(Fenix_Data_barrier(kGroup), "barrier");
  success(Fenix_Data_group_delete(kGroup), "group_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
  require(bytes_in_use() == before, "memory is in use after the group was deleted");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  MPI_Comm_rank(comm, &rank);
  const std::vector<int> all{0, 1, 2, 3};
  const std::vector<int> pair{rank / 2 * 2, rank / 2 * 2 + 1};
  constexpr int kLarge = 300'000;
  constexpr int kSmall = 60;
  const std::vector<Case> cases{{FENIX_DATA_POLICY_IN_MEMORY_RAID, {1, 1}, {rank ^ 1}, {}, 1},
                                {FENIX_DATA_POLICY_PEER_RANK_SEPARATION, {1}, {(rank + 3) % 4}, {}, 1},
                                {FENIX_DATA_POLICY_IN_MEMORY_RAID, {5, 1, 4}, {}, all, 1},
                                {FENIX_DATA_POLICY_IN_MEMORY_RAID, {5, 1, 2}, {}, pair, 1},
                                {FENIX_DATA_POLICY_REED_SOLOMON, {1, 4, 2}, {}, all, 2},
                                {FENIX_DATA_POLICY_REED_SOLOMON, {1, 4, 3}, {}, all, 3},
                                {FENIX_DATA_POLICY_LOCAL, {}, {}, {}, 0}};
  for (const int base : {kLarge, kSmall}) {
    for (const Case& with : cases) {
      for (const int depth : {0, 1, 3}) measure(with, depth, base);
      measure(with, 0, base, /*in_place=*/true);
    }
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  require(bytes_in_use() == 0, "memory is in use after Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
