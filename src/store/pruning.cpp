// SPDX-License-Identifier: BSD-3-Clause
#include "store/pruning.hpp"

#include <algorithm>
#include <optional>

#include "base/log.hpp"

namespace fenix_impl {
namespace {

/// Returns the choice of the user, the empty name if there is none, or nullopt if it is unknown: then it may be any dataset.
std::optional<DatasetName> choice_of(const Store& store) {
  try {
    return store.choice().value_or(DatasetName{});
  } catch (const StoreError& error) {
    log().info("store: {}", error.what());
    return std::nullopt;
  }
}

}  // namespace

void Pruning::run(Store& store, const Rule& rule) {
  const auto chosen = choice_of(store);
  std::size_t whole = 0;
  std::size_t whole_of_run = 0;
  std::size_t attempts = 0;
  for (const DatasetName& name : store.datasets(rule.group)) {
    if (std::find(rule.under_way.begin(), rule.under_way.end(), name) != rule.under_way.end()) continue;
    const bool is_own = name.run == rule.run;
    const bool is_surplus =
        rule.kept > 0 && whole >= rule.kept && chosen && name != *chosen && name != rule.newly_whole;
    // Files are looked at anew of those that count as kept, and before one is removed.
    const auto known = whole_.find(name);
    const bool stays = known != whole_.end() && (rule.kept == 0 || (is_surplus && known->second));
    const DatasetLook look = stays ? DatasetLook{DatasetState::whole, {}, {}, {}, {}, true, {}} : store.look(name);
    if (look.is_whole()) {
      if (!stays) whole_[name] = look.has_label;
      ++whole;
      whole_of_run += is_own ? 1 : 0;
      if (is_surplus && !look.has_label) remove(store, name);
    } else if (look.state == DatasetState::incomplete) {
      attempts += is_own ? 1 : 0;
      const bool is_own_failure = is_own && (whole_of_run > 0 || attempts > kMostAttempts);
      const bool is_left = name.run < rule.run && whole_of_run > 0;
      if (rule.is_of_user ? whole > 0 : is_own_failure || is_left) remove(store, name);
    }
  }
  store.sweep();
}

void Pruning::remove(Store& store, const DatasetName& name) {
  whole_.erase(name);
  try {
    store.remove(name);
  } catch (const StoreError& error) {
    log().info("store: {}", error.what());
  }
}

}  // namespace fenix_impl
