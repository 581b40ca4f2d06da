// SPDX-License-Identifier: BSD-3-Clause
// Variables of the environment and of the files fenix.conf, strictly read. A value that is not allowed counts as the default, until
// Fenix_Init refuses it by check().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/known_variables.hpp"

namespace fenix_impl::environment {

/// A variable of the table: a name that is not in it does not compile.
class Name {
 public:
  consteval Name(const char* name)
      : variable_(&find(name)) {}  // NOLINT(google-explicit-constructor): a name is what callers have
  const Variable& operator*() const { return *variable_; }
  const Variable* operator->() const { return variable_; }

 private:
  static consteval const Variable& find(std::string_view name) {
    for (const Variable& each : kVariables) {
      if (each.name == name) return each;
    }
    throw "not in kVariables";
  }

  const Variable* variable_;
};

/// Returns what a text means: a number, 1 or 0 for on and off, the place of a word, 0 for a text. Nothing if it is not allowed.
[[nodiscard]] std::optional<double> parse(const Variable& variable, std::string_view text);
/// Returns the forms that a value may have, in words.
[[nodiscard]] std::string forms_of(const Variable& variable);

/// Whether there is one. An empty variable is none, whatever the files say.
[[nodiscard]] bool is_set(Name name);
/// Return the value, or the default if there is none, or none that is allowed. A time is in seconds.
[[nodiscard]] double number(Name name);
/// Rounds up.
[[nodiscard]] std::uint64_t whole(Name name);
[[nodiscard]] bool is_on(Name name);
[[nodiscard]] std::string_view word(Name name);
[[nodiscard]] std::string text(Name name);
/// Returns the value that counts, in one form for all ways to write it; empty if there is none, and no default.
[[nodiscard]] std::string effective_text(const Variable& variable);

/// Names the variable, its value and the allowed forms if the value is not allowed; else empty.
[[nodiscard]] std::string mistake_in(const Variable& variable);
/// Returns the same of lines of files, those that do not count too, and of files that cannot be read.
[[nodiscard]] std::vector<std::string> mistakes_in_files();
/// Returns what has set a variable: "environment", or file:line; empty if nothing has.
[[nodiscard]] std::string origin_of(const Variable& variable);
/// Returns a line NAME=VALUE for each variable that is set, of fenix-run too: times in seconds, sizes in bytes.
[[nodiscard]] std::vector<std::string> set_values();
/// Throws Error(FENIX_ERROR_INVALID_ARGUMENT) with the first mistake.
void check();

}  // namespace fenix_impl::environment
