// SPDX-License-Identifier: BSD-3-Clause
// The values of the parameters. All ranks have the same.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scr/settings/parameters.hpp"

namespace scr_impl {

/// How checkpoints are protected in memory.
enum class Scheme { single, partner, parity, reed_solomon };

/// SCR_COPY_TYPE, with the size of redundancy sets and the failures that one survives.
struct Redundancy {
  Scheme scheme = Scheme::parity;
  long set_size = 8;      ///< SCR_SET_SIZE
  long set_failures = 2;  ///< SCR_SET_FAILURES
};

/// Copies of checkpoints in the prefix folder.
struct FlushSettings {
  long every = 10;             ///< SCR_FLUSH
  bool in_background = false;  ///< SCR_FLUSH_ASYNC
};

struct Settings {
  std::filesystem::path prefix;  ///< SCR_PREFIX
  bool is_enabled = true;        ///< SCR_ENABLE
  bool bypasses = true;          ///< SCR_CACHE_BYPASS: files are written to their own places
  FlushSettings flush;
  bool fetches = true;         ///< SCR_FETCH
  std::string current;         ///< SCR_CURRENT
  bool purges_memory = false;  ///< SCR_CACHE_PURGE
  bool purges_prefix = false;  ///< SCR_PREFIX_PURGE
  long prefix_size = 0;        ///< SCR_PREFIX_SIZE
  bool drops_later = false;    ///< SCR_DROP_AFTER_CURRENT
  bool exits = false;          ///< SCR_HALT_EXIT
  long cache_size = 1;         ///< SCR_CACHE_SIZE
  Redundancy redundancy;
  bool talks = false;      ///< SCR_DEBUG
  std::string cache_base;  ///< SCR_CACHE_BASE
};

/// Reads the values. Each text in problems names a parameter with which SCR_Init cannot go on.
Settings settings_of(const Parameters& parameters, std::vector<std::string>& problems);

/// Names parameters that are set, and have no effect here. Empty: there are none.
std::string ignored_parameters(const Parameters& parameters, const Settings& settings);

/// Sets the variables of Fenix that the parameters stand for, unless they are set, and the store that it is to use.
void set_environment(const Parameters& parameters, const Settings& settings, const std::string& store);
/// Takes them back.
void reset_environment();
/// Tells whether a variable of Fenix says how often to commit. 0 is no limit.
bool has_commit_limit();

/// Name of the folder of the library, in the prefix folder: the one of SCR, which scripts for SCR remove.
constexpr const char* kControlFolder = ".scr";

}  // namespace scr_impl
