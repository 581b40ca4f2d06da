// SPDX-License-Identifier: BSD-3-Clause
#include "rma/processes.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <span>
#include <string>

#include "base/environment.hpp"
#include "base/hash.hpp"

namespace fenix_impl {
namespace {

// A letter as in ps.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return '?';
  const std::size_t state = text.rfind(')') + 2;  // after the name, which may have anything in it
  return state < text.size() ? text[state] : '?';
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

bool is_gone(pid_t pid) {
  // Takes no descriptor: there may be none left.
  const std::string name = "/proc/" + std::to_string(pid);
  if (access(name.c_str(), F_OK) != 0 && errno == ENOENT) return true;
  const char state = state_of(pid);
  return state == 'Z' || state == 'X';
}

bool is_stopped(pid_t pid) {
  const char state = state_of(pid);
  return state == 'T' || state == 't';
}

}  // namespace fenix_impl
