// SPDX-License-Identifier: BSD-3-Clause
// The memory in use is what docs/guide.md says, for each policy and depth, and all of it is given back.
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

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

/// docs/guide.md, "Memory": (depth + 2) slots for the own and for the held data, and the log.
std::uint64_t documented(std::uint64_t own, std::uint64_t held, int depth) {
  const auto slot = [](std::uint64_t bytes) { return up(up(bytes, 8) + (bytes + 131071) / 131072 * 8, kPage); };
  const auto slots = static_cast<std::uint64_t>(depth) + 2;
  const std::uint64_t log = 2 * (static_cast<std::uint64_t>(depth) + 8) * kPage;
  return kPage + slots * (slot(own) + slot(held)) + log + 2 * kPage;
}

void measure(int policy, std::vector<int> values, int depth, int held_rank) {
  const std::uint64_t before = bytes_in_use();
  const auto count = [](int of) { return 300'000 + 50'000 * of; };
  std::vector<double> data(static_cast<std::size_t>(count(rank)), rank);
  success(Fenix_Data_group_create(kGroup, comm, 0, depth, policy, values.data(), nullptr), "group_create");
  success(Fenix_Data_member_create(kGroup, 0, data.data(), count(rank), MPI_DOUBLE), "member_create");
  for (int step = 0; step < depth + 4; ++step) {
    success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
    success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  }
  const std::uint64_t used = bytes_in_use() - before;
  const std::uint64_t bound =
      documented(static_cast<std::uint64_t>(count(rank)) * 8, static_cast<std::uint64_t>(count(held_rank)) * 8, depth);
  std::printf("rank %d policy %d depth %d: %llu bytes in use, %llu documented\n", rank, policy, depth,
              static_cast<unsigned long long>(used), static_cast<unsigned long long>(bound));
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
  for (const int depth : {0, 1, 3}) {
    measure(FENIX_DATA_POLICY_IN_MEMORY_RAID, {1, 1}, depth, rank ^ 1);
    measure(FENIX_DATA_POLICY_PEER_RANK_SEPARATION, {1}, depth, (rank + 3) % 4);
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  require(bytes_in_use() == 0, "memory is in use after Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
