// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/environment.hpp"

namespace fenix_impl {
namespace {

/// Returns a socket that only one process of a job has on each node, as long as it lives; an empty one if another process has it. Nothing if
/// it cannot be known.
std::optional<Descriptor> take_word(const char* job, std::size_t what) {
  Descriptor word(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!word) return {};
  // Names that begin with 0 are in no file system, and go with the process.
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "fenix-%zx-%zx",
                                   std::hash<std::string_view>()(job), what);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
  if (::bind(word.get(), reinterpret_cast<const sockaddr*>(&name), size) == 0) return word;
  return errno == EADDRINUSE ? std::optional<Descriptor>(Descriptor()) : std::nullopt;
}

/// Writes each warning once: what goes wrong at each commit, or on each rank of a node, is told once.
class Screen : public spdlog::sinks::stderr_sink_mt {
 public:
  /// all_ranks: those of a node may say the same.
  explicit Screen(bool all_ranks) : all_ranks_(all_ranks) {}

  void log(const spdlog::details::log_msg& message) override {
    if (message.level == spdlog::level::warn && !is_new({message.payload.data(), message.payload.size()})) return;
    stdout_sink_base::log(message);
  }

 private:
  bool is_new(std::string_view text) {
    constexpr std::size_t kMost = 1000;
    const std::lock_guard lock(said_mutex_);
    const std::size_t what = std::hash<std::string_view>()(text);
    return said_.size() >= kMost || (said_.insert(what).second && is_first_of_node(what));
  }

  bool is_first_of_node(std::size_t what) {
    constexpr std::size_t kMost = 32;  // descriptors are few
    const char* const job = std::getenv("PMIX_NAMESPACE");
    if (all_ranks_ || job == nullptr || words_.size() >= kMost) return true;
    auto word = take_word(job, what);
    if (!word) return true;
    if (!*word) return false;
    words_.push_back(std::move(*word));
    return true;
  }

  const bool all_ranks_;
  std::mutex said_mutex_;
  std::set<std::size_t> said_;
  std::vector<Descriptor> words_;
};

}  // namespace

spdlog::logger& log() {
  // Not registered with spdlog: an application that uses spdlog keeps its own registry and default logger. Never
  // destroyed: it may be used while the process exits.
  static auto* logger = [] {
    const auto level = spdlog::level::from_str(std::string(environment::word("FENIX_LOG")));
    auto* made = new spdlog::logger("fenix", std::make_shared<Screen>(/*all_ranks=*/level < spdlog::level::warn));
    made->set_level(level);
    made->set_pattern("[%H:%M:%S.%e %P fenix %l] %v");
    return made;
  }();
  return *logger;
}

}  // namespace fenix_impl
