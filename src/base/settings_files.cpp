// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/own_path.hpp"

// From the folders of an installation to that of its settings.
#ifndef FENIX_ETC_FROM_LIB
#define FENIX_ETC_FROM_LIB "../etc"
#define FENIX_ETC_FROM_BIN "../etc"
#endif

namespace fenix_impl {
namespace {

constexpr std::string_view kFile = "/fenix.conf";

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Returns the file beside the library or tool that this code is in. A program with the static library is in no installation.
std::string file_of_installation() {
  const std::string path = own_path();
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {};
  const std::string_view name = std::string_view(path).substr(slash + 1);
  const bool is_library = name.starts_with("libfenix") || name.starts_with("libscr");
  if (!is_library && !name.starts_with("fenix-")) return {};
  return path.substr(0, slash + 1) + (is_library ? FENIX_ETC_FROM_LIB : FENIX_ETC_FROM_BIN) + std::string(kFile);
}

SettingsFiles files_of_process() {
  SettingsFiles files;
  const std::string named = variable("FENIX_CONF");
  const std::string home = variable("HOME");
  std::string folder = variable("XDG_CONFIG_HOME");
  if (folder.empty() && !home.empty()) folder = home + "/.config";
  if (named.empty()) {
    if (!folder.empty()) files.add(folder + "/fenix" + std::string(kFile), SettingsFiles::Must::not_exist);
  } else if (named != "none") {
    files.add(named, SettingsFiles::Must::exist);
  }
  if (const std::string site = file_of_installation(); !site.empty()) files.add(site, SettingsFiles::Must::not_exist);
  return files;
}

}  // namespace

void SettingsFiles::add(const std::string& path, Must must) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && must == Must::not_exist) return;
  std::ifstream file(path);
  if (!exists || S_ISDIR(status.st_mode) || !file) {
    mistakes_.push_back(path + " cannot be read");
    return;
  }
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = trimmed(line);
    if (!text.empty() && text.front() != '#') add_line(text, path + ":" + std::to_string(number));
  }
}

void SettingsFiles::add_line(std::string_view line, const std::string& place) {
  const std::size_t equals = line.find('=');
  const std::string_view name = trimmed(line.substr(0, equals));
  const std::string_view value = equals == std::string_view::npos ? "" : trimmed(line.substr(equals + 1));
  const std::string file = place.substr(0, place.rfind(':') + 1);
  const auto is_same = [&](const Setting& each) { return each.name == name && each.place.starts_with(file); };
  if (name.empty() || value.empty()) {
    mistakes_.push_back(place + ": the line has to be NAME = VALUE, or a comment that begins with #");
  } else if (const auto twice = std::find_if(settings_.begin(), settings_.end(), is_same); twice != settings_.end()) {
    mistakes_.push_back(place + ": " + std::string(name) + " is in " + twice->place + " already");
  } else {
    settings_.push_back({std::string(name), std::string(value), place});
  }
}

const Setting* SettingsFiles::find(std::string_view name) const {
  const auto found =
      std::find_if(settings_.begin(), settings_.end(), [&](const Setting& each) { return each.name == name; });
  return found != settings_.end() ? &*found : nullptr;
}

const SettingsFiles& settings_files() {
  static const auto* const files = new SettingsFiles(files_of_process());  // threads may use it until the very end
  return *files;
}

const char* setting(const char* name) {
  if (const char* const value = std::getenv(name)) return value;
  const Setting* const found = settings_files().find(name);
  return found != nullptr ? found->value.c_str() : nullptr;
}

}  // namespace fenix_impl
