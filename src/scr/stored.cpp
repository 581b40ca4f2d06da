// SPDX-License-Identifier: BSD-3-Clause
#include "scr/stored.hpp"

#include <fenix.h>

#include <array>

namespace scr_impl {

std::optional<std::vector<StoredDataset>> stored_datasets(bool also_incomplete) {
  std::vector<StoredDataset> found;
  int number = 0;
  if (Fenix_Data_get_number_of_datasets(&number) != FENIX_SUCCESS) return std::nullopt;
  const std::string beginning = std::to_string(kGroup) + ".";
  for (int i = 0; i < number; ++i) {
    std::array<char, FENIX_DATASET_NAME_MAX> name{};
    std::array<char, FENIX_DATASET_NAME_MAX> label{};
    int is_complete = 0;
    if (Fenix_Data_get_dataset_at_position(i, name.data(), label.data(), &is_complete) != FENIX_SUCCESS) continue;
    if ((is_complete != 0 || also_incomplete) && std::string(name.data()).starts_with(beginning))
      found.push_back({name.data(), label.data()});
  }
  return found;
}

std::optional<std::vector<std::string>> stored_with(const std::string& label, bool also_incomplete) {
  auto datasets = stored_datasets(also_incomplete);
  if (!datasets) return std::nullopt;
  std::vector<std::string> names;
  for (StoredDataset& each : *datasets) {
    if (each.label == label) names.push_back(std::move(each.name));
  }
  return names;
}

bool remove_stored(const std::string& label, std::size_t kept) {
  const auto names = stored_with(label, kept == 0);
  if (!names) return false;
  bool is_gone = true;
  for (std::size_t i = kept; i < names->size(); ++i) {
    const int code = Fenix_Data_dataset_delete((*names)[i].c_str());
    // A keeper may have removed it meanwhile.
    is_gone = (code == FENIX_SUCCESS || code == FENIX_ERROR_NODATA_FOUND) && is_gone;
  }
  return is_gone;
}

}  // namespace scr_impl
