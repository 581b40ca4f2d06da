// SPDX-License-Identifier: BSD-3-Clause
#include "scr/settings/settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "base/settings_files.hpp"

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

/// Parameters that stand for a variable of Fenix.
constexpr std::array<std::pair<const char*, const char*>, 5> kSame{
    {{"SCR_CHECKPOINT_INTERVAL", "FENIX_COMMIT_EVERY"},
     {"SCR_CHECKPOINT_SECONDS", "FENIX_COMMIT_SECONDS"},
     {"SCR_CHECKPOINT_OVERHEAD", "FENIX_COMMIT_OVERHEAD"},
     {"SCR_HALT_SECONDS", "FENIX_HALT_SECONDS"},
     {"SCR_END_TIME", "FENIX_END_TIME"}}};

/// Parameters that have an effect, beside those of kSame.
constexpr std::array<std::string_view, 22> kUsed{
    "SCR_PREFIX",       "SCR_CONF_FILE",         "SCR_ENABLE",    "SCR_DEBUG",      "SCR_CACHE_BYPASS",
    "SCR_FLUSH",        "SCR_FLUSH_ASYNC",       "SCR_FETCH",     "SCR_CURRENT",    "SCR_CACHE_PURGE",
    "SCR_PREFIX_PURGE", "SCR_PREFIX_SIZE",       "SCR_HALT_EXIT", "SCR_CACHE_SIZE", "SCR_COPY_TYPE",
    "SCR_SET_SIZE",     "SCR_CACHE_BASE",        "SCR_RUNS",      "SCR_MIN_NODES",  "SCR_EXCLUDE_NODES",
    "SCR_SET_FAILURES", "SCR_DROP_AFTER_CURRENT"};

/// Parameters without effect that a program cannot miss: widths and sizes of buffers, names for logs, places of files of SCR.
constexpr std::array<std::string_view, 13> kOfNoConsequence{
    "SCR_MPI_BUF_SIZE", "SCR_FILE_BUF_SIZE", "SCR_CRC_ON_", "SCR_FETCH_WIDTH", "SCR_FLUSH_WIDTH",
    "SCR_JOB_",         "SCR_USER_NAME",     "SCR_CLUSTER", "SCR_CNTL_BASE",   "SCR_FETCH_BYPASS",
    "SCR_OPEN_",        "SCR_LAUNCHER",      "SCR_WATCHDOG"};

/// Reads numbers, and notes what is none.
class Numbers {
 public:
  Numbers(const Parameters& parameters, std::vector<std::string>& problems)
      : parameters_(parameters), problems_(problems) {}

  long get(const std::string& name, long otherwise, long least = 0) {
    const auto text = parameters_.get(name);
    if (!text || text->empty()) return otherwise;
    long value = 0;
    const char* const end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data(), end, value);
    if (error == std::errc() && rest == end && value >= least) return value;
    problems_.push_back(name + " is \"" + *text + "\", and not a number of at least " + std::to_string(least));
    return otherwise;
  }
  bool is_on(const std::string& name, bool otherwise) { return get(name, otherwise ? 1 : 0) != 0; }

 private:
  const Parameters& parameters_;
  std::vector<std::string>& problems_;
};

std::optional<Scheme> scheme_of(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  static const std::map<std::string, Scheme> schemes{
      {"SINGLE", Scheme::single}, {"PARTNER", Scheme::partner}, {"XOR", Scheme::parity}, {"RS", Scheme::reed_solomon}};
  const auto found = schemes.find(text);
  return found == schemes.end() ? std::nullopt : std::optional(found->second);
}

/// Takes the descriptor that is for each checkpoint. There is one group, so that others cannot have their own scheme.
void take_descriptor(const Parameters& parameters, Numbers& numbers, Settings& settings,
                     std::vector<std::string>& problems) {
  for (const std::string& name : parameters.names()) {
    if (!name.starts_with("CKPT=") || name.find(' ') != std::string::npos) continue;
    if (numbers.get(name + " INTERVAL", 1) != 1 || !numbers.is_on(name + " ENABLED", true)) continue;
    const std::string type = parameters.get(name + " TYPE", "XOR");
    const auto scheme = scheme_of(type);
    if (!scheme) problems.push_back(name + " has the TYPE " + type + ", and not SINGLE, PARTNER, XOR or RS");
    settings.redundancy.scheme = scheme.value_or(Scheme::parity);
    settings.redundancy.set_size = numbers.get(name + " SET_SIZE", settings.redundancy.set_size, 1);
    settings.redundancy.set_failures = numbers.get(name + " SET_FAILURES", settings.redundancy.set_failures, 1);
    settings.bypasses = numbers.is_on(name + " BYPASS", settings.bypasses);
    return;
  }
  problems.push_back("SCR_COPY_TYPE is " + parameters.get("SCR_COPY_TYPE", "") +
                     ", and no CKPT descriptor is enabled with INTERVAL=1");
}

bool is_known(const std::string& name) {
  const auto is_same = [&](const auto& each) { return name == each; };
  return std::any_of(kUsed.begin(), kUsed.end(), is_same) ||
         std::any_of(kSame.begin(), kSame.end(), [&](const auto& each) { return name == each.first; }) ||
         std::any_of(kOfNoConsequence.begin(), kOfNoConsequence.end(),
                     [&](std::string_view each) { return name.starts_with(each); });
}

