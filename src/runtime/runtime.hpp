// SPDX-License-Identifier: BSD-3-Clause
// The one object that owns everything: communicators, groups, settings, callbacks.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "base/error.hpp"
#include "core/group.hpp"
#include "interposition/interposer.hpp"
#include "recovery/process/process.hpp"
#include "runtime/call_gate.hpp"
#include "runtime/call_guards.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/recovery.hpp"
#include "runtime/settings.hpp"
#include "runtime/subsystems.hpp"
#include "runtime/use_state.hpp"

namespace fenix_impl {

class Runtime {
 public:
  using Inside = fenix_impl::Inside;
  using RepeatedCall = fenix_impl::RepeatedCall;

  Settings settings;                                  ///< of this use of Fenix; before it, those of the next one
  const PersistServices* persist_services = nullptr;  ///< for libfenix_mpi; set before Lifecycle::start()

  Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] const UseState& use() const { return use_; }
  /// Ends the use of Fenix in a child of fork(), before that does anything. Local.
  void give_up_in_child() noexcept;
  /// Throws as Settings::set does, and if there is no place to jump to.
  void set_option(int setting, unsigned option);

  [[nodiscard]] Lifecycle& lifecycle() { return lifecycle_; }
  [[nodiscard]] const Process& process() const { return *process_; }

  [[nodiscard]] CallGate& gate() { return recovery_.gate; }
  [[nodiscard]] const RecoveryPolicy& policy() const { return recovery_.policy; }
  [[nodiscard]] const FailureDetector& detector() const { return recovery_.detector; }
  [[nodiscard]] OutputPlaces& outputs() { return recovery_.outputs; }
  [[nodiscard]] Continuation& continuation() { return recovery_.continuation; }
  [[nodiscard]] FailureHandler& failures() { return recovery_.failures; }

  [[nodiscard]] Callbacks& callbacks() { return subsystems_.callbacks; }
  [[nodiscard]] Attachments& attachments() { return subsystems_.attachments; }
  [[nodiscard]] TeamFactory& teams() { return subsystems_.teams; }
  [[nodiscard]] Persistence& persistence() { return subsystems_.persistence; }
  [[nodiscard]] RegionLogs& region_logs() { return subsystems_.region_logs; }
  [[nodiscard]] Checkpoints& checkpoints() { return subsystems_.checkpoints; }
  [[nodiscard]] GroupRegistry& groups() { return subsystems_.groups; }
  [[nodiscard]] Storage& storage() { return subsystems_.storage; }
  [[nodiscard]] RequestTable& requests() { return subsystems_.requests; }

  [[nodiscard]] bool has_group(int group_id) {
    know(group_id);
    return groups().has(group_id);
  }
  [[nodiscard]] Group& group(int group_id) {
    know(group_id);
    return groups().at(group_id);
  }
  [[nodiscard]] Group& attached_group(int group_id) {
    know(group_id);
    return groups().attached(group_id);
  }
  /// Returns an attached group for collective calls: creates FENIX_DATA_GROUP_WORLD_ID if need be.
  [[nodiscard]] Group& working_group(int group_id);
  /// Tells the others that the call of this thread has run out of memory: they may wait for it, if it has asked for a
  /// working group.
  void withdraw_from_call() const noexcept;
  /// Removes what is not on all ranks: Fenix_Data_barrier.
  void make_consistent(int group_id);

 private:
  // FENIX_DATA_GROUP_WORLD_ID exists from Fenix_Init on.
  void know(int group_id) {
    if (group_id == FENIX_DATA_GROUP_WORLD_ID) groups().know_world();
  }

  UseState use_;
  std::optional<Process> process_{std::in_place};  // one for each use of Fenix
  Subsystems subsystems_{*process_};
  Recovery recovery_{settings, use_, *process_, subsystems_};
  Lifecycle lifecycle_;
};

/// The last error that a public function returned in this thread.
struct LastError {
  std::string text;
  Place place;
};
LastError& last_error();

/// Returns the library's only mutable global, apart from that text. It is never destroyed: MPI may call back while the
/// process exits.
Runtime& runtime();

}  // namespace fenix_impl
