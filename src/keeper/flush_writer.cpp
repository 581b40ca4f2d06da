// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/flush_writer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <string>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "keeper/growth_watch.hpp"
#include "keeper/pace.hpp"
#include "store/run_log.hpp"
#include "store/store.hpp"

namespace fenix_impl {

void FlushWriter::submit(const std::shared_ptr<FlushJob>& job, const Hello& settings) {
  job->is_submitted = true;
  under_way_.begin(job->plan().name);
  thread_.submit([this, job, settings] {
    write(*job, settings);
    under_way_.end(job->plan().name);
  });
}

bool FlushWriter::look_again(std::chrono::seconds limit) {
  const bool is_stuck = thread_.is_stuck(limit);
  under_way_.note_stuck(is_stuck);
  // Each look ends with a call that wakes this thread: without a pause, one would follow the other.
  constexpr std::chrono::milliseconds kBetweenLooks{250};
  const auto now = KeeperThread::Clock::now();
  if (unfinished_count_ > 0 && !thread_.is_busy() && now - latest_look_ >= kBetweenLooks) {
    latest_look_ = now;
    thread_.submit([this] { finish_datasets(); });
  }
  return is_stuck;
}

void FlushWriter::write(FlushJob& job, const Hello& settings) {
  fault_point("flush.begin");
  try {
    if (job.is_of_ranks() && Store(files_, settings.root).has_successor(job.plan().name.run)) {
      return give_up(job, settings, KeeperCode::failed, "another job uses the store now");
    }
    if (!write_data(job, settings)) {
      return give_up(job, settings, KeeperCode::gone, "a newer snapshot has overwritten the data, or it is damaged");
    }
    if (job.writer() == 0) {
      unfinished_.push_back({job.plan(), settings, KeeperThread::Clock::now()});
      unfinished_count_ = unfinished_.size();
      finish_datasets();
    }
    job.end(KeeperCode::done);
  } catch (const std::exception& error) {
    give_up(job, settings, KeeperCode::failed, error.what());
  }
}

void FlushWriter::give_up(FlushJob& job, const Hello& settings, KeeperCode code, const std::string& why) {
  job.release();
  note_in_log(files_, settings.root, job.plan().name.run, "dataset " + job.plan().name.text() + " is given up: " + why);
  if (job.writer() == 0) make_room(job.plan(), settings, all_under_way_but(job.plan().name));
  job.end(code, why);
}

/// Returns false if the data was not there any more.
bool FlushWriter::write_data(FlushJob& job, const Hello& settings) {
  const Pace pace(settings.rate, [this, &job](std::uint64_t bytes) {
    thread_.note_step();
    job.note_written(bytes);
  });
  DatasetWriter writer(files_, settings.root, job.plan());
  if (job.writer() == 0) writer.write_plan();
  const bool is_whole =
      writer.write_part(job.writer(), job.sources(), [&pace](std::uint64_t bytes) { pace.wrote(bytes); });
  job.release();
  return is_whole;
}

void FlushWriter::finish_datasets() {
  std::vector<Unfinished> given_up;
  for (auto each = unfinished_.begin(); each != unfinished_.end();) {
    const End end = end_of(*each);
    if (end == End::given_up) given_up.push_back(*each);
    each = end == End::none ? std::next(each) : unfinished_.erase(each);
  }
  unfinished_count_ = unfinished_.size();
  // The same snapshot may be flushed once more.
  for (const Unfinished& each : given_up) make_room(each.plan, each.settings, all_under_way());
}

// A dataset is complete without its manifest; that only saves readers the way through all parts.
FlushWriter::End FlushWriter::end_of(Unfinished& dataset) {
  const DatasetPlan& plan = dataset.plan;
  const Hello& settings = dataset.settings;
  try {
    if (!DatasetWriter(files_, settings.root, plan).write_manifest()) {
      return is_given_up(dataset) ? End::given_up : End::none;
    }
    note_in_log(files_, settings.root, plan.name.run, "dataset " + plan.name.text() + " is complete");
    make_room(plan, settings, all_under_way_but(plan.name), plan.name);
    return End::whole;
  } catch (const std::exception& error) {
    log().info("store: {}", error.what());
    return End::given_up;
  }
}

// A node that fails each time would let them pile up: all but the latest ones of a group wait only while they grow.
KeeperThread::Clock::duration FlushWriter::patience_with(const Unfinished& dataset) const {
  constexpr std::ptrdiff_t kMostPatient = 4;
  constexpr std::chrono::seconds kLeast{10};
  const std::chrono::seconds limit(dataset.settings.seconds);
  const auto later = std::count_if(unfinished_.begin(), unfinished_.end(), [&](const Unfinished& each) {
    return each.plan.name.group == dataset.plan.name.group && is_older(dataset.plan.name, each.plan.name);
  });
  return later < kMostPatient ? limit : std::min(limit, kLeast);
}

// A part that has not come by now belongs to a flush that was given up, unless it grows: other nodes may have more to write.
bool FlushWriter::is_given_up(Unfinished& dataset) {
  const auto limit = patience_with(dataset);
  const auto age = KeeperThread::Clock::now() - dataset.since;
  const bool is_late = age > limit;
  if (!is_late && (dataset.bytes || age < limit / 2)) return false;
  const std::uint64_t bytes = bytes_of(files_, dataset.settings.root, dataset.plan.name);
  const bool has_grown = std::exchange(dataset.bytes, bytes) != bytes;
  if (is_late && has_grown) dataset.since = KeeperThread::Clock::now() - limit / 2;
  return is_late && !has_grown;
}

void FlushWriter::make_room(const DatasetPlan& plan, const Hello& settings, std::vector<DatasetName> under_way,
                            const DatasetName& newly_whole) {
  const Pruning::Rule rule{plan.name.group, plan.name.run, settings.kept, std::move(under_way), false, newly_whole};
  try {
    Store store(files_, settings.root);
    pruning_.run(store, rule);
  } catch (const std::exception& error) {
    log().info("store: {}", error.what());
  }
}

// Parts of other nodes may still come.
std::vector<DatasetName> FlushWriter::all_under_way() {
  std::vector<DatasetName> names = under_way_.all();
  for (const Unfinished& each : unfinished_) names.push_back(each.plan.name);
  return names;
}

std::vector<DatasetName> FlushWriter::all_under_way_but(const DatasetName& name) {
  std::vector<DatasetName> names = all_under_way();
  std::erase(names, name);
  return names;
}

}  // namespace fenix_impl
