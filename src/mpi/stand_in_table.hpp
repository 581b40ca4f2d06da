// SPDX-License-Identifier: BSD-3-Clause
// The table of stand-ins, for the files that make and complete them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "mpi/real.hpp"
#include "mpi/stand_ins.hpp"

namespace fenix_impl {

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
  Receive receive;
  Send send;
  LoggedReceive logged;
  LoggedReceive wanted;                  // a logged receive as the program wants it
  MPI_Request inner = MPI_REQUEST_NULL;  // of a logged message, or of a collective operation that MPI executes
  unsigned repairs = 0;                  // before the inner request of a logged message was made
  std::uint64_t order = 0;               // of logged receives
  unsigned begun_after = 0;              // repairs, when a logged receive began
  Collective collective;
  InitFunction* init = nullptr;  // makes the inner request of a collective operation
  MPI_Status status{};
};
// Copies of them are in frames that control may leave by longjmp.
static_assert(std::is_trivially_destructible_v<StandIn>);

inline bool is_send_of_mpi(const StandIn& stand_in) {
  return stand_in.kind == StandIn::Kind::started_send || stand_in.kind == StandIn::Kind::logged_send;
}

struct StandInTable {
  std::mutex mutex;
  std::unordered_map<MPI_Request, StandIn> requests;
  std::size_t messages = 0;                        ///< matched ones
  std::size_t freed = 0;                           ///< stand-ins of which the program has let go
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
/// Has MPI complete the request of a stand-in. If the program has let go of it, the stand-in goes.
void set_done(MPI_Request request, int error, const MPI_Status& status);
/// Makes a request that can be started later.
[[nodiscard]] int make_request(MPI_Request* request);
/// Looks whether the message of a stand-in is there.
void look_for(MPI_Request request);
/// Waits for the message of a stand-in, with looks at failures and a deadline.
void wait_for(MPI_Request request);

}  // namespace fenix_impl
