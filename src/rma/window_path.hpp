// SPDX-License-Identifier: BSD-3-Clause
// Portable: regions are MPI windows, reached by request-based MPI_Rput and MPI_Rget that are polled.
//
// What Open MPI makes of windows when ranks die decides how this is written: tests/open_mpi/README.md.
#pragma once

#include <cstdint>
#include <memory>

#include "rma/exposures.hpp"
#include "rma/mpi_team.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

class WindowPath final : public Path {
 public:
  /// For this team, which must outlive the path.
  explicit WindowPath(MpiTeam& team) : team_(team) {}

  [[nodiscard]] std::string_view name() const override { return "window"; }
  [[nodiscard]] bool puts_are_copies(int) const override { return false; }
  bool make_progress() override;
  /// team: that of the path.
  std::unique_ptr<RemoteRegions> expose(Team& team, const Region& region) override;
  [[nodiscard]] bool has_kept_memory() const override { return exposures_->some_are_closed(); }
  void give_back(Team& team) override;

 private:
  MpiTeam& team_;
  std::shared_ptr<Exposures> exposures_ = std::make_shared<Exposures>();
  std::uint32_t made_ = 0;
};

}  // namespace fenix_impl
