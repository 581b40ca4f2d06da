// SPDX-License-Identifier: BSD-3-Clause
// The state of a dataset, as its files say it. It is decided here alone; docs/store.md says what each state allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/dataset_name.hpp"
#include "store/file_system.hpp"
#include "store/plan.hpp"

namespace fenix_impl {

enum class DatasetState {
  whole,       ///< all is there. Data that has changed since is found by its hashes when it is read
  incomplete,  ///< parts are missing, and were never seen: a flush is under way, or was cut off
  damaged,     ///< what is there is not what was written, or something has gone that was there
  unreadable,  ///< the file system refuses to show it
  later,       ///< a later version of this library has written it
};

/// Returns the state as a word for people.
[[nodiscard]] const char* word_of(DatasetState state);

struct DatasetLook {
  DatasetState state = DatasetState::incomplete;
  std::string why;                     ///< it is not whole, for people
  std::optional<DatasetPlan> plan;     ///< if it can be read
  std::vector<std::uint32_t> missing;  ///< writers without a whole part
  std::vector<std::string> labels;     ///< names that users have given it, as far as they can be read
  bool has_label = false;              ///< has one at least, readable or not
  std::vector<std::uint32_t> tried;    ///< runs that have begun with it, and have not committed since

  [[nodiscard]] bool is_whole() const { return state == DatasetState::whole; }
  [[nodiscard]] bool is_called(const std::string& label) const;
};

/// Looks at a dataset. root: folder of the store. Does not throw StoreError: a file that cannot be read is a state.
[[nodiscard]] DatasetLook look_at(FileSystem& files, const std::string& root, const DatasetName& name);

/// The names of files that say something else than data does.
namespace dataset_files {
constexpr const char* kPlan = "plan";
constexpr const char* kManifest = "manifest";
constexpr const char* kTried = "tried.";
constexpr const char* kLabel = "name.";
}  // namespace dataset_files

/// Returns the name of the file that gives a dataset a further label.
[[nodiscard]] std::string label_file(const std::string& label);

}  // namespace fenix_impl
