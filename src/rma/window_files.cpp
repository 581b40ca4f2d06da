// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/log.hpp"

namespace fenix_impl {

void remove_window_files(pid_t ended, const std::string& folder) noexcept {
  try {
    const std::string prefix = "osc_rdma.";  // osc_rdma.<node>.<job>.<communicator>.<pid>
    const std::string suffix = "." + std::to_string(ended);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      struct stat status {};
      if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
      if (lstat(entry.path().c_str(), &status) != 0 || status.st_uid != geteuid()) continue;
      if (unlink(entry.path().c_str()) == 0) log().info("removed {}, left by process {}", name, ended);
    }
  } catch (const std::exception&) {
    // A file more or less: not worth an error.
  }
}

}  // namespace fenix_impl
