// SPDX-License-Identifier: BSD-3-Clause
// The settings of the store, from the environment.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace fenix_impl {

struct StoreSettings {
  std::string root;            ///< FENIX_STORE, as an absolute path; empty: no store
  bool fetches = true;         ///< FENIX_FETCH is not "off"
  int every = 0;               ///< FENIX_FLUSH: each n-th commit is flushed; 0: only on request
  std::uint64_t rate = 0;      ///< FENIX_FLUSH_RATE: bytes per second of a node; 0: no limit
  std::uint32_t seconds = 60;  ///< FENIX_FLUSH_TIMEOUT
  std::uint32_t kept = 0;      ///< FENIX_STORE_KEEP: complete datasets of a group; 0: all
  std::uint32_t lease = 0;     ///< FENIX_KEEP: seconds for which memory is kept when all ranks have died; 0: it is not
  bool drains = false;         ///< FENIX_DRAIN is on: this job only writes what the keepers have
  std::int64_t end_time = 0;   ///< FENIX_END_TIME, or SLURM_JOB_END_TIME: seconds since 1970; 0: not known
  std::uint32_t halt_seconds = 60;  ///< FENIX_HALT_SECONDS: before it
  std::string keeper;               ///< path of fenix-keeper

  /// Reads them. One that is not allowed counts as the default. Touches no file system but that of the library.
  [[nodiscard]] static StoreSettings from_environment();
};

}  // namespace fenix_impl
