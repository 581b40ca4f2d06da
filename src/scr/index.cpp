// SPDX-License-Identifier: BSD-3-Clause
#include "scr/index.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>

#include "scr/file_copy.hpp"
#include "scr/patience.hpp"

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

constexpr std::size_t kMostBytes = 100;
constexpr std::size_t kBytesBesideHash = 80;
constexpr const char* kForm = "scr dataset 1";
constexpr std::size_t kFieldsBeforeFiles = 8;

bool is_letter_of_label(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/// FNV-1a, in 16 digits.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::string digits;
  for (unsigned shift = 64; shift > 0; shift -= 4) digits += "0123456789abcdef"[(hash >> (shift - 4)) & 15U];
  return digits;
}

template <class Number>
bool read_number(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

}  // namespace

std::string label_of(const std::string& name) {
  const bool is_label = !name.empty() && name.size() <= kMostBytes && name.front() != '.' &&
                        std::all_of(name.begin(), name.end(), is_letter_of_label);
  if (is_label) return name;
  std::string label = name.substr(0, kBytesBesideHash);
  std::replace_if(
      label.begin(), label.end(), [](char c) { return !is_letter_of_label(c) || c == '.'; }, '_');
  // No label begins with a dot.
  return (label.empty() ? "_" : label) + "." + hash_of(name);
}

bool Index::put(const IndexEntry& entry) const {
  std::ostringstream text;
  // No name has a zero.
  const char end = '\0';
  text << kForm << end << entry.id << end << entry.count << end << entry.flags << end << entry.created << end
       << entry.ranks << end << (entry.has_failed ? 1 : 0) << end << entry.name << end;
  for (const std::string& file : entry.files) text << file << end;
  const auto written =
      in_time([path = folder_ / label_of(entry.name), content = text.str()] { return write_durably(path, content); });
  return written.value_or(false);
}

std::optional<IndexEntry> Index::read(const std::string& label) const {
  const auto content = read_own_file(folder_ / label);
  if (!content) return std::nullopt;
  std::istringstream file(*content);
  std::vector<std::string> fields;
  for (std::string field; std::getline(file, field, '\0');) fields.push_back(std::move(field));
  if (fields.size() < kFieldsBeforeFiles || fields[0] != kForm) return std::nullopt;
  IndexEntry entry;
  int has_failed = 0;
  const bool is_read = read_number(fields[1], entry.id) && read_number(fields[2], entry.count) &&
                       read_number(fields[3], entry.flags) && read_number(fields[4], entry.created) &&
                       read_number(fields[5], entry.ranks) && read_number(fields[6], has_failed);
  if (!is_read || label_of(fields[7]) != label) return std::nullopt;
  entry.has_failed = has_failed != 0;
  entry.name = fields[7];
  entry.files.assign(fields.begin() + kFieldsBeforeFiles, fields.end());
  return entry;
}

std::optional<IndexEntry> Index::with_label(const std::string& label) const {
  return in_time([self = *this, label] { return self.read(label); }).value_or(std::nullopt);
}

std::optional<IndexEntry> Index::get(const std::string& name) const { return with_label(label_of(name)); }

bool Index::lacks(const std::string& name) const {
  const auto is_there = in_time([path = folder_ / label_of(name)] {
    std::error_code error;
    return fs::symlink_status(path, error).type();
  });
  return is_there && *is_there == fs::file_type::not_found;
}

std::optional<std::vector<IndexEntry>> Index::all() const {
  return in_time([self = *this] { return self.read_all(); }).value_or(std::nullopt);
}

// Without a folder there is no entry. Anything else that goes wrong says nothing of what is there.
std::optional<std::vector<IndexEntry>> Index::read_all() const {
  std::vector<IndexEntry> entries;
  std::error_code error;
  for (fs::directory_iterator each(folder_, error), end; !error && each != end; each.increment(error)) {
    if (auto entry = read(each->path().filename().string())) entries.push_back(std::move(*entry));
  }
  if (error && error != std::errc::no_such_file_or_directory) return std::nullopt;
  std::sort(entries.begin(), entries.end(), [](const IndexEntry& a, const IndexEntry& b) { return a.id > b.id; });
  return entries;
}

bool Index::remove(const std::string& name) const {
  const auto removed = in_time([path = folder_ / label_of(name)] {
    std::error_code error;
    fs::remove(path, error);
    return !error;
  });
  return removed.value_or(false);
}

}  // namespace scr_impl
