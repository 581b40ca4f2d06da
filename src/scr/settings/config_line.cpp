// SPDX-License-Identifier: BSD-3-Clause
#include "scr/settings/config_line.hpp"

#include <cctype>
#include <cstdlib>
#include <string_view>

namespace scr_impl {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Words of a line, one after the other.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { skip_blanks(); }

  [[nodiscard]] bool is_empty() const { return text_.empty(); }

  /// Takes "=", if that comes next.
  bool take_equals() {
    if (text_.empty() || text_.front() != '=') return false;
    text_.remove_prefix(1);
    skip_blanks();
    return true;
  }

  std::string take_name() { return take(text_.substr(0, text_.find_first_of(" \t\r\n="))); }

  /// A value in quotes may have blanks.
  std::string take_value() {
    const auto end = text_.empty() || text_.front() != '"' ? std::string_view::npos : text_.find('"', 1);
    if (end == std::string_view::npos) return take(text_.substr(0, text_.find_first_of(kBlanks)));
    const std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    skip_blanks();
    return value;
  }

 private:
  std::string take(std::string_view word) {
    std::string taken(word);
    text_.remove_prefix(word.size());
    skip_blanks();
    return taken;
  }

  void skip_blanks() {
    const auto first = text_.find_first_not_of(kBlanks);
    text_.remove_prefix(first == std::string_view::npos ? text_.size() : first);
  }

  std::string_view text_;
};

}  // namespace

std::optional<ConfigLine> parse_config_line(const std::string& text) {
  ConfigLine line;
  Words words(text);
  if (words.is_empty()) return std::nullopt;
  while (!words.is_empty()) {
    const bool is_first = line.name.empty();
    const std::string name = words.take_name();
    if (name.empty()) return std::nullopt;
    if (is_first) line.name = name;
    if (words.take_equals()) {
      std::string value = words.take_value();
      if (is_first) {
        line.value = std::move(value);
      } else {
        line.items.emplace_back(name, std::move(value));
      }
      continue;
    }
    // A question ends the line, and sets nothing.
    if (!words.is_empty() || !line.items.empty()) return std::nullopt;
    line.asked = is_first ? name : line.name + "=" + line.value + " " + name;
  }
  return line;
}

std::string expand_variables(const std::string& text) {
  std::string expanded;
  std::size_t at = 0;
  while (at < text.size()) {
    const bool has_braces = text.compare(at, 2, "${") == 0;
    const std::size_t begin = at + (has_braces ? 2 : 1);
    std::size_t end = begin;
    while (end < text.size() && is_of_name(text[end])) ++end;
    const bool is_closed = !has_braces || (end < text.size() && text[end] == '}');
    if (text[at] != '$' || end == begin || !is_closed) {
      expanded += text[at++];
      continue;
    }
    const char* const value = std::getenv(text.substr(begin, end - begin).c_str());
    if (value != nullptr) expanded += value;
    at = end + (has_braces ? 1 : 0);
  }
  return expanded;
}

}  // namespace scr_impl
