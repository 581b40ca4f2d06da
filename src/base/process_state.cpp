// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_state.hpp"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace fenix_impl {

char process_state(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return '?';
  const std::size_t state = text.rfind(')') + 2;  // after the name, which may have anything in it
  return state < text.size() ? text[state] : '?';
}

bool is_killed(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("SigPnd:") && !line.starts_with("ShdPnd:")) continue;
    const std::uint64_t pending = std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 16);
    if ((pending >> (SIGKILL - 1) & 1U) != 0) return true;
  }
  return false;
}

}  // namespace fenix_impl
