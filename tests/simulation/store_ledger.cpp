// SPDX-License-Identifier: BSD-3-Clause
#include "store_ledger.hpp"

#include <algorithm>
#include <iterator>

namespace fenix_simulation {

void StoreLedger::begins_commit(int group, int step, std::int64_t attempt) {
  auto& begun = at(group).begun;
  begun.try_emplace({step, attempt}, static_cast<int>(begun.size()));
}

// What there was before comes no more, as the program has chosen something else.
void StoreLedger::Group::go_back_to(int order) {
  told = std::min(told, order);
  kept = on_all = -1;
  committed.clear();
}

void StoreLedger::committed(int group, int rank, int step, std::int64_t attempt, bool on_all) {
  Group& its = at(group);
  const int order = its.begun.at({step, attempt});
  its.committed[rank] = order;
  if (on_all) its.on_all = std::max(its.on_all, order);
}

// Keepers have the memory of all ranks, or have written it. A commit in place that was cut short is another matter.
void StoreLedger::end_job(int ranks, bool all_died) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& its = groups_[i];
    if (static_cast<int>(its.committed.size()) == ranks) {
      const auto least = std::min_element(its.committed.begin(), its.committed.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
      its.on_all = std::max(its.on_all, least->second);
    }
    const bool is_kept = all_died && plan_.lease > 0 && !plan_.groups[i].in_place;
    its.kept = is_kept ? std::max(its.kept, its.on_all) : -1;
    its.has_fetched = false;
    its.committed.clear();
    its.on_all = -1;
  }
}

void StoreLedger::told(int group, int step, std::int64_t attempt, bool by_name) {
  Group& its = at(group);
  const auto found = its.begun.find({step, attempt});
  if (found == its.begun.end()) return;
  its.told = std::max(its.told, found->second);
  if (!by_name) return;
  int& named = its.named.try_emplace(step, -1).first->second;
  named = std::max(named, found->second);
}

int StoreLedger::step_to_fetch(int group, int step, std::int64_t attempt) {
  Group& its = at(group);
  const auto [known, is_new] = its.fetches.try_emplace({step, attempt}, -1);
  // Ranks tell of what they have before they ask, and some late.
  if (!is_new && known->second >= 0) its.go_back_to(its.named.at(known->second));
  if (!is_new) return known->second;
  const std::uint64_t drawn =
      dice(plan_, Purpose::fetch, static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(step));
  auto others = its.named;
  others.erase(step);
  if (its.has_fetched || others.empty() || !once_in(plan_.fetched_of, drawn)) return -1;
  its.has_fetched = true;
  const auto chosen = std::next(others.begin(), static_cast<std::ptrdiff_t>((drawn >> 8U) % others.size()));
  its.go_back_to(chosen->second);
  return known->second = chosen->first;
}

std::string StoreLedger::fetched(int group, int wanted, int step, std::int64_t attempt) {
  Group& its = at(group);
  const auto found = its.begun.find({step, attempt});
  const std::string what =
      "the dataset by the name of step " + std::to_string(wanted) + " of group " + std::to_string(group);
  if (step < 0) return what + " is not found";
  if (step != wanted || found == its.begun.end() || found->second < its.named.at(wanted))
    return what + " has step " + std::to_string(step) + " of attempt " + std::to_string(attempt);
  return {};
}

std::string StoreLedger::restored(int group, int step, std::int64_t attempt, Promised promised) const {
  const Group& its = at(group);
  const auto found = its.begun.find({step, attempt});
  const std::string what =
      "step " + std::to_string(step) + " of attempt " + std::to_string(attempt) + " of group " + std::to_string(group);
  if (step >= 0 && found == its.begun.end()) return what + " is restored, whose commit nobody has begun";
  const int got = step >= 0 ? found->second : -1;
  const int wanted =
      std::max(promised != Promised::nothing ? its.told : -1, promised == Promised::memory ? its.kept : -1);
  if (got >= wanted) return {};
  const auto newest =
      std::find_if(its.begun.begin(), its.begun.end(), [&](const auto& each) { return each.second == wanted; });
  return (step < 0 ? "nothing of group " + std::to_string(group) : what) + " is restored, though step " +
         std::to_string(newest->first.first) + " of attempt " + std::to_string(newest->first.second) +
         " is in the store, or kept";
}

}  // namespace fenix_simulation
