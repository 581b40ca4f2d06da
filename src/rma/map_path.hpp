// SPDX-License-Identifier: BSD-3-Clause
// Same node: peers' regions are mapped, and reached by loads and stores. Cannot block on a dead peer.
#pragma once

#include "rma/path.hpp"

namespace fenix_impl {

class MapPath final : public Path {
 public:
  [[nodiscard]] std::string_view name() const override { return "map"; }
  [[nodiscard]] bool may_touch_regions_later() const override { return false; }
  [[nodiscard]] bool puts_are_copies() const override { return true; }
  std::unique_ptr<Exposure> expose(Team& team, const Region& region) override;
};

}  // namespace fenix_impl
