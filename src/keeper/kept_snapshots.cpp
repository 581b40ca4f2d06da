// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/kept_snapshots.hpp"

#include <algorithm>
#include <utility>

namespace fenix_impl {
// Ranks differ by one commit at most when they die; one more is on its way.
void KeptSnapshots::keep(const DatasetPlan& plan, std::uint32_t writer, RankOffer offer,
                         std::vector<Descriptor> regions) {
  constexpr std::ptrdiff_t kMostKept = 3;
  const std::lock_guard lock(mutex_);
  auto job = job_of(plan.name);
  const bool is_new = !job || !job->is_for(plan, writer);
  if (is_new) job = std::make_shared<FlushJob>(plan, writer);
  job->add(std::move(offer), std::move(regions));
  if (!is_new) return;
  jobs_.push_back(job);
  std::sort(jobs_.begin(), jobs_.end(),
            [](const auto& a, const auto& b) { return is_older(b->plan().name, a->plan().name); });
  std::ptrdiff_t kept = 0;
  std::erase_if(jobs_,
                [&](const auto& each) { return each->plan().name.group == plan.name.group && ++kept > kMostKept; });
}

std::shared_ptr<FlushJob> KeptSnapshots::job_of(const DatasetName& name) const {
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& each) { return each->plan().name == name; });
  return found != jobs_.end() ? *found : nullptr;
}

std::vector<DatasetName> KeptSnapshots::names(std::int32_t group, std::int32_t rank, std::size_t ranks) const {
  const std::lock_guard lock(mutex_);
  std::vector<DatasetName> names;
  for (const auto& each : jobs_) {
    const DatasetPlan& plan = each->plan();
    if (plan.name.group == group && plan.writers.size() == ranks && each->find(rank)) names.push_back(plan.name);
  }
  return names;
}

std::optional<DatasetPlan> KeptSnapshots::plan(const DatasetName& name) const {
  const std::lock_guard lock(mutex_);
  const auto job = job_of(name);
  return job ? std::optional(job->plan()) : std::nullopt;
}

std::shared_ptr<const OfferedRank> KeptSnapshots::find(const DatasetName& name, std::int32_t rank) const {
  const std::lock_guard lock(mutex_);
  const auto job = job_of(name);
  return job ? job->find(rank) : nullptr;
}

bool KeptSnapshots::empty() const {
  const std::lock_guard lock(mutex_);
  return jobs_.empty();
}

void KeptSnapshots::forget(std::uint32_t run) {
  const std::lock_guard lock(mutex_);
  std::erase_if(jobs_, [run](const auto& each) { return each->plan().name.run == run; });
}

std::vector<std::shared_ptr<FlushJob>> KeptSnapshots::take_complete() {
  const std::lock_guard lock(mutex_);
  auto taken = std::exchange(jobs_, {});
  std::erase_if(taken, [](const auto& each) { return !each->has_all(); });
  return taken;
}

}  // namespace fenix_impl
