// SPDX-License-Identifier: BSD-3-Clause
#include "base/fault.hpp"

#ifdef FENIX_FAULT_INJECTION

#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace fenix_impl {
namespace {

struct Fault {
  std::string point;
  int remaining = 0;
};

// The launcher tells the rank before MPI is up, so that kill points work at any time.
std::string own_rank() {
  const char* rank = std::getenv("PMIX_RANK");
  const char* spawn = std::getenv("FENIX_REPLACEMENT");
  const std::string prefix = spawn != nullptr ? std::string("s") + spawn + "." : "";
  return prefix + (rank != nullptr ? rank : "0");
}

std::vector<Fault> read_environment() {
  std::vector<Fault> faults;
  const char* text = std::getenv("FENIX_FAULT");
  std::istringstream list(text != nullptr ? text : "");
  for (std::string entry; std::getline(list, entry, ',');) {
    std::istringstream fields(entry);
    std::string point;
    std::string rank;
    std::string count;
    std::getline(fields, point, ':');
    std::getline(fields, rank, ':');
    std::getline(fields, count, ':');
    if (rank == own_rank()) faults.push_back({point, std::atoi(count.c_str())});
  }
  return faults;
}

}  // namespace

void fault_point(const char* name) {
  static std::vector<Fault> faults = read_environment();
  for (Fault& fault : faults) {
    if (fault.point == name && --fault.remaining == 0) ::raise(SIGKILL);
  }
}

}  // namespace fenix_impl

#endif
