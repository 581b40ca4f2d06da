// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/settings.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

constexpr std::array<unsigned, FENIX_SETTING_NAME_MAXCODE> kOptionCount{
    FENIX_RECOVERY_MODE_MAXCODE,           FENIX_RESUME_MODE_MAXCODE,        FENIX_UNHANDLED_MODE_MAXCODE,
    FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE, FENIX_MLOG_RECOVERY_MODE_MAXCODE, FENIX_SPARE_WAIT_MODE_MAXCODE,
    FENIX_SPARE_FINALIZE_MODE_MAXCODE};

const std::map<std::string, unsigned> kResumeModes{{"FENIX_INIT", FENIX_RESUME_JUMP},
                                                   {"JUMP", FENIX_RESUME_JUMP},
                                                   {"RETURN", FENIX_RESUME_RETURN},
                                                   {"NO_JUMP", FENIX_RESUME_RETURN},
                                                   {"THROW", FENIX_RESUME_THROW}};
const std::map<std::string, unsigned> kUnhandledModes{
    {"SILENT", FENIX_UNHANDLED_SILENT},
    {"PRINT", FENIX_UNHANDLED_PRINT},
    {"NO_JUMP", FENIX_UNHANDLED_PRINT},  // the name in the released Fenix
    {"ABORT", FENIX_UNHANDLED_ABORT}};

std::size_t checked(int setting) {
  if (setting < 0 || setting >= FENIX_SETTING_NAME_MAXCODE) {
    throw Error(FENIX_ERROR_INVALID_SETTING_NAME, "setting " + std::to_string(setting) + " does not exist");
  }
  return static_cast<std::size_t>(setting);
}

std::optional<std::string> value_of(MPI_Info info, const char* key) {
  int length = 0;
  int found = 0;
  MPI_Info_get_valuelen(info, key, &length, &found);
  if (found == 0) return std::nullopt;
  std::vector<char> text(static_cast<std::size_t>(length) + 1);
  MPI_Info_get(info, key, length, text.data(), &found);
  std::string value(text.data());
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::toupper(c); });
  return value;
}

void take_key(Settings& settings, MPI_Info info, const char* key, Fenix_Setting_name setting,
              const std::map<std::string, unsigned>& options, std::vector<std::string>& ignored) {
  const auto value = value_of(info, key);
  if (!value) return;
  const auto option = options.find(*value);
  if (option == options.end()) {
    ignored.push_back(std::string("info of Fenix_Init: key ") + key + " has the unknown value " + *value +
                      ", which is ignored");
    return;
  }
  settings.set(setting, option->second);
}

}  // namespace

Settings& Settings::operator=(const Settings& other) {
  for (std::size_t i = 0; i < options_.size(); ++i) {
    options_[i] = other.options_[i].load();
    is_set_[i] = other.is_set_[i].load();
  }
  return *this;
}

void Settings::set(int setting, unsigned option) {
  const std::size_t index = checked(setting);
  if (option >= kOptionCount[index]) {
    throw Error(FENIX_ERROR_INVALID_SETTING_OPTION,
                "option " + std::to_string(option) + " does not exist for this setting");
  }
  options_[index] = option;
  is_set_[index] = true;
}

void Settings::set_default(int setting, unsigned option) {
  const std::size_t index = checked(setting);
  if (!is_set_[index]) options_[index] = option;
}

unsigned Settings::get(int setting) const { return options_[checked(setting)]; }

std::vector<std::string> Settings::take(MPI_Info info) {
  std::vector<std::string> ignored;
  if (info == MPI_INFO_NULL) return ignored;
  take_key(*this, info, "resume_mode", FENIX_RESUME_MODE, kResumeModes, ignored);
  take_key(*this, info, "FENIX_RESUME_MODE", FENIX_RESUME_MODE, kResumeModes, ignored);
  take_key(*this, info, "FENIX_UNHANDLED_MODE", FENIX_UNHANDLED_MODE, kUnhandledModes, ignored);
  return ignored;
}

}  // namespace fenix_impl
