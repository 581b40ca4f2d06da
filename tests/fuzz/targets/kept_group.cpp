// SPDX-License-Identifier: BSD-3-Clause
// The description of a group that a process of an earlier job has left, perhaps with another version of the library. The first byte is the
// number of regions.
#include "recovery/groups/rejoin/kept_group.hpp"

#include "fuzz/support.hpp"

using namespace fenix_impl;

int LLVMFuzzerInitialize(int*, char***) {
  fuzz::start_mpi();
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int32_t kRank = -1;  // of a group that has no team yet
  constexpr std::int32_t kRanks = 3;
  constexpr std::int32_t kProcess = 1;
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  const fuzz::Bytes given(bytes.begin(), bytes.end());
  const std::vector<std::int32_t> files(data[0], 0);
  const auto group = group_described(given, kProcess, files, kRank, kRanks);
  if (!group) return 0;
  fuzz::require(group->recovery().kept_memory()->regions.size() == files.size(), "a region for each file");
  fuzz::require(group->members().size() + 1 == files.size(), "a region for each member");
  for (const auto& member : group->members()) {
    fuzz::require(member->memory.counts().count(kRank) == 1, "the own count is known");
  }
  return 0;
}
