// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comms/groups.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "mpi/base/real.hpp"

namespace fenix_impl {
namespace {

/// The members of the resilient communicator from one repair to the next.
struct Generation {
  MPI_Group members = MPI_GROUP_NULL;
  std::vector<int> next;  ///< for each of them its rank in the generation after it, or -1
};

std::mutex generations_mutex;
std::vector<Generation> generations;  // without the present one
MPI_Group present = MPI_GROUP_NULL;
std::atomic<bool> any_repair = false;

std::vector<int> ranks_in(MPI_Group group, const std::vector<int>& numbers, MPI_Group where) {
  std::vector<int> ranks(numbers.size());
  real.Group_translate_ranks(group, static_cast<int>(numbers.size()), numbers.data(), where, ranks.data());
  return ranks;
}

/// Returns the present rank of each member, -1 for those without successor, MPI_UNDEFINED for processes that were never there.
std::vector<int> present_ranks(MPI_Group group, const std::vector<int>& numbers) {
  std::vector<int> found = ranks_in(group, numbers, present);
  for (std::size_t i = generations.size(); i-- > 0;) {
    const std::vector<int> then = ranks_in(group, numbers, generations[i].members);
    for (std::size_t member = 0; member < found.size(); ++member) {
      if (found[member] != MPI_UNDEFINED || then[member] == MPI_UNDEFINED) continue;
      int rank = then[member];
      for (std::size_t later = i; later < generations.size() && rank >= 0; ++later) {
        rank = generations[later].next.at(static_cast<std::size_t>(rank));
      }
      found[member] = rank;
    }
  }
  return found;
}

MPI_Group group_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  real.Comm_group(comm, &group);
  return group;
}

MPI_Group renewed(MPI_Group group) {
  const std::lock_guard lock(generations_mutex);
  int size = 0;
  if (group == MPI_GROUP_NULL || real.Group_size(group, &size) != MPI_SUCCESS || size == 0) return group;
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<int> alive = ranks_in(group, numbers, present);
  std::vector<int> ranks = present_ranks(group, numbers);
  // A process that was never in a resilient communicator cannot have a successor: such groups stay as they are.
  if (ranks == alive || std::count(ranks.begin(), ranks.end(), MPI_UNDEFINED) > 0) return group;
  std::erase(ranks, -1);
  MPI_Group made = MPI_GROUP_NULL;
  real.Group_incl(present, static_cast<int>(ranks.size()), ranks.data(), &made);
  return made;
}

}  // namespace

MPI_Group current(MPI_Group group) { return any_repair.load(std::memory_order_acquire) ? renewed(group) : group; }

void release(MPI_Group made, MPI_Group of) {
  if (made != of && made != MPI_GROUP_EMPTY) real.Group_free(&made);
}

void note_succession(MPI_Comm before, MPI_Comm after, std::vector<int> next) {
  const std::lock_guard lock(generations_mutex);
  generations.push_back({group_of(before), std::move(next)});
  present = group_of(after);
  any_repair.store(true, std::memory_order_release);
}

}  // namespace fenix_impl
