// SPDX-License-Identifier: BSD-3-Clause
// Settings that are not in the environment: files fenix.conf of the user and of the installation. docs/settings.md has their form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fenix_impl {

/// A line NAME = VALUE.
struct Setting {
  std::string name;
  std::string value;
  std::string place;  ///< file:line
};

class SettingsFiles {
 public:
  enum class Must { exist, not_exist };

  /// Adds the lines of a file. Lines that were added before count more.
  void add(const std::string& path, Must must);

  /// Returns the line that counts, or nullptr.
  [[nodiscard]] const Setting* find(std::string_view name) const;
  /// Returns all lines, those that do not count too.
  [[nodiscard]] const std::vector<Setting>& all() const { return settings_; }
  /// Returns what cannot be read: files, and lines of another form.
  [[nodiscard]] const std::vector<std::string>& mistakes() const { return mistakes_; }

 private:
  void add_line(std::string_view line, const std::string& place);

  std::vector<Setting> settings_;
  std::vector<std::string> mistakes_;
};

/// Returns the files of this process, which are read at the first call.
[[nodiscard]] const SettingsFiles& settings_files();

/// Returns the value of a variable in the environment, or else in a file; nullptr if there is none.
[[nodiscard]] const char* setting(const char* name);

}  // namespace fenix_impl
