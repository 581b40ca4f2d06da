// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/flush_collection.hpp"

#include <algorithm>
#include <utility>

namespace fenix_impl {

std::shared_ptr<FlushJob> FlushCollection::take(ReceivedOffer offered, const std::shared_ptr<KeeperPeer>& peer,
                                                std::uint64_t request) {
  const DatasetPlan& plan = offered.plan;
  if (std::find(given_up_.begin(), given_up_.end(), plan.name.text()) != given_up_.end()) {
    peer->answer({KeeperOp::flush, request, KeeperCode::gone, "another rank has given the flush up", {}});
    return nullptr;
  }
  auto found = std::find_if(jobs_.begin(), jobs_.end(),
                            [&](const auto& each) { return !each->has_ended() && each->is_for(plan, offered.writer); });
  if (found == jobs_.end()) found = jobs_.insert(found, std::make_shared<FlushJob>(plan, offered.writer));
  const std::shared_ptr<FlushJob> job = *found;
  job->add(std::move(offered.offer), std::move(offered.regions));
  job->add_waiter(peer, request);
  return !job->is_submitted && job->has_all() ? job : nullptr;
}

bool FlushCollection::is_writing() const {
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [](const auto& job) { return job->is_submitted && !job->has_ended(); });
}

void FlushCollection::give_up_when_all_is_read(const Abandoned& abandoned) {
  constexpr int kRounds = 2;
  constexpr std::size_t kMostRemembered = 64;
  // Ranks that notice later that a keeper has ended will offer it here.
  if (!abandoned.name.empty()) given_up_.push_back(abandoned.name);
  if (given_up_.size() > kMostRemembered) given_up_.pop_front();
  abandoned_.push_back(abandoned);
  rounds_to_read_ = kRounds;
}

// A rank that has died offers nothing any more, and the others must not wait for it.
void FlushCollection::give_up_waiting() {
  if (abandoned_.empty() || --rounds_to_read_ > 0) return;
  for (const auto& job : jobs_) {
    const DatasetName& name = job->plan().name;
    const bool is_given_up = std::any_of(abandoned_.begin(), abandoned_.end(), [&](const Abandoned& each) {
      return each.all_groups != 0 || each.name == name.text() ||
             (each.group == name.group && name.generation < each.generation);
    });
    if (is_given_up && !job->is_submitted) {
      job->end(KeeperCode::gone, "not all ranks of this node have offered their data");
    }
  }
  abandoned_.clear();
}

void FlushCollection::look_after(bool is_stuck, std::chrono::seconds limit) {
  for (const auto& job : jobs_) {
    job->tell_progress();
    const bool is_late = FlushJob::Clock::now() - job->since() > limit;
    if (is_stuck) {
      job->end(KeeperCode::failed, "the file system does not answer");
    } else if (!job->is_submitted && is_late) {
      job->end(KeeperCode::gone, "a rank of this node has not offered its data");
    }
  }
  std::erase_if(jobs_, [](const auto& job) { return job->has_ended(); });
}

}  // namespace fenix_impl
