// SPDX-License-Identifier: BSD-3-Clause
// The job, as all parts of a use of SCR know it: its ranks, its settings, and where its datasets are.
#pragma once

#include <fenix.h>

#include <cstdint>
#include <string>

#include "scr/index.hpp"
#include "scr/prefix.hpp"
#include "scr/ranks.hpp"
#include "scr/saying.hpp"
#include "scr/settings/settings.hpp"

namespace scr_impl {

/// Numbers of datasets and of checkpoints.
struct DatasetNumbers {
  std::uint64_t datasets = 0;        ///< the latest one
  std::uint64_t checkpoints = 0;     ///< the latest one
  std::uint64_t known_datasets = 0;  ///< the largest one in the prefix folder
  std::uint64_t known_checkpoints = 0;
};

struct Job {
  Settings settings;
  Prefix prefix;
  Index index;
  DatasetNumbers numbers;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm* repaired = nullptr;  ///< the program's place for the resilient communicator, or null
  bool is_formed = false;        ///< the group is there; false as soon as a rank has died
  bool is_broken = false;        ///< a rank has died, and the program does not repair itself

  [[nodiscard]] bool is_first() const { return rank_of(comm) == 0; }
  /// Says something if SCR_DEBUG is set. Returns false.
  bool tell(const std::string& why) const;
  /// Says it once, on rank 0. Returns false.
  bool refuse_together(const std::string& why) const;
  /// Says why a call of Fenix has failed. A program that repairs itself expects it, after a death. Returns false.
  bool fail(const std::string& what) const;
};

}  // namespace scr_impl
