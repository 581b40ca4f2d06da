// SPDX-License-Identifier: BSD-3-Clause
#include "store/dataset_state.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string_view>

#include "base/simd/hash.hpp"
#include "store/dataset.hpp"
#include "store/manifest.hpp"
#include "store/part.hpp"
#include "store/sealed_file.hpp"

namespace fenix_impl {
namespace {

using namespace dataset_files;

constexpr const char* kLater = "a later version of this library has written it";

class Looking {
 public:
  Looking(FileSystem& files, const std::string& root, const DatasetName& name)
      : files_(files), folder_(root + "/" + name.text()), name_(name) {}

  DatasetLook look() {
    try {
      names_ = files_.list(folder_);
      std::erase_if(names_, [](const std::string& file) { return file.ends_with(".tmp"); });
      std::sort(names_.begin(), names_.end());
      look_at_marks();
      if (look_at_plan()) look_at_parts();
    } catch (const StoreError& error) {
      set(DatasetState::unreadable, error.what());
    }
    return std::move(look_);
  }

 private:
  void set(DatasetState state, std::string why) {
    look_.state = state;
    look_.why = std::move(why);
  }

  [[nodiscard]] bool has(const std::string& file) const {
    return std::binary_search(names_.begin(), names_.end(), file);
  }

  [[nodiscard]] std::optional<std::vector<std::byte>> read(const std::string& file) {
    return has(file) ? read_sealed(files_, folder_ + "/" + file) : std::nullopt;
  }

  void look_at_marks() {
    for (const std::string& file : names_) {
      if (file.starts_with(kLabel)) note_label(file);
      if (!file.starts_with(kTried)) continue;
      std::uint32_t run = 0;
      const std::string_view digits = std::string_view(file).substr(std::string_view(kTried).size());
      (void)std::from_chars(digits.data(), digits.data() + digits.size(), run);
      look_.tried.push_back(run);
    }
  }

  // A name that cannot be read still keeps its dataset.
  void note_label(const std::string& file) {
    look_.has_label = true;
    try {
      const auto bytes = read(file);
      const auto body = bytes ? unseal(SealedKind::label, name_.text(), *bytes) : std::nullopt;
      if (body) look_.labels.emplace_back(reinterpret_cast<const char*>(body->data()), body->size());
    } catch (const StoreError&) {
    }
  }

  /// Returns whether there is a plan that says what belongs to the dataset.
  bool look_at_plan() {
    const auto bytes = read(kPlan);
    if (!bytes) {
      const bool was_there = has(kManifest);
      set(was_there ? DatasetState::damaged : DatasetState::incomplete,
          was_there ? "its plan is missing" : "it has no plan");
      return false;
    }
    look_.plan = decode_plan(name_, *bytes);
    if (look_.plan) {
      if (look_.plan->label.empty()) return true;
      look_.has_label = true;
      look_.labels.insert(look_.labels.begin(), look_.plan->label);
      return true;
    }
    if (is_of_later_version(*bytes)) {
      set(DatasetState::later, kLater);
    } else {
      set(DatasetState::damaged, "its plan is damaged");
    }
    return false;
  }

  // The part that is worst says what the dataset is.
  void look_at_parts() {
    const auto manifest = read(kManifest);
    const bool is_listed = manifest && decode_manifest(name_, *manifest);
    look_.state = DatasetState::whole;
    for (std::uint32_t writer = 0; writer < look_.plan->number_of_writers(); ++writer) {
      PartLook part = is_listed ? look_at_names_of(writer) : look_at_part(writer);
      if (part.state == DatasetState::whole) continue;
      look_.missing.push_back(writer);
      // Parts are listed when all are there.
      if (manifest && part.state == DatasetState::incomplete) part.state = DatasetState::damaged;
      if (look_.why.empty() || part.state > look_.state) set(part.state, std::move(part.why));
    }
  }

  struct PartLook {
    DatasetState state = DatasetState::whole;
    std::string why;
  };

  /// Looks whether the files of a part are there: a start must not read all parts.
  [[nodiscard]] PartLook look_at_names_of(std::uint32_t writer) const {
    if (!has(part_file(writer))) return {DatasetState::incomplete, part_file(writer) + " is missing"};
    const std::string data = "d." + std::to_string(writer) + ".";
    const auto first = std::lower_bound(names_.begin(), names_.end(), data);
    if (first != names_.end() && first->starts_with(data)) return {};
    return {DatasetState::incomplete, "the data of " + part_file(writer) + " is missing"};
  }

  [[nodiscard]] PartLook look_at_part(std::uint32_t writer) {
    const std::string file = part_file(writer);
    const auto bytes = read(file);
    if (!bytes) return {DatasetState::incomplete, file + " is missing"};
    if (Dataset::read_part(files_, folder_, *look_.plan, writer)) return {};
    if (is_of_later_version(*bytes)) return {DatasetState::later, kLater};
    const auto part = decode_part(name_, writer, *bytes);
    // After the end of the system a part may be there, and the name of its data not.
    const bool lacks_data = part && !has(data_file(writer, part->attempt));
    if (lacks_data) return {DatasetState::incomplete, "the data of " + file + " is missing"};
    return {DatasetState::damaged, file + " is damaged"};
  }

  FileSystem& files_;
  std::string folder_;
  DatasetName name_;
  std::vector<std::string> names_;  // of its files, in order
  DatasetLook look_;
};

}  // namespace

const char* word_of(DatasetState state) {
  switch (state) {
    case DatasetState::whole:
      return "complete";
    case DatasetState::incomplete:
      return "incomplete";
    case DatasetState::damaged:
      return "damaged";
    case DatasetState::unreadable:
      return "unreadable";
    case DatasetState::later:
      return "of a later version";
  }
  return "unknown";
}

bool DatasetLook::is_called(const std::string& label) const {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

DatasetLook look_at(FileSystem& files, const std::string& root, const DatasetName& name) {
  return Looking(files, root, name).look();
}

std::string label_file(const std::string& label) {
  std::array<char, 17> digits{};
  (void)std::snprintf(digits.data(), digits.size(), "%016llx",
                      static_cast<unsigned long long>(hash_bytes(std::as_bytes(std::span(label)))));
  return kLabel + std::string(digits.data());
}

}  // namespace fenix_impl
