// SPDX-License-Identifier: BSD-3-Clause
// The regions that this rank has exposed to a team by a path whose transfers the target cannot see: they are kept until all ranks
// have agreed that they use them no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "rma/region.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Regions by number. A number stands for the regions of all ranks that were exposed together. Regions that are left at the
/// end are kept as RegionHold says: others may not be ready with them.
class Exposures {
 public:
  /// Whether all transfers of this rank toward the regions of that number have been carried out, none of them twice.
  using IsOver = std::function<bool(std::uint32_t number)>;

  /// Local: notes a region under a number that all ranks have for it. Throws std::bad_alloc.
  void add(std::uint32_t number, const Region& region);
  /// Local: this rank begins no more transfers toward the regions of that number.
  void close(std::uint32_t number) noexcept;
  /// Local: gives back what no rank has ever tried to reach.
  void forget(std::uint32_t number) noexcept;
  /// Local: whether there is something that this rank does not use any more.
  [[nodiscard]] bool some_are_closed() const { return closed_ > 0; }
  /// Collective: gives back what all ranks have closed. drop takes the right to access a region from others. Regions for which
  /// all is over on all ranks may be unmapped.
  void give_back(Team& team, const IsOver& is_over, const std::function<void(std::uint32_t number)>& drop);

 private:
  struct Exposed {
    RegionHold hold;
    bool closed = false;
  };

  std::map<std::uint32_t, Exposed> exposed_;
  std::size_t closed_ = 0;
};

}  // namespace fenix_impl
