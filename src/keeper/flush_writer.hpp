// SPDX-License-Identifier: BSD-3-Clause
// The writer of the keeper: a thread that writes parts of datasets, completes datasets, and removes old ones.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "keeper/flush_job.hpp"
#include "keeper/keeper_thread.hpp"
#include "keeper/message.hpp"
#include "keeper/writes_under_way.hpp"
#include "store/dataset_name.hpp"
#include "store/file_system.hpp"
#include "store/pruning.hpp"

namespace fenix_impl {

class FlushWriter {
 public:
  explicit FlushWriter(FileSystem& files) : files_(files) {}
  FlushWriter(const FlushWriter&) = delete;
  FlushWriter& operator=(const FlushWriter&) = delete;

  /// when_done: called in the thread after each piece of work.
  void start(std::function<void()> when_done) { thread_.start(std::move(when_done)); }
  /// Ends the thread when its work is done. It must not be stuck.
  void stop() { thread_.stop(); }

  /// Has a job written. settings: of the job that began last.
  void submit(const std::shared_ptr<FlushJob>& job, const Hello& settings);
  /// Looks at datasets again that are not complete. Returns whether the thread has not moved for so long.
  [[nodiscard]] bool look_again(std::chrono::seconds limit);
  /// Whether there are datasets of which the own part is there, and the manifest is not.
  [[nodiscard]] bool has_unfinished() const { return unfinished_count_ > 0; }
  [[nodiscard]] WritesUnderWay& under_way() { return under_way_; }

 private:
  /// A dataset of which the own part is there, and the manifest is not.
  struct Unfinished {
    DatasetPlan plan;
    Hello settings;
    KeeperThread::Clock::time_point since;
    std::optional<std::uint64_t> bytes{};  ///< of its files, some time ago
  };

  // In the thread.
  void write(FlushJob& job, const Hello& settings);
  [[nodiscard]] bool write_data(FlushJob& job, const Hello& settings);
  void give_up(FlushJob& job, const Hello& settings, KeeperCode code, const std::string& why);
  void finish_datasets();
  enum class End { none, whole, given_up };
  [[nodiscard]] End end_of(Unfinished& dataset);
  [[nodiscard]] bool is_given_up(Unfinished& dataset);
  /// Returns how long a dataset waits for the parts of other nodes, as long as it does not grow.
  [[nodiscard]] KeeperThread::Clock::duration patience_with(const Unfinished& dataset) const;
  /// under_way: datasets that stay. newly_whole: the one for which the others go, if there is one.
  void make_room(const DatasetPlan& plan, const Hello& settings, std::vector<DatasetName> under_way,
                 const DatasetName& newly_whole = {});
  [[nodiscard]] std::vector<DatasetName> all_under_way();
  [[nodiscard]] std::vector<DatasetName> all_under_way_but(const DatasetName& name);

  FileSystem& files_;
  std::deque<Unfinished> unfinished_;  ///< datasets, of the thread
  std::atomic<std::size_t> unfinished_count_{0};
  KeeperThread::Clock::time_point latest_look_;  ///< at them
  KeeperThread thread_;
  WritesUnderWay under_way_;
  Pruning pruning_;  ///< of the thread
};

}  // namespace fenix_impl
