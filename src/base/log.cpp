// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>

#include <cstdlib>
#include <memory>

namespace fenix_impl {

spdlog::logger& log() {
  // Not registered with spdlog: an application that uses spdlog keeps its own registry and default logger. Never
  // destroyed: it may be used while the process exits.
  static auto* logger = [] {
    auto* made = new spdlog::logger("fenix", std::make_shared<spdlog::sinks::stderr_sink_st>());
    const char* level = std::getenv("FENIX_LOG");
    made->set_level(level != nullptr ? spdlog::level::from_str(level) : spdlog::level::off);
    made->set_pattern("[%H:%M:%S.%e %P fenix %l] %v");
    return made;
  }();
  return *logger;
}

}  // namespace fenix_impl
