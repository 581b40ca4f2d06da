// SPDX-License-Identifier: BSD-3-Clause
// Parameters of SCR: from the environment, the user's file, and SCR_Config.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace scr_impl {

class Parameters {
 public:
  /// Gets a value. "CKPT=0 TYPE" is the name of one item of several.
  [[nodiscard]] std::optional<std::string> get(const std::string& name) const;
  [[nodiscard]] std::string get(const std::string& name, const std::string& otherwise) const;
  /// Gets a number; otherwise, if there is no value, or it is no number.
  [[nodiscard]] long number(const std::string& name, long otherwise) const;

  /// Tells whether a line of SCR_Config asks for a value.
  [[nodiscard]] static bool is_question(const std::string& line);
  /// Takes a line "KEY=VALUE", "KEY=" or "CKPT=0 KEY=VALUE …".
  void set(const std::string& line);

 private:
  using Values = std::map<std::string, std::string>;

  static void take(Values& values, const std::string& line);
  [[nodiscard]] std::optional<std::string> found_in_file(const std::string& name) const;

  Values values_;
  mutable std::optional<Values> file_;
};

}  // namespace scr_impl
