// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/environment.hpp"

namespace fenix_impl {
namespace {

/// Writes each warning once: what goes wrong at each commit is not told at each commit.
class Screen : public spdlog::sinks::stderr_sink_mt {
 public:
  void log(const spdlog::details::log_msg& message) override {
    if (message.level == spdlog::level::warn && !is_new({message.payload.data(), message.payload.size()})) return;
    stdout_sink_base::log(message);
  }

 private:
  bool is_new(std::string_view text) {
    constexpr std::size_t kMost = 1000;
    const std::lock_guard lock(said_mutex_);
    return said_.size() >= kMost || said_.insert(std::hash<std::string_view>()(text)).second;
  }

  std::mutex said_mutex_;
  std::set<std::size_t> said_;
};

}  // namespace

spdlog::logger& log() {
  // Not registered with spdlog: an application that uses spdlog keeps its own registry and default logger. Never
  // destroyed: it may be used while the process exits.
  static auto* logger = [] {
    auto* made = new spdlog::logger("fenix", std::make_shared<Screen>());
    made->set_level(spdlog::level::from_str(std::string(environment::word("FENIX_LOG"))));
    made->set_pattern("[%H:%M:%S.%e %P fenix %l] %v");
    return made;
  }();
  return *logger;
}

}  // namespace fenix_impl
