// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/store_settings.hpp"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/environment.hpp"
#include "base/own_path.hpp"
#include "store/store_path.hpp"

namespace fenix_impl {
namespace {

constexpr const char* kProgram = "fenix-keeper";

// What Slurm says, if it is a number.
std::int64_t end_of_allocation() {
  const char* const text = std::getenv("SLURM_JOB_END_TIME");
  std::int64_t time = 0;
  if (text == nullptr) return 0;
  return std::from_chars(text, text + std::strlen(text), time).ec == std::errc() ? time : 0;
}

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

/// Returns the folder of the library or program that this code is in, as an absolute path; empty if it is not known.
std::string own_folder() {
  const std::string path = own_path();
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

// A program of the current folder is not taken: anybody may have put it there.
std::string find_on_path(const std::string& name) {
  std::string_view paths = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  while (!paths.empty()) {
    const auto colon = paths.find(':');
    const std::string_view folder = paths.substr(0, colon);
    const std::string path = std::string(folder) + "/" + name;
    if (!folder.empty() && folder.front() == '/' && is_program(path)) return path;
    paths = colon == std::string_view::npos ? std::string_view() : paths.substr(colon + 1);
  }
  return {};
}

// Next to the library or the program that this code is in, as it was built or installed; or where programs are. Empty if it is nowhere.
std::string find_keeper() {
  if (auto given = environment::text("FENIX_KEEPER"); !given.empty()) {
    return given.find('/') == std::string::npos ? find_on_path(given) : absolute_path(given);
  }
  const std::string folder = own_folder();
  for (const char* there : {"/" FENIX_BIN_FROM_LIB "/", "/../tools/", "/../bin/", "/"}) {
    const std::string path = folder + there + kProgram;
    if (!folder.empty() && is_program(path)) return path;
  }
  return find_on_path(kProgram);
}

}  // namespace

StoreSettings StoreSettings::from_environment() {
  const auto narrow = [](std::uint64_t number) { return static_cast<std::uint32_t>(number); };
  StoreSettings settings;
  settings.end_time = environment::is_set("FENIX_END_TIME")
                          ? static_cast<std::int64_t>(environment::whole("FENIX_END_TIME"))
                          : end_of_allocation();
  settings.drains = environment::is_on("FENIX_DRAIN");
  settings.halt_seconds = narrow(environment::whole("FENIX_HALT_SECONDS"));
  settings.seconds = narrow(environment::whole("FENIX_FLUSH_TIMEOUT"));
  settings.root = path_of_store(environment::text("FENIX_STORE"), std::chrono::seconds(settings.seconds));
  if (settings.root.empty()) return settings;
  settings.fetches = environment::is_on("FENIX_FETCH");
  settings.every = static_cast<int>(environment::whole("FENIX_FLUSH"));
  settings.rate = environment::whole("FENIX_FLUSH_RATE");
  settings.kept = narrow(environment::whole("FENIX_STORE_KEEP"));
  settings.lease = narrow(environment::whole("FENIX_KEEP"));
  settings.keeper = find_keeper();
  return settings;
}

}  // namespace fenix_impl
