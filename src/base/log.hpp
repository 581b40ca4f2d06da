// SPDX-License-Identifier: BSD-3-Clause
// Messages for people: FENIX_LOG=off (default), error, warn, info, debug, trace; to stderr.
#pragma once

#include <spdlog/spdlog.h>

namespace fenix_impl {

/// The library's own logger, which says nothing unless FENIX_LOG asks for it.
spdlog::logger& log();

}  // namespace fenix_impl
