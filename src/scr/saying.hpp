// SPDX-License-Identifier: BSD-3-Clause
// Words to the user, on standard error.
#pragma once

#include <cstdio>
#include <string>

namespace scr_impl {

inline void say(const std::string& text) { std::fprintf(stderr, "scr: %s\n", text.c_str()); }

/// Says why a call is refused. Returns false.
inline bool refuse(const std::string& why) {
  say(why);
  return false;
}

}  // namespace scr_impl
