// SPDX-License-Identifier: BSD-3-Clause
#include "journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace torture {
namespace {

int file = -1;

}  // namespace

void open_journal(const std::string& folder, const std::string& name) {
  file = ::open((folder + "/journal." + name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) std::exit(2);
  note("start " + std::to_string(::getpid()));
}

void note(const std::string& event) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  char time[32];
  std::snprintf(time, sizeof time, "%lld.%06ld ", static_cast<long long>(now.tv_sec), now.tv_nsec / 1000);
  const std::string line = time + event + "\n";
  // One call: a line is there as a whole or not at all.
  if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::exit(2);
}

}  // namespace torture
