// SPDX-License-Identifier: BSD-3-Clause
// The memory of groups on the ranks of this node, all of it: when all ranks have died, the ranks of the next job go on with it as it is.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/descriptor.hpp"
#include "keeper/flush_job.hpp"
#include "keeper/message.hpp"

namespace fenix_impl {

class KeptGroups {
 public:
  struct Kept {
    KeptGroupOf of;
    std::weak_ptr<const KeeperPeer> user;  ///< the rank that has left it, or the latest one that has got it
    std::uint32_t run_of_user = 0;
    Descriptor description;  ///< the keeper does not look into it
    std::vector<Descriptor> regions;
  };

  /// Takes the place of what there was of the rank, and of older memory of the group that nobody uses.
  void keep(Kept kept);
  /// Forgets a group on a rank.
  void drop(const KeptGroupOf& of);
  /// Forgets what a run and those before it have left.
  void forget_until(std::uint32_t run);
  void clear() { kept_.clear(); }

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] std::vector<KeptGroupOf> all() const;
  /// Returns the latest that there is of a rank in a group of so many, or null.
  [[nodiscard]] Kept* find(const KeptSearch& search);
  /// Whether another process may still write to the memory, or to other memory that its run has left here. Ranks of the run that asks do
  /// not count, except for the one that has this memory.
  [[nodiscard]] bool is_in_use(const Kept& kept, const KeeperPeer& asking, std::uint32_t asking_run) const;

 private:
  std::deque<Kept> kept_;
};

}  // namespace fenix_impl
