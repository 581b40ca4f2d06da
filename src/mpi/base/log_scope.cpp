// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/base/log_scope.hpp"

#include <array>
#include <cstddef>
#include <mutex>

#include "mpi/base/derived.hpp"
#include "mpi/base/error_handlers.hpp"
#include "mpi/base/outgoing.hpp"

namespace fenix_impl {

constinit std::atomic<MPI_Comm> comm_of_log{nullptr};

namespace {

// The library is there from the start of the process.
[[gnu::tls_model("initial-exec")]] thread_local int depth_of_calls = 0;

std::uint64_t comm_id_of_log = 0;

}  // namespace

RepeatableCall::RepeatableCall() {
  ++depth_of_calls;
  if (has_messages_for_later()) start_what_waits();
}

RepeatableCall::~RepeatableCall() { --depth_of_calls; }

void send_what_waits() {
  // Its begin does so.
  const RepeatableCall call;
}

void wait_for_sent_messages() {
  const RepeatableCall call;
  complete_copies();
}

int refuse_tag(MPI_Comm comm) {
  return refuse_call(comm, MPI_ERR_TAG, "tags from 0x40000000 on are those of the library where messages are logged");
}

// Each message asks several times, and a program may use several communicators in turn.
std::uint64_t number_of(MPI_Comm comm) {
  struct Known {
    MPI_Comm comm = nullptr;
    unsigned removals = 0;
    std::uint64_t number = 0;
  };
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
  constexpr unsigned kBits = 7;
  [[gnu::tls_model("initial-exec")]] static thread_local std::array<Known, std::size_t{1} << kBits> all_known;
  Known& known = all_known[(reinterpret_cast<std::uintptr_t>(comm) * kGoldenRatio) >> (64U - kBits)];
  Registry& all = registry();
  const unsigned removals = all.removals.load(std::memory_order_acquire);
  if (known.comm == comm && known.removals == removals && known.number != 0) return known.number;
  const std::lock_guard lock(all.mutex);
  const Derived* found = all.find(comm);
  // The id of the resilient communicator is 0.
  known = {comm, removals, found != nullptr ? found->id() + 1 : 0};
  return known.number;
}

std::uint64_t comm_id_of(MPI_Comm comm) {
  return logs_messages.load(std::memory_order_acquire) ? number_of(comm) : comm_id_of_log;
}

void set_log(MPI_Comm comm, std::uint64_t comm_id) {
  change_services_generation();
  if (comm_id != 0) use_services_of_logs();
  comm_id_of_log = comm_id;
  comm_of_log.store(comm_id != 0 ? comm : nullptr, std::memory_order_release);
}

bool repeats_calls() { return is_transparent.load(std::memory_order_acquire) || libfenix().repeats_calls(); }

int leave_logged(int error) {
  if (tells_of_failure(error) && !repeats_calls() && depth_of_calls == 0) libfenix().leave_call(error);
  return error;
}

bool has_log(MPI_Comm comm) { return number_of(comm) != 0; }

bool goes_on() { return depth_of_calls > 0; }

}  // namespace fenix_impl
