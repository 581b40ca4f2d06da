// SPDX-License-Identifier: BSD-3-Clause
#include "core/state/attachment.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "core/common/waiting.hpp"
#include "core/protection/make_protection.hpp"

namespace fenix_impl {

Wait Attachment::waiting() const {
  return [this](const char* waited_for, const std::function<bool()>& ready) { wait_until(team(), waited_for, ready); };
}

void Attachment::attach(std::shared_ptr<Team> team, std::shared_ptr<Path> path, std::vector<int> order,
                        bool memory_is_real, Control& control) {
  // First: this may lack memory, and size and placement must fit each other.
  Placement placement(parameters_.policy, team->size(), std::move(order));
  ranks_ = {team->size(), team->rank(), std::move(placement), memory_is_real};
  team_ = std::move(team);
  path_ = std::move(path);
  protection_ = make_protection({parameters_, ranks_.placement, control, *path_, ranks_.rank});
}

void Attachment::detach() {
  protection_.reset();
  team_.reset();
  path_.reset();
}

Attachment::Arrangement Attachment::rearrange(std::vector<int> order, Control& control) {
  Arrangement before{std::move(ranks_.placement), std::move(protection_)};
  try {
    ranks_.placement = Placement(parameters_.policy, ranks_.size, std::move(order));
    protection_ = make_protection({parameters_, ranks_.placement, control, *path_, ranks_.rank});
  } catch (...) {
    restore(std::move(before));
    throw;
  }
  return before;
}

void Attachment::restore(Arrangement before) {
  std::swap(ranks_.placement, before.placement);
  protection_ = std::move(before.protection);
}

void Attachment::look_for_failures() const {
  if (!team_) return;
  try {
    team_->check();
  } catch (const Error& error) {
    log().debug("group {}: looking for failures: {}", parameters_.id, error.what());
  }
}

}  // namespace fenix_impl