/// Tells whether a switch has the value that it has by default.
bool is_default(const std::string& name, const std::string& value) {
  static const std::map<std::string, std::string> defaults{{"SCR_GROUP", "NODE"},
                                                           {"SCR_DISTRIBUTE", "1"},
                                                           {"SCR_COPY_METADATA", "1"},
                                                           {"SCR_FLUSH_TYPE", "SYNC"},
                                                           {"SCR_FETCH_TYPE", "SYNC"}};
  const auto found = defaults.find(name);
  return value == (found == defaults.end() ? "0" : found->second);
}

std::vector<const char*>& set_here() {
  static std::vector<const char*> variables;
  return variables;
}

void set_default(const char* variable, const std::string& value) {
  const char* const present = std::getenv(variable);
  if (present != nullptr && *present != 0) return;
  ::setenv(variable, value.c_str(), 1);
  set_here().push_back(variable);
}

/// 0 is the word of SCR for "not at all".
bool is_none(const std::string& number) {
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  return number.empty() || (*end == 0 && value <= 0);
}

}  // namespace

Settings settings_of(const Parameters& parameters, std::vector<std::string>& problems) {
  Numbers numbers(parameters, problems);
  Settings settings;
  std::error_code ignored;
  settings.prefix = parameters.get("SCR_PREFIX", "");
  if (settings.prefix.empty()) settings.prefix = fs::current_path(ignored);
  settings.is_enabled = numbers.is_on("SCR_ENABLE", true);
  settings.talks = numbers.is_on("SCR_DEBUG", false);
  settings.bypasses = numbers.is_on("SCR_CACHE_BYPASS", true);
  settings.flush.every = numbers.get("SCR_FLUSH", settings.flush.every);
  settings.flush.in_background = numbers.is_on("SCR_FLUSH_ASYNC", false);
  settings.fetches = numbers.is_on("SCR_FETCH", true);
  settings.current = parameters.get("SCR_CURRENT", "");
  settings.purges_memory = numbers.is_on("SCR_CACHE_PURGE", false);
  settings.purges_prefix = numbers.is_on("SCR_PREFIX_PURGE", false);
  settings.prefix_size = numbers.get("SCR_PREFIX_SIZE", 0);
  settings.drops_later = numbers.is_on("SCR_DROP_AFTER_CURRENT", false);
  settings.exits = numbers.is_on("SCR_HALT_EXIT", false);
  settings.cache_size = numbers.get("SCR_CACHE_SIZE", 1);
  settings.cache_base = parameters.get("SCR_CACHE_BASE", "");
  settings.redundancy.set_size = numbers.get("SCR_SET_SIZE", settings.redundancy.set_size, 1);
  settings.redundancy.set_failures = numbers.get("SCR_SET_FAILURES", settings.redundancy.set_failures, 1);
  if (const auto scheme = scheme_of(parameters.get("SCR_COPY_TYPE", "XOR"))) {
    settings.redundancy.scheme = *scheme;
  } else {
    take_descriptor(parameters, numbers, settings, problems);
  }
  return settings;
}

std::string ignored_parameters(const Parameters& parameters, const Settings& settings) {
  std::string ignored;
  const bool has_descriptors = !scheme_of(parameters.get("SCR_COPY_TYPE", "XOR"));
  for (const std::string& name : parameters.names()) {
    const bool is_item = name.find('=') != std::string::npos;
    const bool counts = is_item ? has_descriptors && name.starts_with("CKPT=") : is_known(name);
    const bool is_part = name.find(' ') != std::string::npos;
    // Files in their own places need no flush for a restart.
    const bool has_no_need = settings.bypasses && (name == "SCR_GLOBAL_RESTART" || name == "SCR_FLUSH_ON_RESTART");
    if (counts || is_part || has_no_need || is_default(name, parameters.get(name, ""))) continue;
    ignored += (ignored.empty() ? "" : ", ") + name;
  }
  return ignored;
}

void set_environment(const Parameters& parameters, const Settings& settings, const std::string& store) {
  set_default("FENIX_STORE", store);
  for (const auto& [own, variable] : kSame) {
    const auto value = parameters.get(own);
    // Fenix_Init refuses what is no number.
    if (value && !is_none(*value)) set_default(variable, *value);
  }
  // Memory that keepers have would be taken as well: the checkpoint is looked for in the store alone.
  if (!settings.fetches || settings.purges_memory) set_default("FENIX_FETCH", "off");
}

bool has_commit_limit() {
  static constexpr std::array kLimits{"FENIX_COMMIT_EVERY", "FENIX_COMMIT_SECONDS", "FENIX_COMMIT_OVERHEAD",
                                      "FENIX_COMMIT_MTBF"};
  return std::any_of(kLimits.begin(), kLimits.end(), [](const char* name) {
    const char* const value = fenix_impl::setting(name);
    return value != nullptr && !is_none(value);
  });
}

void reset_environment() {
  for (const char* variable : set_here()) ::unsetenv(variable);
  set_here().clear();
}

}  // namespace scr_impl
