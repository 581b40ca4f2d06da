// SPDX-License-Identifier: BSD-3-Clause
#include "store/halt.hpp"

#include <charconv>
#include <span>
#include <sstream>

#include "store/sealed_file.hpp"

namespace fenix_impl {
namespace {

constexpr const char* kFile = "halt";

template <class T>
bool parse_whole(const std::string& text, T& number) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

template <class T>
bool parse_whole(const std::string& text, std::optional<T>& number) {
  return parse_whole(text, number.emplace());
}

}  // namespace

std::string text_of(const HaltConditions& conditions) {
  std::string text = "run " + std::to_string(conditions.run) + "\n";
  const auto add = [&text](const char* name, const auto& number) {
    if (number) text += std::string(name) + " " + std::to_string(*number) + "\n";
  };
  add("commits", conditions.commits);
  add("at", conditions.at);
  add("before", conditions.before);
  if (!conditions.reason.empty()) text += "reason " + conditions.reason + "\n";
  return text + "end\n";
}

// The last line says that no other one is missing.
std::optional<HaltConditions> parse_halt(const std::string& text) {
  HaltConditions conditions;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line == "end") return conditions.run != 0 ? std::optional(conditions) : std::nullopt;
    const auto space = line.find(' ');
    if (space == std::string::npos) return std::nullopt;
    const std::string name = line.substr(0, space);
    const std::string value = line.substr(space + 1);
    bool is_good = name == "reason";
    // It goes to ranks in one message.
    if (is_good) conditions.reason = value.substr(0, HaltConditions::kMostReasonBytes);
    if (name == "run") is_good = parse_whole(value, conditions.run);
    if (name == "commits") is_good = parse_whole(value, conditions.commits);
    if (name == "at") is_good = parse_whole(value, conditions.at);
    if (name == "before") is_good = parse_whole(value, conditions.before);
    if (!is_good) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<HaltConditions> read_halt(FileSystem& files, const std::string& root) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20U;
  const auto bytes = read_whole(files, root + "/" + kFile, kMostBytes);
  if (!bytes) return std::nullopt;
  return parse_halt({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

void write_halt(FileSystem& files, const std::string& root, const HaltConditions& conditions) {
  const std::string text = text_of(conditions);
  write_durably(files, root, kFile, std::string(kFile) + ".tmp", std::as_bytes(std::span(text)));
}

}  // namespace fenix_impl
