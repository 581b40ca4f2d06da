// SPDX-License-Identifier: BSD-3-Clause
#include "store/dataset_name.hpp"

#include <charconv>
#include <tuple>

namespace fenix_impl {
namespace {

template <class T>
bool parse_number(const char*& at, const char* end, T& number) {
  const auto result = std::from_chars(at, end, number);
  at = result.ptr;
  return result.ec == std::errc();
}

bool skip_dot(const char*& at, const char* end) { return at != end && *at++ == '.'; }

}  // namespace

std::string DatasetName::text() const {
  return std::to_string(group) + "." + std::to_string(time_stamp) + "." + std::to_string(run) + "." +
         std::to_string(generation);
}

std::optional<DatasetName> DatasetName::parse(const std::string& text) {
  DatasetName name;
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool is_one = parse_number(at, end, name.group) && skip_dot(at, end) &&
                      parse_number(at, end, name.time_stamp) && skip_dot(at, end) && parse_number(at, end, name.run) &&
                      skip_dot(at, end) && parse_number(at, end, name.generation);
  // Other spellings of the same numbers would be other folders.
  if (!is_one || name.time_stamp < 0 || name.text() != text) return std::nullopt;
  return name;
}

bool is_older(const DatasetName& a, const DatasetName& b) {
  return std::tie(a.run, a.generation, a.time_stamp, a.group) < std::tie(b.run, b.generation, b.time_stamp, b.group);
}

}  // namespace fenix_impl
