// SPDX-License-Identifier: BSD-3-Clause
#include "base/available_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

namespace fenix_impl {
namespace {

constexpr std::size_t kEndless = std::numeric_limits<std::size_t>::max();

std::size_t without(std::size_t bytes, std::size_t less) { return bytes > less ? bytes - less : 0; }

/// The number in a file that has nothing else. None for "max".
std::optional<std::size_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The number behind a name in a file of names and numbers.
std::optional<std::size_t> number_of(std::string_view wanted, const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    std::size_t number = 0;
    if (fields >> name >> number && name == wanted) return number;
  }
  return std::nullopt;
}

std::size_t system_has(const std::string& root) {
  constexpr std::size_t kReserve = std::size_t{256} << 20;
  const auto kilobytes = number_of("MemAvailable:", root + "/proc/meminfo");
  return kilobytes ? without(*kilobytes * 1024, kReserve) : kEndless;
}

/// The files of a kind of control groups.
struct Kind {
  const char* mount;
  const char* limit;
  const char* used;
  const char* reclaimable;  ///< in memory.stat: counts as used, but is given back when it is needed
};

constexpr Kind kVersion2{"/sys/fs/cgroup", "/memory.max", "/memory.current", "inactive_file"};
constexpr Kind kVersion1{"/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                         "total_inactive_file"};

std::size_t left_in(const Kind& kind, const std::string& folder) {
  const auto limit = number_in(folder + kind.limit);
  const auto used = number_in(folder + kind.used);
  if (!limit || !used) return kEndless;
  const std::size_t reserve = *limit / 32;
  const std::size_t in_use = without(*used, number_of(kind.reclaimable, folder + "/memory.stat").value_or(0));
  return without(without(*limit, in_use), reserve);
}

/// Returns the bytes left to a group: the limits of all groups that contain it hold, too.
std::size_t left_up_from(const Kind& kind, const std::string& root, std::string group) {
  const std::string mount = root + kind.mount;
  std::size_t least = left_in(kind, mount);
  while (group.size() > 1) {
    least = std::min(least, left_in(kind, mount + group));
    group.erase(group.rfind('/'));
  }
  return least;
}

std::size_t control_groups_have(const std::string& root) {
  std::size_t least = kEndless;
  std::ifstream file(root + "/proc/self/cgroup");
  // number:controllers:path, without controllers in version 2
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (group.empty() || group.front() != '/') continue;
    if (controllers == ",,") least = std::min(least, left_up_from(kVersion2, root, group));
    if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, left_up_from(kVersion1, root, group));
    }
  }
  return least;
}

}  // namespace

std::size_t available_memory(const std::string& root) { return std::min(system_has(root), control_groups_have(root)); }

}  // namespace fenix_impl
