// SPDX-License-Identifier: BSD-3-Clause
#include "store/run_log.hpp"

#include <array>
#include <ctime>
#include <exception>
#include <span>

#include "store/sealed_file.hpp"

namespace fenix_impl {
namespace {

std::string log_file(const std::string& root, std::uint32_t run) { return root + "/log." + std::to_string(run); }

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  gmtime_r(&now, &parts);
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

}  // namespace

void note_in_log(FileSystem& files, const std::string& root, std::uint32_t run, const std::string& text) noexcept {
  try {
    const std::string line = time_now() + " " + text + "\n";
    files.append(log_file(root, run), std::as_bytes(std::span(line)));
  } catch (const std::exception&) {
    // The work itself counts.
  }
}

std::optional<std::string> read_log(FileSystem& files, const std::string& root, std::uint32_t run) {
  const auto bytes = read_whole(files, log_file(root, run));
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

}  // namespace fenix_impl
