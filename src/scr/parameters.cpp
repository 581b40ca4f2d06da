// SPDX-License-Identifier: BSD-3-Clause
#include "scr/parameters.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace scr_impl {
namespace {

/// Names of parameters that have several items.
constexpr std::array<std::string_view, 3> kManyItems{"CKPT", "GROUPS", "STORE"};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string unquoted(const std::string& text) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

bool has_many_items(const std::string& name) {
  for (const std::string_view each : kManyItems) {
    if (each == name) return true;
  }
  return false;
}

}  // namespace

void Parameters::take(Values& values, const std::string& line) {
  const auto equals = line.find('=');
  if (equals == std::string::npos) return;
  const auto put = [&values](const std::string& name, const std::string& value) {
    if (value.empty()) {
      values.erase(name);
    } else {
      values[name] = value;
    }
  };
  const std::string name = trimmed(line.substr(0, equals));
  if (!has_many_items(name)) {
    put(name, unquoted(trimmed(line.substr(equals + 1))));
    return;
  }
  std::istringstream words(line);
  std::string parent;
  words >> parent;
  values[parent] = parent.substr(equals + 1);
  for (std::string word; words >> word;) {
    const auto split = word.find('=');
    if (split != std::string::npos) put(parent + " " + word.substr(0, split), unquoted(word.substr(split + 1)));
  }
}

bool Parameters::is_question(const std::string& line) {
  const std::string text = trimmed(line);
  const auto equals = text.find('=');
  if (equals == std::string::npos) return true;
  const auto last = text.find_last_of(" \t");
  return has_many_items(text.substr(0, equals)) && last != std::string::npos &&
         text.find('=', last) == std::string::npos;
}

void Parameters::set(const std::string& line) { take(values_, trimmed(line)); }

std::optional<std::string> Parameters::found_in_file(const std::string& name) const {
  // These say where the file is.
  if (name == "SCR_PREFIX" || name == "SCR_CONF_FILE") return std::nullopt;
  if (!file_) {
    file_.emplace();
    const std::string prefix = get("SCR_PREFIX", ".");
    std::ifstream file(get("SCR_CONF_FILE", prefix + "/.scrconf"));
    for (std::string line; std::getline(file, line);) take(*file_, trimmed(line.substr(0, line.find('#'))));
  }
  const auto found = file_->find(name);
  return found == file_->end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> Parameters::get(const std::string& name) const {
  const std::string wanted = trimmed(name);
  if (const char* const text = std::getenv(wanted.c_str()); text != nullptr && *text != 0) return text;
  if (auto value = found_in_file(wanted)) return value;
  const auto found = values_.find(wanted);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::string Parameters::get(const std::string& name, const std::string& otherwise) const {
  return get(name).value_or(otherwise);
}

long Parameters::number(const std::string& name, long otherwise) const {
  const auto text = get(name);
  if (!text) return otherwise;
  long value = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  return error == std::errc() && rest == end ? value : otherwise;
}

}  // namespace scr_impl
