// SPDX-License-Identifier: BSD-3-Clause
#include "workload.hpp"

#include <algorithm>

namespace fenix_simulation {
namespace {

std::uint64_t joined(int group, int member) {
  return static_cast<std::uint64_t>(group) << 32U | static_cast<std::uint64_t>(member);
}

}  // namespace

Blocks blocks_of(const Workload& plan, int group, int member, int rank, int step, int base) {
  const int count =
      plan.groups[static_cast<std::size_t>(group)].members[static_cast<std::size_t>(member)].count_on(rank);
  if (count == 0) return {};
  const Blocks all{1, 0, count, count};
  const std::uint64_t extent = dice(plan, Purpose::extent, joined(group, member), static_cast<std::uint64_t>(step));
  if (step == base) return all;
  if (once_in(plan.skipped_of, extent >> 8U)) return {};
  if (!once_in(plan.partial_of, extent)) return all;
  const std::uint64_t blocks = dice(plan, Purpose::blocks, joined(group, member), static_cast<std::uint64_t>(step),
                                    static_cast<std::uint64_t>(rank));
  const int stride = 1 + static_cast<int>(blocks % static_cast<std::uint64_t>(std::max(count / 3, 2)));
  const int length = 1 + static_cast<int>((blocks >> 16U) % static_cast<std::uint64_t>(stride));
  const int first = static_cast<int>((blocks >> 32U) % static_cast<std::uint64_t>(count));
  const int number = std::min((count - first - length + stride) / stride, 20);
  if (first + length > count || number < 1) return {1, first, 1, 1};
  return {number, first, length, stride};
}

std::uint32_t value_of(const Workload& plan, int group, int member, int rank, Contents contents, int element) {
  int& step = contents.step;
  while (step > contents.base && !blocks_of(plan, group, member, rank, step, contents.base).has(element)) --step;
  const auto where = static_cast<std::uint64_t>(rank) << 32U | static_cast<std::uint64_t>(element);
  return static_cast<std::uint32_t>(
      dice(plan, Purpose::value, joined(group, member),
           static_cast<std::uint64_t>(step) | static_cast<std::uint64_t>(attempt_of(contents.attempts, step)) << 16U,
           where));
}

bool has_barrier(const Workload& plan, int group, int step) {
  return once_in(plan.barrier_of,
                 dice(plan, Purpose::barrier, static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(step)));
}

}  // namespace fenix_simulation
