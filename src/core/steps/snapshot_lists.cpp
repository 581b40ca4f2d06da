// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/snapshot_lists.hpp"

#include "core/common/meeting.hpp"
#include "core/steps/snapshot_epochs.hpp"

namespace fenix_impl {

std::vector<int> SnapshotLists::newest_first(std::span<const Epoch> epochs) const {
  std::vector<int> time_stamps;
  for (auto epoch = epochs.rbegin(); epoch != epochs.rend(); ++epoch) {
    time_stamps.push_back(context_.parameters.time_stamp_of(*epoch));
  }
  return time_stamps;
}

std::vector<int> SnapshotLists::own() const {
  if (!context_.log.records().empty()) return newest_first(context_.log.own_snapshots());
  return newest_first(archived());
}

std::span<const Epoch> SnapshotLists::archived() const {
  if (stored_) return stored_->epochs();
  return archive_ ? std::span(archive_->epochs()) : std::span<const Epoch>();
}

std::vector<int> SnapshotLists::on_all() const {
  CommitLog& log = context_.log;
  if (log.records().empty()) return own();
  std::vector<int> time_stamps;
  context_.reclaimer.find_commits();
  // Looked up once: it may move on at any time.
  const Epoch newest = log.known_on_all();
  for (auto logged = log.records().rbegin(); logged != log.records().rend(); ++logged) {
    const Record& record = logged->record;
    const bool is_enough = time_stamps.size() == context_.parameters.kept_snapshots();
    if (record.epoch > newest || record.deleted || is_enough) continue;
    time_stamps.push_back(record.time_stamp);
  }
  return time_stamps;
}

std::size_t SnapshotLists::count(const std::function<void()>& check) {
  return together(context_.team(), [&] {
    const bool has_archive = stored_ || (archive_ && archive_->attached());
    const bool only_archived = has_archive && context_.log.records().empty();
    const auto said = meet(context_.team(), Operation::snapshots, 0, only_archived ? 1 : 0, [&] {
      (void)context_.log.mend_own();
      check();
    });
    // Until the new communicator has data of its own, what was put aside counts.
    if (said.bits != 0 && has_archive) {
      counted_ = newest_first(archived());
    } else {
      const auto now = consistent_now(context_);
      counted_ = newest_first(now.epochs);
    }
    return counted_->size();
  });
}

}  // namespace fenix_impl
