// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <mpi.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

namespace bench {

namespace {

/// What stands behind the name in a file of lines "name: value".
std::string entry(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) != 0) continue;
    const auto begin = line.find_first_not_of(" \t", line.find(':') + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

/// Of "always [madvise] never" the word in brackets.
std::string chosen(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const auto begin = line.find('[');
  const auto end = line.find(']');
  return begin == std::string::npos || end == std::string::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

std::string memory_text() {
  const double kilobytes = std::strtod(entry("/proc/meminfo", "MemTotal").c_str(), nullptr);
  return std::to_string(static_cast<long>(kilobytes / 1024 / 1024 + 0.5)) + " GiB";
}

std::string mpi_text() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  // What comes after the comma has the name of the host that it was built on.
  return std::string(text).substr(0, std::string(text).find(','));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_machine() {
  utsname system{};
  uname(&system);
  std::string cpu = entry("/proc/cpuinfo", "model name");
  if (cpu.empty()) cpu = system.machine;
  const std::string pages = "/sys/kernel/mm/transparent_hugepage/";
  return {{"fenix", FENIX_BENCH_VERSION},
          {"build", FENIX_BENCH_BUILD},
          {"cpu", cpu},
          {"cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
          {"memory", memory_text()},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"huge_pages", chosen(pages + "enabled") + ", of shared memory " + chosen(pages + "shmem_enabled")},
          {"compiler", FENIX_BENCH_COMPILER},
          {"mpi", mpi_text()}};
}

}  // namespace bench
