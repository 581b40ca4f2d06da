// SPDX-License-Identifier: BSD-3-Clause
// Policies by their names on the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Policy {
  int name = 0;             // FENIX_DATA_POLICY_…
  std::vector<int> values;  // empty: the default
};

/// "buddy", "ring@2", "xor:4", "rs:4+2@1", "local"; nothing if it is none of these.
std::optional<Policy> parse_policy(const std::string& text);

}  // namespace bench
