// SPDX-License-Identifier: BSD-3-Clause
// How a collective call begins: all ranks meet, compare what they were asked to do, and go on together or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// What a meeting is about. Ranks that meet over different things made different collective calls.
enum class Operation : std::uint32_t {
  group_create = 1,
  group_arguments,
  group_memory,
  group_attach,
  member_create,
  member_define,
  member_attach,
  memory,
  agree_on_sizes,
  commit_room,
  policy,
  ask_rank,
  restore,
  restore_from,
  restore_ready,
  repair,
  repaired,
  consistency,
};

/// What the ranks have brought with them, each a value.
struct MeetingValues {
  std::uint64_t least = 0;  ///< as numbers, with all their bits
  std::uint64_t bits = 0;   ///< that some rank has set
};

/// Collective over the team. local is run first; the Error that it throws, if any, or std::bad_alloc, is thrown on all ranks: on
/// this one as it is, on the others with the number of the first rank that had one. Ranks whose operation or arguments (a hash of what
/// must be the same on all ranks) differ from those of rank 0 make all ranks throw Error(FENIX_ERROR_MISMATCH).
/// Messages and bytes of a rank grow with the logarithm of the ranks.
MeetingValues meet(Team& team, Operation operation, std::uint64_t arguments, std::uint64_t value,
                   const std::function<void()>& local);

/// Runs work that the ranks do together. A rank that runs out of memory in it, where the others do not get to know, tells them:
/// they get Error(FENIX_ERROR_NO_MEMORY) when they next wait, and the team is of no further use.
template <class Work>
decltype(auto) together(Team& team, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    team.withdraw();
  } catch (const std::length_error&) {
    team.withdraw();
  }
  throw Error(out_of_memory());
}

/// Runs work of this rank that no other one waits for.
template <class Work>
decltype(auto) alone(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    throw Error(out_of_memory());
  } catch (const std::length_error&) {
    throw Error(out_of_memory());
  }
}

}  // namespace fenix_impl
