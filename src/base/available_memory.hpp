// SPDX-License-Identifier: BSD-3-Clause
// How much memory can be taken before the system, or the control group of this process, begins to kill processes.
#pragma once

#include <cstddef>
#include <string>

namespace fenix_impl {

/// Bytes, without what should stay free. What cannot be read sets no limit. root: where /proc and /sys are.
[[nodiscard]] std::size_t available_memory(const std::string& root = "");

}  // namespace fenix_impl
