// SPDX-License-Identifier: BSD-3-Clause
// The main function of the tools for stores.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>

/// Runs a tool, and prints what it throws. Returns the exit status.
inline int run_tool(const char* name, int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
  }
  return EXIT_FAILURE;
}
