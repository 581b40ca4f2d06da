// SPDX-License-Identifier: BSD-3-Clause
// Which datasets make room for newer ones.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "store/store.hpp"

namespace fenix_impl {

class Pruning {
 public:
  /// So many flushes of a run that have failed stay until a newer one is whole: the latest may be under way.
  static constexpr std::size_t kMostAttempts = 2;

  struct Rule {
    std::int32_t group = 0;
    std::uint32_t run = 0;               ///< that asks for it
    std::uint32_t kept = 0;              ///< newest whole datasets that stay; 0: all
    std::vector<DatasetName> under_way;  ///< datasets that are being written, and stay
    bool is_of_user = false;             ///< no run asks for it: all incomplete ones that are older than a whole one go
    DatasetName newly_whole{};  ///< the one that makes the others go; it may have an older time stamp, and stays
  };

  /// Removes datasets of a group, as docs/store.md says: whole ones without a name beyond the newest few, unless the user has chosen
  /// them, and incomplete ones whose flush has failed. Others stay: only the user removes them. A dataset that cannot be removed keeps no
  /// other one from it. Throws StoreError for the folder of the store.
  void run(Store& store, const Rule& rule);

 private:
  void remove(Store& store, const DatasetName& name);

  std::map<DatasetName, bool> whole_;  // as an earlier look has said, and whether it had a name then
};

}  // namespace fenix_impl
