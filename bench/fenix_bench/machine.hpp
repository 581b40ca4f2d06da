// SPDX-License-Identifier: BSD-3-Clause
// Where the figures come from. Nothing that tells whose machine it is: no names of hosts, users or folders.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Names as in JSON, and texts.
std::vector<std::pair<std::string, std::string>> describe_machine();

}  // namespace bench
