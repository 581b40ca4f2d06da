// SPDX-License-Identifier: BSD-3-Clause
#include "base/own_path.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace fenix_impl {

std::string own_path() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&own_path), &info) == 0 || info.dli_fname == nullptr) return {};
  std::string path = info.dli_fname;
  if (path.front() == '/') return path;
  // The name by which the program was started, which says nothing of its folder.
  std::array<char, PATH_MAX> program{};
  const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size() - 1);
  path.assign(program.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return path;
}

}  // namespace fenix_impl
