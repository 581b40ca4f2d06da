// SPDX-License-Identifier: BSD-3-Clause
#include "base/limits.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>

#include "base/descriptor.hpp"

namespace fenix_impl {
namespace {

std::string named(const char* limit, unsigned long long value) {
  return std::string(" (") + limit + ": " + std::to_string(value) + ")";
}

std::string resource_limit(__rlimit_resource resource, const char* name) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return named(name, limit.rlim_cur);
}

// Reads a file of the system through a buffer of its own: there may be no memory.
template <class Use>
void for_each_part(const char* name, Use&& use) {
  const Descriptor file(open(name, O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> part;
  ssize_t got = 0;
  while (file && (got = read(file.get(), part.data(), part.size())) > 0) use(part.data(), part.data() + got);
}

long number_in(const char* name) {
  long number = 0;
  for_each_part(name, [&](const char* begin, const char* end) { std::from_chars(begin, end, number); });
  return number;
}

// The system counts a few mappings more or less than it shows.
std::string mappings_limit() {
  constexpr long kUnclear = 16;
  const long most = number_in("/proc/sys/vm/max_map_count");
  long there = 0;
  for_each_part("/proc/self/maps", [&](const char* begin, const char* end) { there += std::count(begin, end, '\n'); });
  if (most == 0 || there + kUnclear < most) return {};
  return named("vm.max_map_count", static_cast<unsigned long long>(most));
}

}  // namespace

std::string limit_met(int error) {
  switch (error) {
    case EMFILE:
      return resource_limit(RLIMIT_NOFILE, "RLIMIT_NOFILE");
    case ENFILE:
      return " (fs.file-max)";
    case EFBIG:
      return resource_limit(RLIMIT_FSIZE, "RLIMIT_FSIZE");
    case ENOMEM: {
      const std::string mappings = mappings_limit();
      return mappings.empty() ? resource_limit(RLIMIT_AS, "RLIMIT_AS") : mappings;
    }
    default:
      return {};
  }
}

}  // namespace fenix_impl
