// SPDX-License-Identifier: BSD-3-Clause
#include "rma/processes.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <span>
#include <sstream>
#include <string>

#include "base/environment.hpp"
#include "base/process_state.hpp"
#include "base/simd/hash.hpp"

namespace fenix_impl {
namespace {

// Fields of /proc/<pid>/stat: the name, and the parent behind it.
struct Ancestor {
  std::string name;
  pid_t parent = 0;
};

Ancestor ancestor_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return {};
  const std::size_t begin = text.find('(');
  const std::size_t end = text.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  Ancestor ancestor{text.substr(begin + 1, end - begin - 1), 0};
  std::istringstream behind(text.substr(end + 1));
  char state = 0;
  behind >> state >> ancestor.parent;
  return ancestor;
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace

std::uint64_t node_id() {
  std::string id = boot_id();
  std::array<char, 128> space{};
  const ssize_t length = readlink("/proc/self/ns/pid", space.data(), space.size());
  id.append(space.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return hash_bytes(std::as_bytes(std::span(id)));
}

Location this_location() {
  std::array<char, 256> name{};
  (void)gethostname(name.data(), name.size() - 1);
  const std::string node = boot_id() + name.data();
  const std::string domain = environment::text("FENIX_FAILURE_DOMAIN");
  return {domain.empty() ? 0 : hash_bytes(std::as_bytes(std::span(domain))),
          hash_bytes(std::as_bytes(std::span(node)))};
}

// A program may be started by a shell, which ends with it.
pid_t launcher_of_this_process() {
  constexpr std::array<const char*, 5> kLaunchers{"prterun", "prted", "mpirun", "mpiexec", "slurmstepd"};
  for (pid_t pid = getppid(); pid > 1;) {
    const Ancestor ancestor = ancestor_of(pid);
    if (std::find(kLaunchers.begin(), kLaunchers.end(), ancestor.name) != kLaunchers.end()) return pid;
    pid = ancestor.parent;
  }
  return getppid();
}

bool is_gone(pid_t pid) {
  // Takes no descriptor: there may be none left.
  const std::string name = "/proc/" + std::to_string(pid);
  if (access(name.c_str(), F_OK) != 0 && errno == ENOENT) return true;
  const char state = process_state(pid);
  return state == 'Z' || state == 'X';
}

bool is_stopped(pid_t pid) {
  const char state = process_state(pid);
  return state == 'T' || state == 't';
}

}  // namespace fenix_impl
