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

#include "base/log.hpp"

namespace fenix_impl {
namespace {

constexpr const char* kProgram = "fenix-keeper";

std::string text_of_variable(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

// Numbers may have a K, M, G or T behind them, for powers of 1024.
template <class T>
void read_number(const char* name, T& number) {
  const std::string text = text_of_variable(name);
  if (text.empty()) return;
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  unsigned shift = 0;
  const std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
  constexpr std::string_view kUnits = "KMGT";
  const bool has_unit = unit.size() == 1 && kUnits.find(unit[0]) != std::string_view::npos;
  if (has_unit) shift = 10U * static_cast<unsigned>(kUnits.find(unit[0]) + 1);
  const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<T>::max()) >> shift;
  if (read.ec != std::errc() || (!unit.empty() && !has_unit) || value > most) {
    log().warn("{}={} makes no sense, and is ignored", name, text);
    return;
  }
  number = static_cast<T>(value << shift);
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
  if (auto given = text_of_variable("FENIX_KEEPER"); !given.empty()) return given;
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
  StoreSettings settings;
  read_number("SLURM_JOB_END_TIME", settings.end_time);
  read_number("FENIX_END_TIME", settings.end_time);
  settings.drains = text_of_variable("FENIX_DRAIN") == "1";
  read_number("FENIX_HALT_SECONDS", settings.halt_seconds);
  settings.root = absolute(text_of_variable("FENIX_STORE"));
  if (settings.root.empty()) return settings;
  while (settings.root.size() > 1 && settings.root.back() == '/') settings.root.pop_back();
  settings.fetches = text_of_variable("FENIX_FETCH") != "off";
  read_number("FENIX_FLUSH", settings.every);
  read_number("FENIX_FLUSH_RATE", settings.rate);
  read_number("FENIX_FLUSH_TIMEOUT", settings.seconds);
  read_number("FENIX_STORE_KEEP", settings.kept);
  read_number("FENIX_KEEP", settings.lease);
  if (settings.seconds == 0) settings.seconds = StoreSettings().seconds;
  settings.keeper = find_keeper();
  return settings;
}

}  // namespace fenix_impl
