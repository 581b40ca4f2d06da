// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>

#include "base/error.hpp"
#include "base/other_variables.hpp"
#include "base/settings_files.hpp"

namespace fenix_impl::environment {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kUnitsOfBytes{Unit{"K", 1024.}, Unit{"M", 1024. * 1024}, Unit{"G", 1024. * 1024 * 1024},
                                   Unit{"T", 1024. * 1024 * 1024 * 1024}};
constexpr std::array kUnitsOfTime{Unit{"ms", 0.001}, Unit{"s", 1.}, Unit{"m", 60.}, Unit{"h", 3600.},
                                  Unit{"d", 86400.}};

std::string_view raw(const Variable& variable) {
  const char* const value = setting(variable.name.data());
  return value != nullptr ? value : "";
}

std::optional<double> number_in(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || text.front() == '-') return {};
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (unit.empty()) return number;
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& each) { return each.name == unit; });
  return found != units.end() ? std::optional(number * found->factor) : std::nullopt;
}

std::optional<double> whole_in(std::string_view text, std::span<const Unit> units) {
  return text.find('.') == std::string_view::npos ? number_in(text, units) : std::nullopt;
}

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(between);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> place_of(std::string_view word, std::string_view words) {
  const auto all = parts_of(words, ' ');
  const auto found = std::find(all.begin(), all.end(), word);
  return found != all.end() ? std::optional(static_cast<double>(found - all.begin())) : std::nullopt;
}

std::optional<double> switch_in(std::string_view text) {
  if (text == "on" || text == "1") return 1;
  return text == "off" || text == "0" ? std::optional(0.) : std::nullopt;
}

bool are_faults(std::string_view text) {
  const auto all = parts_of(text, ',');
  return std::all_of(all.begin(), all.end(), [](std::string_view each) {
    const auto fields = parts_of(each, ':');
    return fields.size() >= 3 && !fields[0].empty() && !fields[1].empty() && whole_in(fields[2], {});
  });
}

std::string rounded(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed).ptr;
  return {text.data(), end};
}

std::string range_of(const Variable& variable) {
  if (variable.most <= 100) return " from " + rounded(variable.least) + " to " + rounded(variable.most);
  return variable.least > 0 ? ", at least " + rounded(variable.least) : "";
}

constexpr const char* kEnvironment = "environment";

std::string mistake(const Variable& variable, std::string_view given, const std::string& where) {
  constexpr std::size_t kLongest = 60;
  return std::string(variable.name) + " is \"" + std::string(given.substr(0, kLongest)) + "\" in " + where +
         ", and has to be " + forms_of(variable);
}

Variable as_variable(const OtherVariable& other) {
  return Variable{.name = other.name, .form = other.form, .words = "a text", .most = kMostWhole};
}

/// Returns the variable of the library, or of fenix-run, with this name.
std::optional<Variable> variable_in_file(std::string_view name) {
  for (const Variable& each : kVariables) {
    if (each.name == name) return each;
  }
  for (const OtherVariable& each : kOtherVariables) {
    if (each.name == name && each.may_be_in_file) return as_variable(each);
  }
  return {};
}

double value_of(const Variable& variable) {
  const std::string_view given = raw(variable);
  const auto value = given.empty() ? std::nullopt : parse(variable, given);
  return value ? *value : parse(variable, variable.without).value_or(0);
}

}  // namespace

std::optional<double> parse(const Variable& variable, std::string_view text) {
  std::optional<double> value;
  if (text.empty()) return value;
  switch (variable.form) {
    case Form::whole:
      value = whole_in(text, {});
      break;
    case Form::number:
      value = number_in(text, {});
      break;
    case Form::bytes:
      value = whole_in(text, kUnitsOfBytes);
      break;
    case Form::duration:
      value = number_in(text, kUnitsOfTime);
      break;
    case Form::on_off:
      return switch_in(text);
    case Form::choice:
      return place_of(text, variable.words);
    case Form::faults:
      return are_faults(text) ? std::optional(0.) : std::nullopt;
    case Form::text:
      return 0;
  }
  return value && *value >= variable.least && *value <= variable.most ? value : std::nullopt;
}

std::string forms_of(const Variable& variable) {
  switch (variable.form) {
    case Form::whole:
      return "a whole number" + range_of(variable);
    case Form::number:
      return "a number" + range_of(variable);
    case Form::bytes:
      return "bytes: a whole number" + range_of(variable) + "; K, M, G or T may stand behind it";
    case Form::duration:
      return "seconds" + range_of(variable) + "; ms, s, m, h or d may stand behind the number";
    case Form::on_off:
      return "on or off, or 1 or 0";
    case Form::faults:
      return "point:rank:count[:action], several with commas";
    case Form::text:
      return std::string(variable.words);
    case Form::choice:
      break;
  }
  std::string text;
  const auto words = parts_of(variable.words, ' ');
  for (const std::string_view& each : words) {
    if (!text.empty()) text += &each == &words.back() ? " or " : ", ";
    text += each;
  }
  return text;
}

bool is_set(Name name) { return !raw(*name).empty(); }

double number(Name name) { return value_of(*name); }

std::uint64_t whole(Name name) { return static_cast<std::uint64_t>(std::ceil(value_of(*name))); }

bool is_on(Name name) { return value_of(*name) != 0; }

std::string_view word(Name name) {
  const std::string_view given = raw(*name);
  return parse(*name, given) ? given : name->without;
}

std::string text(Name name) { return std::string(raw(*name)); }

std::string effective_text(const Variable& variable) {
  // Without a default, no value is another one than 0.
  if (raw(variable).empty() && variable.without.empty()) return {};
  return variable.form == Form::text ? std::string(raw(variable)) : rounded(value_of(variable));
}

std::string mistake_in(const Variable& variable) {
  const std::string_view given = raw(variable);
  if (given.empty() || parse(variable, given)) return {};
  const std::string origin = origin_of(variable);
  return mistake(variable, given, origin == kEnvironment ? "the environment" : origin);
}

std::vector<std::string> mistakes_in_files() {
  std::vector<std::string> found = settings_files().mistakes();
  for (const Setting& each : settings_files().all()) {
    const auto variable = variable_in_file(each.name);
    if (!variable) {
      found.push_back(each.name + " in " + each.place + " is no variable of Fenix that a file may have");
    } else if (!parse(*variable, each.value)) {
      found.push_back(mistake(*variable, each.value, each.place));
    }
  }
  return found;
}

std::string origin_of(const Variable& variable) {
  if (std::getenv(variable.name.data()) != nullptr) return kEnvironment;
  const Setting* const found = settings_files().find(variable.name);
  return found != nullptr ? found->place : "";
}

std::vector<std::string> set_values() {
  std::vector<std::string> lines;
  const auto add = [&](const Variable& each) {
    const std::string_view given = raw(each);
    const auto value = parse(each, given);
    const bool is_number = each.form == Form::bytes || each.form == Form::duration;
    if (value) lines.push_back(std::string(each.name) + "=" + (is_number ? rounded(*value) : std::string(given)));
  };
  for (const Variable& each : kVariables) add(each);
  for (const OtherVariable& each : kOtherVariables) {
    if (each.may_be_in_file) add(as_variable(each));
  }
  return lines;
}

void check() {
  if (const auto all = mistakes_in_files(); !all.empty()) throw Error(FENIX_ERROR_INVALID_ARGUMENT, all.front());
  for (const Variable& each : kVariables) {
    if (const auto mistake = mistake_in(each); !mistake.empty()) throw Error(FENIX_ERROR_INVALID_ARGUMENT, mistake);
  }
}

}  // namespace fenix_impl::environment
