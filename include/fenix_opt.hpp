// SPDX-License-Identifier: BSD-3-Clause
//
// Assertions that end the whole job, for tests and examples of the current Fenix. Programs do better without them.
#ifndef FENIX_OPT_HPP
#define FENIX_OPT_HPP

#include <mpi.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace fenix {

/// Prints a line to stderr, with the place in the source and a text for printf, and ends the job with MPI_Abort.
/// @param file, line place in the source
/// @param condition text of the condition that does not hold, or null
/// @param format a text as for printf, or null
[[noreturn]] inline void abort_job(const char* file, int line, const char* condition, const char* format = nullptr,
                                   ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  if (condition != nullptr) std::fprintf(stderr, "not true: %s ", condition);
  if (format != nullptr) {
    std::va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
  }
  std::fputc('\n', stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace fenix

/** Ends the job unless the condition holds; prints the text for printf that may follow the condition. */
#define fenix_require(...) FENIX_DETAIL_REQUIRE(__VA_ARGS__, nullptr)
#define FENIX_DETAIL_REQUIRE(condition, ...)                                           \
  do {                                                                                 \
    if (!(condition)) ::fenix::abort_job(__FILE__, __LINE__, #condition, __VA_ARGS__); \
  } while (0)

/** Prints a text for printf, and ends the job. */
#define fatal_print(...) ::fenix::abort_job(__FILE__, __LINE__, nullptr, __VA_ARGS__)

/** Does the same as fenix_require, in programs that are compiled without NDEBUG. */
#ifdef NDEBUG
#define fenix_assert(...) \
  do {                    \
  } while (0)
#else
#define fenix_assert(...) fenix_require(__VA_ARGS__)
#endif

#endif
