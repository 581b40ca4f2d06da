// SPDX-License-Identifier: BSD-3-Clause
// A model of a store of small datasets: the rules of docs/store.md, in their simplest form. It knows nothing
// of files but what was done to them.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/dataset_state.hpp"
#include "support/small_datasets.hpp"

namespace fenix_test {

enum class FileTruth { none, good, bad, later };

struct DatasetTruth {
  FileTruth plan = FileTruth::none;
  std::array<FileTruth, kSmallRanks> parts{};
  std::array<bool, kSmallRanks> has_data{};      // of any attempt
  std::array<bool, kSmallRanks> has_own_data{};  // that the part names
  FileTruth manifest = FileTruth::none;
  std::set<std::string> labels;
  std::string label_of_plan;
  std::set<std::uint32_t> tried;

  bool operator==(const DatasetTruth&) const = default;

  [[nodiscard]] fenix_impl::DatasetState state() const {
    using fenix_impl::DatasetState;
    const bool was_complete = manifest != FileTruth::none;
    if (plan == FileTruth::none) return was_complete ? DatasetState::damaged : DatasetState::incomplete;
    if (plan == FileTruth::bad) return DatasetState::damaged;
    if (plan == FileTruth::later) return DatasetState::later;
    DatasetState worst = DatasetState::whole;
    for (std::size_t i = 0; i < parts.size(); ++i) worst = std::max(worst, state_of_part(i));
    return worst == DatasetState::incomplete && was_complete ? DatasetState::damaged : worst;
  }
  [[nodiscard]] bool is_whole() const { return state() == fenix_impl::DatasetState::whole; }
  [[nodiscard]] bool has_label() const { return !all_labels().empty(); }
  [[nodiscard]] std::set<std::string> all_labels() const {
    std::set<std::string> all = labels;
    if (plan == FileTruth::good && !label_of_plan.empty()) all.insert(label_of_plan);
    return all;
  }

 private:
  [[nodiscard]] fenix_impl::DatasetState state_of_part(std::size_t i) const {
    using fenix_impl::DatasetState;
    if (parts[i] == FileTruth::none) return DatasetState::incomplete;
    // Parts that are listed are not read.
    if (manifest == FileTruth::good) return has_data[i] ? DatasetState::whole : DatasetState::incomplete;
    if (parts[i] == FileTruth::later) return DatasetState::later;
    if (parts[i] == FileTruth::bad) return DatasetState::damaged;
    return has_own_data[i] ? DatasetState::whole : DatasetState::incomplete;
  }
};

struct StoreModel {
  static constexpr std::size_t kMostTries = 3;
  static constexpr std::size_t kMostAttempts = 2;

  std::map<fenix_impl::DatasetName, DatasetTruth> datasets;
  std::set<std::uint32_t> finished;
  std::optional<fenix_impl::DatasetName> current;

  [[nodiscard]] std::vector<fenix_impl::DatasetName> newest_first() const {
    std::vector<fenix_impl::DatasetName> names;
    for (const auto& [name, truth] : datasets) names.push_back(name);
    std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return is_older(b, a); });
    return names;
  }

  [[nodiscard]] bool is_worn(const DatasetTruth& truth) const {
    const auto has_died = [this](std::uint32_t run) { return finished.count(run) == 0; };
    return static_cast<std::size_t>(std::count_if(truth.tried.begin(), truth.tried.end(), has_died)) >= kMostTries;
  }

  /// Returns the dataset that a start must find.
  [[nodiscard]] std::optional<fenix_impl::DatasetName> expected() const {
    if (current && datasets.count(*current) > 0 && datasets.at(*current).is_whole()) return current;
    std::optional<fenix_impl::DatasetName> last_resort;
    for (const auto& name : newest_first()) {
      const DatasetTruth& truth = datasets.at(name);
      if (!truth.is_whole()) continue;
      if (!is_worn(truth)) return name;
      if (!last_resort) last_resort = name;
    }
    return last_resort;
  }

  [[nodiscard]] std::optional<fenix_impl::DatasetName> expected(const std::string& label) const {
    std::optional<fenix_impl::DatasetName> last_resort;
    for (const auto& name : newest_first()) {
      const DatasetTruth& truth = datasets.at(name);
      if (!truth.is_whole() || truth.all_labels().count(label) == 0) continue;
      if (!is_worn(truth)) return name;
      if (!last_resort) last_resort = name;
    }
    return last_resort;
  }

  void flush(const fenix_impl::DatasetPlan& plan, unsigned writers) {
    DatasetTruth& truth = datasets[plan.name];
    if (truth.plan != FileTruth::good) {
      truth.plan = FileTruth::good;
      truth.label_of_plan = plan.label;
    } else if (!plan.label.empty() && truth.label_of_plan != plan.label) {
      truth.labels.insert(plan.label);
    }
    for (std::size_t i = 0; i < truth.parts.size(); ++i) {
      if ((writers >> i & 1U) == 0 || (truth.parts[i] == FileTruth::good && truth.has_own_data[i])) continue;
      truth.parts[i] = FileTruth::good;
      truth.has_data[i] = truth.has_own_data[i] = true;
    }
    const auto is_good = [&](std::size_t i) { return truth.parts[i] == FileTruth::good; };
    if (is_good(0) && is_good(1)) truth.manifest = FileTruth::good;
  }

  void remove(const fenix_impl::DatasetName& name) {
    datasets.erase(name);
    if (current == name) current.reset();
  }

  void prune(std::uint32_t run, std::size_t kept) {
    std::size_t whole = 0;
    std::size_t whole_of_run = 0;
    std::size_t attempts = 0;
    for (const auto& name : newest_first()) {
      const DatasetTruth truth = datasets.at(name);
      if (truth.is_whole()) {
        if (kept > 0 && whole >= kept && !truth.has_label() && name != current) datasets.erase(name);
        ++whole;
        if (name.run == run) ++whole_of_run;
      } else if (truth.state() == fenix_impl::DatasetState::incomplete) {
        if (name.run == run) ++attempts;
        const bool is_failed_own = name.run == run && (whole_of_run > 0 || attempts > kMostAttempts);
        const bool is_old = name.run < run && whole_of_run > 0;
        if (is_failed_own || is_old) datasets.erase(name);
      }
    }
  }
};

}  // namespace fenix_test
