// SPDX-License-Identifier: BSD-3-Clause
// What this process uses of the system, to be compared over a long time.
#pragma once

#include <dirent.h>
#include <malloc.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace fenix_test {

struct UsedResources {
  long resident_kib = 0;  ///< of private memory
  long shared_kib = 0;    ///< resident pages of regions
  long descriptors = 0;
  long mappings = 0;
};

inline long value_in_status(const char* name) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.compare(0, std::strlen(name), name) == 0)
      return std::strtol(line.c_str() + std::strlen(name), nullptr, 10);
  }
  return 0;
}

inline UsedResources used_resources() {
  // Free memory that malloc keeps says nothing of what is used.
  malloc_trim(0);
  UsedResources used;
  used.resident_kib = value_in_status("RssAnon:");
  used.shared_kib = value_in_status("RssShmem:");
  if (DIR* const folder = opendir("/proc/self/fd")) {
    while (readdir(folder) != nullptr) ++used.descriptors;
    closedir(folder);
    used.descriptors -= 3;  // the folder itself, . and ..
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++used.mappings;
  return used;
}

}  // namespace fenix_test
