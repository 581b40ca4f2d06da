// SPDX-License-Identifier: BSD-3-Clause
#include "scr/settings/parameters.hpp"

#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>

#include "scr/settings/config_line.hpp"

namespace scr_impl {
namespace {

using Values = Parameters::Values;

/// Names of parameters that have several items.
constexpr std::array<std::string_view, 3> kManyItems{"CKPT", "GROUPS", "STORE"};

bool has_many_items(const ConfigLine& line) {
  if (!line.items.empty()) return true;
  for (const std::string_view each : kManyItems) {
    if (each == line.name) return true;
  }
  return false;
}

void put_value(Values& values, const std::string& name, const std::string& value) {
  if (value.empty()) {
    values.erase(name);
  } else {
    values[name] = value;
  }
}

void put_line(Values& values, const ConfigLine& line) {
  if (line.asked) return;
  if (!has_many_items(line)) {
    put_value(values, line.name, line.value);
    return;
  }
  const std::string parent = line.name + "=" + line.value;
  values[parent] = line.value;
  for (const auto& [name, value] : line.items) put_value(values, (parent + " ").append(name), value);
}

std::string in_upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// Reads a file, if there is one.
void read_config(const std::string& path, bool is_wanted, Values& values, std::vector<std::string>& complaints) {
  std::ifstream file(path);
  if (!file && is_wanted) complaints.push_back("the file " + path + " of SCR_CONF_FILE cannot be read");
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    text = text.substr(0, text.find('#'));
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto line = parse_config_line(text);
    if (!line || line->asked) {
      complaints.push_back("line " + std::to_string(number) + " of " + path + " has not the form NAME=VALUE");
      continue;
    }
    line->name = in_upper_case(line->name);
    for (auto& item : line->items) item.first = in_upper_case(item.first);
    put_line(values, *line);
  }
}

Values from_environment() {
  Values values;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view text(*each);
    const auto equals = text.find('=');
    if (text.starts_with("SCR_") && equals != std::string_view::npos && equals + 1 < text.size()) {
      values[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
  }
  return values;
}

/// A parameter with items counts as one.
std::string parent_of(const std::string& name) { return name.substr(0, name.find('=')); }

/// Adds those that an earlier place does not have.
void add_values(Values& values, const Values& later) {
  std::set<std::string> known;
  for (const auto& [name, value] : values) known.insert(parent_of(name));
  for (const auto& [name, value] : later) {
    if (!known.contains(parent_of(name))) values[name] = value;
  }
}

std::optional<std::string> value_of(const Values& values, const std::string& name) {
  if (const auto found = values.find(name); found != values.end()) return found->second;
  // The only one of several items is meant by the name alone.
  std::optional<std::string> only;
  for (const auto& [each, value] : values) {
    if (!each.starts_with(name + "=") || each.find(' ') != std::string::npos) continue;
    if (only) return std::nullopt;
    only = value;
  }
  return only;
}

}  // namespace

Values Parameters::merged(std::vector<std::string>& complaints) const {
  Values values = from_environment();
  // These say where the file is, so that they cannot be in it.
  const auto place = [&](const char* name) {
    auto value = value_of(values, name);
    if (!value) value = value_of(by_program_, name);
    return value ? std::optional(expand_variables(*value)) : std::nullopt;
  };
  const auto file = place("SCR_CONF_FILE");
  Values by_user;
  read_config(file.value_or(place("SCR_PREFIX").value_or(".") + "/.scrconf"), file.has_value(), by_user, complaints);
  by_user.erase("SCR_PREFIX");
  by_user.erase("SCR_CONF_FILE");
  add_values(values, by_user);
  add_values(values, by_program_);
  Values of_system;
  read_config(system_file_, false, of_system, complaints);
  add_values(values, of_system);
  Values expanded;
  for (const auto& [name, value] : values) expanded[expand_variables(name)] = expand_variables(value);
  return expanded;
}

std::optional<std::string> Parameters::get(const std::string& name) const {
  if (settled_) return value_of(*settled_, name);
  std::vector<std::string> ignored;
  return value_of(merged(ignored), name);
}

std::string Parameters::get(const std::string& name, const std::string& otherwise) const {
  return get(name).value_or(otherwise);
}

std::vector<std::string> Parameters::names() const {
  std::vector<std::string> ignored;
  std::vector<std::string> names;
  for (const auto& [name, value] : settled_ ? *settled_ : merged(ignored)) names.push_back(name);
  return names;
}

void Parameters::set(const ConfigLine& line) { put_line(by_program_, line); }

std::string Parameters::text_of(const Values& values) {
  std::string text;
  // No value has a zero.
  for (const auto& [name, value] : values) text.append(name).append(1, '\0').append(value).append(1, '\0');
  return text;
}

std::string Parameters::read_all(std::vector<std::string>& complaints) const { return text_of(merged(complaints)); }

void Parameters::use(const std::string& text) {
  settled_.emplace();
  for (std::size_t at = 0; at < text.size();) {
    const std::string name = text.c_str() + at;
    at += name.size() + 1;
    if (at >= text.size()) return;
    const std::string value = text.c_str() + at;
    at += value.size() + 1;
    (*settled_)[name] = value;
  }
}

}  // namespace scr_impl
