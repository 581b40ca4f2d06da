// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/kept_snapshots.hpp"

#include <algorithm>
#include <utility>

namespace fenix_impl {
// Ranks differ by one commit at most when they die; one more is on its way.
void KeptSnapshots::keep(const DatasetPlan& plan, std::uint32_t writer, RankOffer offer,
                         std::vector<Descriptor> regions) {
  constexpr std::ptrdiff_t kMostKept = 3;
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

bool KeptSnapshots::empty() const { return jobs_.empty(); }

void KeptSnapshots::drop(const Dropped& dropped) {
  std::erase_if(jobs_, [&](const auto& each) {
    const DatasetName& name = each->plan().name;
    const bool is_older = std::pair(name.run, name.generation) <= std::pair(dropped.run, dropped.generation);
    return name.group == dropped.group && is_older && (dropped.time_stamp < 0 || dropped.time_stamp == name.time_stamp);
  });
}

void KeptSnapshots::drop(const DatasetName& name) {
  std::erase_if(jobs_, [&](const auto& each) { return each->plan().name == name; });
}

void KeptSnapshots::forget_until(std::uint32_t run) {
  std::erase_if(jobs_, [run](const auto& each) { return each->plan().name.run <= run; });
}

std::vector<std::shared_ptr<FlushJob>> KeptSnapshots::take_complete_until(std::uint32_t run) {
  const auto later = std::stable_partition(jobs_.begin(), jobs_.end(),
                                           [run](const auto& each) { return each->plan().name.run <= run; });
  std::vector<std::shared_ptr<FlushJob>> taken(jobs_.begin(), later);
  jobs_.erase(jobs_.begin(), later);
  std::erase_if(taken, [](const auto& each) { return !each->has_all(); });
  return taken;
}

std::vector<std::shared_ptr<FlushJob>> KeptSnapshots::take_complete() {
  auto taken = std::exchange(jobs_, {});
  std::erase_if(taken, [](const auto& each) { return !each->has_all(); });
  return taken;
}

}  // namespace fenix_impl
