// SPDX-License-Identifier: BSD-3-Clause
// Stand-ins for requests. A stand-in is a persistent request of MPI that does nothing: it is started when the message is there, and the
// program's call that completes it gets the status of the message.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "interposition/collective.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/message_calls.hpp"
#include "mpi/base/real.hpp"

namespace fenix_impl {

/// Stand-ins, and messages that were matched and not received yet.
[[gnu::visibility("hidden")]] extern std::atomic<int> stand_ins;

/// Whether calls that complete requests have to look at stand-ins, or are logged.
inline bool has_stand_ins() {
  return stand_ins.load(std::memory_order_acquire) != 0 || logs_messages.load(std::memory_order_acquire);
}

/// Makes MPI's persistent request for a collective operation.
using InitFunction = int(const Collective& call, MPI_Info info, MPI_Request* request);

/// A logged receive among those that have begun.
struct QueuedReceive {
  LoggedReceive receive;
  LoggedReceive wanted;      ///< as the program wants it
  std::uint64_t order = 0;   ///< among logged receives
  unsigned begun_after = 0;  ///< repairs, when it began
};

struct StandIn {
  enum class Kind {
    send,
    receive,
    logged_send,   ///< is logged each time when it is started, and MPI sends it from the program's buffer
    started_send,  ///< is logged, and MPI sends it from the program's buffer
    logged_receive,
    collective,
    logged_collective
  } kind = Kind::receive;
  enum class State { inactive, pending, done } state = State::inactive;
  bool is_used_once = false;
  bool is_cancelled = false;
  bool is_freed = false;  // by the program, which has no request any more
  int error = MPI_SUCCESS;
  ReceiveCall receive;
  Send send;
  QueuedReceive queued;
  MPI_Request inner = MPI_REQUEST_NULL;  // of a logged message, or of a collective operation that MPI executes
  unsigned repairs = 0;                  // before the inner request of a logged message was made
  std::uint64_t sent = 0;                // number of a synchronous message in the log; otherwise 0
  Collective collective;
  InitFunction* init = nullptr;  // makes the inner request of a collective operation
  MPI_Status status{};
};
// Copies of them are in frames that control may leave by longjmp.
static_assert(std::is_trivially_destructible_v<StandIn>);

inline bool is_logged_message(const StandIn& stand_in) {
  using Kind = StandIn::Kind;
  return stand_in.kind == Kind::logged_receive || stand_in.kind == Kind::logged_collective;
}

inline bool is_send_of_mpi(const StandIn& stand_in) {
  return stand_in.kind == StandIn::Kind::started_send || stand_in.kind == StandIn::Kind::logged_send;
}

struct StandInTable {
  std::mutex mutex;
  std::unordered_map<MPI_Request, StandIn> requests;
  std::size_t messages = 0;                        ///< matched ones
  std::size_t freed = 0;                           ///< stand-ins that the program has freed
  std::map<std::uint64_t, MPI_Request> unmatched;  ///< receives that have begun and have no number, by their order
  std::vector<MPI_Request> unused;                 ///< made by make_request, for later ones
  static constexpr std::size_t kMostUnused = 256;
};

[[nodiscard]] StandInTable& stand_in_table();
/// Returns a lock under which the table is used: one that is not taken if calls of several threads cannot overlap.
[[nodiscard]] inline std::unique_lock<std::mutex> lock_stand_ins() {
  std::mutex& mutex = stand_in_table().mutex;
  return calls_may_overlap() ? std::unique_lock(mutex) : std::unique_lock(mutex, std::defer_lock);
}
/// Tells has_stand_ins() of a change. The table is locked.
void count_stand_ins();
[[nodiscard]] std::optional<StandIn> find_stand_in(MPI_Request request);
/// Whether a request is a stand-in whose message has not come.
[[nodiscard]] bool is_pending(MPI_Request request);
void add_stand_in(MPI_Request request, const StandIn& stand_in);
/// Has MPI complete the request of a stand-in. If the program has freed it, the stand-in goes.
void set_done(MPI_Request request, int error, const MPI_Status& status);
/// Whether a stand-in may still need a type of the program. The table is locked.
[[nodiscard]] bool uses_type_in_stand_ins(MPI_Datatype type);
/// Whether a reduction that is under way needs an operation. The table is locked.
[[nodiscard]] bool uses_operation_in_stand_ins(MPI_Op op);
/// Makes a request that can be started later.
[[nodiscard]] int make_request(MPI_Request* request);
/// Makes a request that is complete, with a status.
int add_done_stand_in(const MPI_Status& status, MPI_Request* request);
/// Makes a request that MPI's library for Fortran takes for one of a collective operation.
[[nodiscard]] int make_idle_collective(MPI_Request* request);

}  // namespace fenix_impl
