// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/flush_writer.hpp"

#include <exception>
#include <string>

#include "base/fault.hpp"
#include "base/log.hpp"
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
  if (unfinished_count_ > 0 && !thread_.is_busy()) thread_.submit([this] { finish_datasets(); });
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
  if (job.writer() == 0) make_room(job.plan(), settings);
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

// A dataset is complete without its manifest; that only saves readers the way through all parts.
void FlushWriter::finish_datasets() {
  std::erase_if(unfinished_, [this](const Unfinished& each) {
    const auto& [plan, settings, since] = each;
    try {
      if (DatasetWriter(files_, settings.root, plan).write_manifest()) {
        note_in_log(files_, settings.root, plan.name.run, "dataset " + plan.name.text() + " is complete");
        make_room(plan, settings);
        return true;
      }
    } catch (const std::exception& error) {
      log().info("store: {}", error.what());
      return true;
    }
    // A part that has not come by now belongs to a flush that was given up.
    return KeeperThread::Clock::now() - since > std::chrono::seconds(settings.seconds);
  });
  unfinished_count_ = unfinished_.size();
}

// Parts of others may still come.
void FlushWriter::make_room(const DatasetPlan& plan, const Hello& settings) {
  Pruning::Rule rule{plan.name.group, plan.name.run, settings.kept, under_way_.all(), false};
  std::erase(rule.under_way, plan.name);
  for (const Unfinished& each : unfinished_) {
    if (each.plan.name != plan.name) rule.under_way.push_back(each.plan.name);
  }
  try {
    Store store(files_, settings.root);
    pruning_.run(store, rule);
  } catch (const std::exception& error) {
    log().info("store: {}", error.what());
  }
}

}  // namespace fenix_impl
