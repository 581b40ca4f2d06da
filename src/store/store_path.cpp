// SPDX-License-Identifier: BSD-3-Clause
#include "store/store_path.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "base/fault.hpp"
#include "base/signals_blocked.hpp"

namespace fenix_impl {

// Where the current folder has been removed, the path stays as it is: it leads to nothing, and that is told.
std::string absolute_path(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  std::array<char, PATH_MAX> here{};
  if (::getcwd(here.data(), here.size()) == nullptr) return path;
  return std::string(here.data()) + "/" + path;
}

// The first job makes the folder: before, its parents alone have no links.
std::string path_of_store(const std::string& given) {
  if (given.empty()) return given;
  const std::string path = absolute_path(given);
  std::error_code error;
  std::filesystem::path found = std::filesystem::weakly_canonical(path, error);
  if (error) found = std::filesystem::path(path).lexically_normal();
  std::string text = found.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::string path_of_store(const std::string& given, std::chrono::seconds limit) {
  if (given.empty()) return given;
  std::packaged_task<std::string()> look([given] {
    fault_point("fetch.path");
    return path_of_store(given);
  });
  auto text = look.get_future();
  {
    const SignalsBlocked blocked;
    std::thread(std::move(look)).detach();
  }
  return text.wait_for(limit) == std::future_status::ready ? text.get() : absolute_path(given);
}

}  // namespace fenix_impl
