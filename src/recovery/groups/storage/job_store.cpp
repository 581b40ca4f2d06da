// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/job_store.hpp"

#include <algorithm>
#include <exception>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace fenix_impl {

void JobStore::begin() {
  settings_ = StoreSettings::from_environment();
  if (settings_.root.empty()) return;
  keeper_ = std::make_shared<KeeperClient>(
      settings_.keeper, Hello{settings_.root, settings_.rate, settings_.seconds, settings_.kept, settings_.lease});
}

void JobStore::clear() {
  keeper_.reset();
  run_ = {};
  why_off_.clear();
  origin_ = 0;
}

StoreRun JobStore::begin_run() noexcept {
  if (!keeper_ || is_on()) return run_;
  try {
    const RunClient::Begun begun = keeper_->runs().begin([] {});
    run_ = begun.run;
    log().info("store {}: run {}", settings_.root, run_.number);
    if (!begun.warning.empty()) {
      log().warn("FENIX_STORE={}: {}. They can remove datasets; what they put there is not used", settings_.root,
                 begun.warning);
    }
    if (only_reads()) {
      log().warn("FENIX_STORE={} takes no new files: datasets can be read, and nothing will be flushed",
                 settings_.root);
    }
  } catch (const std::exception& error) {
    why_off_ = error.what();
    log().error("FENIX_STORE={} cannot be used, and nothing will be flushed: {}", settings_.root, error.what());
  }
  return run_;
}

void JobStore::adopt_run(const StoreRun& run) {
  run_.merge(run);
  if (!keeper_ || !is_on()) return;
  try {
    keeper_->connection().join(run_);
  } catch (const std::exception& error) {
    log().warn("the store: {}", error.what());
  }
}

std::chrono::milliseconds JobStore::patience() const {
  constexpr int kPart = 4;
  const auto of_others = std::chrono::duration_cast<std::chrono::milliseconds>(Deadline::timeout()) / kPart;
  return std::min<std::chrono::milliseconds>(std::chrono::seconds(settings_.seconds), of_others);
}

KeeperClient& JobStore::keeper() {
  if (!keeper_) throw Error(FENIX_ERROR_STORE, "there is no store: FENIX_STORE is not set");
  if (!is_on()) {
    throw Error(FENIX_ERROR_STORE, "the store " + settings_.root + " could not be used when the job began" +
                                       (why_off_.empty() ? "" : ": " + why_off_));
  }
  return *keeper_;
}

void JobStore::require_writing() {
  (void)keeper();
  if (only_reads()) {
    throw Error(FENIX_ERROR_STORE, "the store " + settings_.root + " took no new files when the job began");
  }
}

void JobStore::note_origin(std::uint32_t run) { origin_ = std::max(origin_, run); }

}  // namespace fenix_impl
