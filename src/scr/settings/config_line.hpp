// SPDX-License-Identifier: BSD-3-Clause
// A line of a configuration file, or an argument of SCR_Config.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scr_impl {

struct ConfigLine {
  std::string name;                                        ///< the first one
  std::string value;                                       ///< empty: to be unset, or asked for
  std::vector<std::pair<std::string, std::string>> items;  ///< pairs that follow
  std::optional<std::string> asked;                        ///< what the line asks for, as Parameters names it
};

/// Reads pairs NAME=VALUE, with blanks around "=" and between them. Returns nothing for other texts.
std::optional<ConfigLine> parse_config_line(const std::string& text);

/// Puts variables of the environment in place of $NAME and ${NAME}. A variable that is not set is empty.
std::string expand_variables(const std::string& text);

}  // namespace scr_impl
