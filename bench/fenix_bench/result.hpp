// SPDX-License-Identifier: BSD-3-Clause
// One row of the table: what was measured, and of what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "times.hpp"

namespace bench {

/// The measured case: one member of so many bytes on each rank, protected like this.
struct Case {
  std::string policy;
  std::string hashes;  // "on" or "off"
  int depth = 0;
  std::uint64_t bytes = 0;
  std::string mode = "usual";  // or commits "in_place", or these with "allocated" buffers
};

struct Result {
  std::string operation;
  Case of;
  int iterations = 1;  // times are those of one
  std::optional<Times> times;
  std::optional<Times> copy;  // memcpy of the same bytes
  /// What else there is to tell: names as in JSON.
  std::vector<std::pair<std::string, double>> more;
};

}  // namespace bench
