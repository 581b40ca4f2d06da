// SPDX-License-Identifier: BSD-3-Clause
// The beginning of a collective call: all ranks meet, compare their operation and arguments, and go on together or not
// at all.
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// The subject of a meeting. Ranks that meet over different subjects have made different collective calls.
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
  restore_written,
  snapshots,
  journal_memory,
  journal_attach,
  journal_taken,
  journal_protected,
  flush,
  flushed,
  fetch,
  fetched,
  restart_done,
  need_commit,
  should_halt,
  checkpoint_begin,
};

/// The values that the ranks have brought, merged.
struct MeetingValues {
  std::uint64_t least = 0;  ///< least value, as a number
  std::uint64_t bits = 0;   ///< bits that some rank has set
};

/// Meets with all ranks of the team. Collective. local runs first. If it throws an Error or std::bad_alloc on some
/// rank, all ranks throw. That rank throws the error itself, the others one with the number of the first rank that failed.
/// arguments is a hash of what must be the same on all ranks that bring one. If operation or arguments differ from those of rank 0 on
/// some rank, all ranks throw Error(FENIX_ERROR_MISMATCH). Messages and bytes of a rank grow with the logarithm of the
/// ranks.
MeetingValues meet(Team& team, Operation operation, std::optional<std::uint64_t> arguments, std::uint64_t value,
                   const std::function<void()>& local);

/// Runs work that the ranks do together. If this rank runs out of memory where the others do not get to know, it tells
/// them: they get Error(FENIX_ERROR_NO_MEMORY) when they next wait, and the team is of no further use.
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

/// Runs work of this rank for which no other rank waits.
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
