// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/release.hpp"

#include "core/steps/adoption.hpp"

namespace fenix_impl {

void Release::detach() {
  data_.requests.cancel();
  Control& control = data_.log.memory().control();
  // Memory that was kept before stays if the group has not worked since: then it is what counts.
  if (data_.state == GroupState::working) {
    data_.state = GroupState::complete;
    if (control.remote) data_.inherited.orphaned = Adoption(data_.context).keep();
  }
  data_.attachment.drop_protection();
  control.remote.reset();
  if (data_.archive) data_.archive->detach();
  for (const auto& member : data_.members) member->detach();
  data_.attachment.detach();
}

void Release::forget_snapshots() {
  data_.log.clear();
  for (const auto& member : data_.members) (void)member->release_memory();
}

void Release::mark_deleted() {
  data_.requests.cancel();
  if (CollectiveEncoder* const encoder = data_.attachment.protection().encoder()) encoder->leave();
  for (const auto& member : data_.members) (void)member->release_memory();
  data_.members.clear();
  data_.log.forget_records();
  data_.archive.reset();
  data_.state = GroupState::deleted;
}

void Release::give_back_all() {
  mark_deleted();
  data_.attachment.drop_protection();
  data_.log.memory().control().remote.reset();
  data_.attachment.path().give_back(data_.attachment.team());
}

}  // namespace fenix_impl
