// SPDX-License-Identifier: BSD-3-Clause
// The store of this job: its settings, the keeper of the node, and the run. Switched on by FENIX_STORE.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "keeper/client/client.hpp"
#include "recovery/groups/storage/store_settings.hpp"
#include "store/store_run.hpp"

namespace fenix_impl {

class JobStore {
 public:
  /// Begins a use of Fenix: reads the settings.
  void begin();
  /// Ends the use.
  void clear();
  /// Begins a run, on one rank of the job. Its number is 0 if there is no store, or it cannot be used.
  [[nodiscard]] StoreRun begin_run() noexcept;
  /// Takes over what another rank knows.
  void adopt_run(const StoreRun& run);

  [[nodiscard]] const StoreSettings& settings() const { return settings_; }
  [[nodiscard]] const StoreRun& as_known() const { return run_; }
  [[nodiscard]] std::uint32_t run() const { return run_.number; }
  [[nodiscard]] bool is_on() const { return run_.is_on(); }
  /// Whether the store takes no new files.
  [[nodiscard]] bool only_reads() const { return run_.only_reads != 0; }
  /// Whether this job is only to write what the keepers have.
  [[nodiscard]] bool drains() const { return settings_.drains; }
  /// Whether memory is kept for the next job.
  [[nodiscard]] bool keeps_memory() const { return settings_.lease != 0 && !only_reads(); }
  /// Returns how long a store or a commit waits for a flush: other ranks may wait for this one meanwhile.
  [[nodiscard]] std::chrono::milliseconds patience() const;

  /// Returns the keeper of this node. Throws Error(FENIX_ERROR_STORE) without a store.
  [[nodiscard]] KeeperClient& keeper();
  /// Returns it, also if the store cannot be used; null if FENIX_STORE is not set.
  [[nodiscard]] const std::shared_ptr<KeeperClient>& keeper_if_any() const { return keeper_; }
  /// Throws Error(FENIX_ERROR_STORE) if this run can write nothing.
  void require_writing();

  /// Returns the run whose data this one has begun with, or 0.
  [[nodiscard]] std::uint32_t origin() const { return origin_; }
  void note_origin(std::uint32_t run);

 private:
  StoreSettings settings_;
  std::shared_ptr<KeeperClient> keeper_;
  StoreRun run_;
  std::string why_off_;  ///< reason why the store could not be used
  std::uint32_t origin_ = 0;
};

}  // namespace fenix_impl
