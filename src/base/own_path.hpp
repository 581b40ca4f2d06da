// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace fenix_impl {

/// Returns the absolute path of the library or program that this code is in; empty if it is not known.
[[nodiscard]] std::string own_path();

}  // namespace fenix_impl
