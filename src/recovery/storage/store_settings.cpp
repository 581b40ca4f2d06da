// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/storage/store_settings.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/environment.hpp"

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

std::string absolute(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  std::array<char, PATH_MAX> here{};
  if (::getcwd(here.data(), here.size()) == nullptr) return {};
  return std::string(here.data()) + "/" + path;
}

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

// Next to the library or the program that this code is in, as it was built or installed; or where programs are.
std::string find_keeper() {
  if (auto given = environment::text("FENIX_KEEPER"); !given.empty()) return given;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&find_keeper), &info) != 0 && info.dli_fname != nullptr) {
    std::string folder = info.dli_fname;
    const auto slash = folder.rfind('/');
    folder = slash == std::string::npos ? "." : folder.substr(0, slash);
    for (const char* there : {"/" FENIX_BIN_FROM_LIB "/", "/../tools/", "/../bin/", "/"}) {
      const std::string path = folder + there + kProgram;
      if (is_program(path)) return path;
    }
  }
  std::string_view paths = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  while (!paths.empty()) {
    const auto colon = paths.find(':');
    const std::string path = std::string(paths.substr(0, colon)) + "/" + kProgram;
    if (is_program(path)) return path;
    paths = colon == std::string_view::npos ? std::string_view() : paths.substr(colon + 1);
  }
  return kProgram;
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
  settings.root = absolute(environment::text("FENIX_STORE"));
  if (settings.root.empty()) return settings;
  while (settings.root.size() > 1 && settings.root.back() == '/') settings.root.pop_back();
  settings.fetches = environment::is_on("FENIX_FETCH");
  settings.every = static_cast<int>(environment::whole("FENIX_FLUSH"));
  settings.rate = environment::whole("FENIX_FLUSH_RATE");
  settings.seconds = narrow(environment::whole("FENIX_FLUSH_TIMEOUT"));
  settings.kept = narrow(environment::whole("FENIX_STORE_KEEP"));
  settings.lease = narrow(environment::whole("FENIX_KEEP"));
  settings.keeper = find_keeper();
  return settings;
}

}  // namespace fenix_impl
