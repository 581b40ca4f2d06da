// SPDX-License-Identifier: BSD-3-Clause
// The functions of this library that libfenix calls.
#include "interposition/interposer.hpp"

#include "mpi/base/derived.hpp"
#include "mpi/base/error_handlers.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/outgoing.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/unlogged.hpp"
#include "mpi/comms/rebuilding.hpp"
#include "mpi/logged/meeting.hpp"
#include "mpi/logged/open_calls.hpp"

namespace fenix_impl {
namespace {

/// Has MPI promise only tags that are not those of the library. The attribute is MPI's own memory, in C and in Fortran.
void limit_tags() {
  int* greatest = nullptr;
  int there = 0;
  const int error = PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&greatest), &there);
  if (error == MPI_SUCCESS && there != 0 && *greatest >= kFirstInternalTag) *greatest = kFirstInternalTag - 1;
}

void start(const InterposerServices* services, MPI_Comm name, MPI_Comm resilient) {
  limit_tags();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.services = services;
  all.derived.clear();
  ++all.removals;
  all.root = {};
  all.root.construction.id = 1;
  all.root.slot.id = 1;
  all.root.name = name != MPI_COMM_NULL ? name : resilient;
  all.root.now = resilient;
  all.publish();
}

MPI_Comm name() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.root.name;
}

bool is_stale(MPI_Comm comm) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.stale.count(comm) > 0;
}

/// Open MPI raises errors of requests of MPI_Comm_idup on MPI_COMM_WORLD.
bool gets_stale_errors(MPI_Comm comm) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return comm == MPI_COMM_WORLD && all.has_cut_duplicates;
}

void note_stale(MPI_Comm comm) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.stale.insert(comm);
}

MPI_Comm now_of(MPI_Comm comm) { return now(comm); }

/// libfenix asks when a failure has been found.
bool goes_on_after_failure() {
  end_job_with_unlogged_calls();
  return goes_on();
}

bool must_go_on() { return is_transparent.load(std::memory_order_acquire); }

constexpr Interposer kInterposer = {
    .version = kInterfaceVersion,
    .real = &real,
    .is_in_front = is_in_front,
    .start = start,
    .rebuild = rebuild_derived,
    .adopt = adopt_derived,
    .now = now_of,
    .name = name,
    .is_stale = is_stale,
    .gets_stale_errors = gets_stale_errors,
    .note_stale = note_stale,
    .call_handler = call_kept_handler,
    .goes_on = goes_on_after_failure,
    .must_go_on = must_go_on,
    .number_of = number_of,
    .set_log = set_log,
    .forget_calls = forget_logged_calls,
    .send_later = send_later,
    .send_what_waits = send_what_waits,
    .greatest_of_all = greatest_of_all,
    .count_messages = count_messages,
    .has_open_calls = has_open_calls,
};

}  // namespace
}  // namespace fenix_impl

extern "C" const fenix_impl::Interposer* fenix_mpi_interposer() { return &fenix_impl::kInterposer; }
