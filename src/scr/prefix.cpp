// SPDX-License-Identifier: BSD-3-Clause
#include "scr/prefix.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <system_error>

#include "scr/file_copy.hpp"

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

constexpr std::size_t kMostBytes = 100;
constexpr std::size_t kBytesBesideHash = 80;
constexpr const char* kLists = ".scr-fenix-output";

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

bool Prefix::open(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  folder_ = fs::canonical(folder, error);
  return !error && fs::is_directory(folder_, error);
}

std::optional<std::string> Prefix::relative(const char* name) const {
  std::error_code error;
  const fs::path absolute = fs::absolute(name, error);
  if (error || !absolute.has_filename()) return std::nullopt;
  // The file itself may be a link, which an output replaces.
  const fs::path parent = fs::weakly_canonical(absolute.parent_path(), error);
  if (error) return std::nullopt;
  const fs::path relative = (parent / absolute.filename()).lexically_relative(folder_);
  const bool is_inside =
      !relative.empty() && *relative.begin() != ".." && relative.filename() != "." && relative.filename() != "..";
  return is_inside ? std::optional(relative.string()) : std::nullopt;
}

fs::path Prefix::list_of(const std::string& dataset) const { return folder_ / kLists / label_of(dataset); }

bool Prefix::publish(const std::string& dataset, int rank, const std::vector<CachedFile>& files) const {
  std::string list;
  for (const CachedFile& each : files) {
    if (!copy_durably(each.path, folder_ / each.name)) return false;
    // No name has a zero.
    list += each.name + '\0';
  }
  // The dataset has a list also if this rank has no file.
  return (files.empty() && rank != 0) || write_durably(list_of(dataset) / std::to_string(rank), list);
}

void Prefix::remove_with_folders(const std::string& name) const {
  std::error_code error;
  fs::path path = folder_ / name;
  fs::remove(path, error);
  for (path = path.parent_path(); path != folder_; path = path.parent_path()) {
    // It fails for a folder that has other files.
    if (!fs::remove(path, error) || error) return;
  }
}

bool Prefix::forget(const std::string& dataset, bool files_stay) const {
  std::error_code error;
  const fs::path folder = list_of(dataset);
  if (!fs::is_directory(folder, error)) return false;
  if (!files_stay) {
    for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
      std::ifstream list(each->path(), std::ios::binary);
      for (std::string name; std::getline(list, name, '\0');) {
        const fs::path path(name);
        const bool is_inside =
            path.is_relative() && std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
        if (is_inside) remove_with_folders(name);
      }
    }
  }
  fs::remove_all(folder, error);
  fs::remove(folder_ / kLists, error);
  return true;
}

}  // namespace scr_impl
