// SPDX-License-Identifier: BSD-3-Clause
#include "base/caches.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace fenix_impl {
namespace {

std::string word_in(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// As in "32768K".
std::uint64_t size_in(const std::string& path) {
  std::istringstream text(word_in(path));
  std::uint64_t size = 0;
  char unit = ' ';
  text >> size >> unit;
  return size << (unit == 'K' ? 10U : unit == 'M' ? 20U : 0U);
}

// As in "0-3,8-11".
std::uint64_t processors_in(const std::string& path) {
  std::istringstream ranges(word_in(path));
  std::uint64_t count = 0;
  for (std::string range; std::getline(ranges, range, ',');) {
    std::istringstream ends(range);
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    char dash = ' ';
    if (!(ends >> first)) continue;
    if (!(ends >> dash >> last)) last = first;
    count += last >= first ? last - first + 1 : 0;
  }
  return count;
}

}  // namespace

std::uint64_t Caches::share_of(std::uint64_t processes) const {
  return second + last / std::max<std::uint64_t>(1, (processes + number - 1) / number);
}

Caches read_caches(const std::string& root, std::uint64_t processors) {
  Caches caches;
  int greatest = 0;
  for (int index = 0;; ++index) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    const std::string level_text = word_in(folder + "/level");
    if (level_text.empty()) break;
    const int level = level_text.front() - '0';
    const std::uint64_t size = size_in(folder + "/size");
    if (size == 0 || level < 2) continue;
    if (level == 2) caches.second = size;
    if (level < greatest) continue;
    greatest = level;
    const std::uint64_t sharing = std::max<std::uint64_t>(1, processors_in(folder + "/shared_cpu_list"));
    // A processor without a third level has only what it has counted already.
    caches.last = level > 2 ? size : 0;
    caches.number = std::max<std::uint64_t>(1, processors / sharing);
  }
  return caches;
}

}  // namespace fenix_impl
