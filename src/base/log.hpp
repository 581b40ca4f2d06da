// SPDX-License-Identifier: BSD-3-Clause
// Messages for people, on stderr: FENIX_LOG=off, error, warn (default), info, debug, trace. Each warning is written once.
#pragma once

#include <spdlog/spdlog.h>

namespace fenix_impl {

/// The library's own logger, which says what FENIX_LOG asks for.
spdlog::logger& log();

/// Returns the level of a warning that all ranks have to give: one of them speaks for all.
inline spdlog::level::level_enum warning_of_all(int rank) {
  return rank == 0 ? spdlog::level::warn : spdlog::level::info;
}

}  // namespace fenix_impl
