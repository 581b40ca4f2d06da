// SPDX-License-Identifier: BSD-3-Clause
// The datasets of SCR in the store of Fenix. One rank calls these functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace scr_impl {

// Other programs have groups of small numbers.
constexpr int kGroup = 0x534352;
constexpr int kFiles = 0;  ///< the only member of the group

struct StoredDataset {
  std::string name;   ///< as the store has it
  std::string label;  ///< the name that it was given
};

// They return nothing if the store does not answer: then nobody knows what it has.

/// Returns the complete datasets, newest first; or all.
std::optional<std::vector<StoredDataset>> stored_datasets(bool also_incomplete = false);
/// Returns the names of those with this label, newest first.
std::optional<std::vector<std::string>> stored_with(const std::string& label, bool also_incomplete = false);

/// Removes those with this label, except the newest so many complete ones. With none left, incomplete ones go as well. Returns whether they are
/// gone.
bool remove_stored(const std::string& label, std::size_t kept = 0);

}  // namespace scr_impl
