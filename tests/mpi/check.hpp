// SPDX-License-Identifier: BSD-3-Clause
// What MPI test programs share: the lines that tests/run-mpi looks for.
#pragma once

#include <fenix.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

namespace check {

/// The name of the current test, for programs that test many things: fail() prints it before its text.
inline std::string& context() {
  static std::string text;
  return text;
}

[[noreturn]] inline void fail(const std::string& what) {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::printf("FENIX-TEST-FAIL first rank %d: %s%s [%s]\n", rank, context().c_str(), what.c_str(),
              Fenix_Error_message());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
  std::abort();
}

/// what: a text, or a function that returns one. To make a text for each of many elements takes longer than to compare them.
template <class What>
void require(bool condition, const What& what) {
  if (condition) return;
  if constexpr (std::is_invocable_v<const What&>) {
    fail(what());
  } else {
    fail(what);
  }
}

inline void expect_equal(long got, long wanted, const std::string& what) {
  if (got != wanted) fail(what + " is " + std::to_string(got) + ", not " + std::to_string(wanted));
}

inline void success(int code, const std::string& call) { expect_equal(code, FENIX_SUCCESS, call); }

/// Calls a function of the C++ interface that is to throw RuntimeException with a code.
template <class Call>
void expect_thrown(int code, const std::string& what, Call&& call) {
  try {
    call();
  } catch (const fenix::RuntimeException& exception) {
    expect_equal(exception.error, code, "code of the exception of " + what);
    require(exception.error_string == Fenix_Error_message(), "text of the exception of " + what);
    return;
  }
  fail("no exception of " + what);
}

/// The last line of a rank that ends well.
inline void ok(int rank) {
  std::printf("FENIX-TEST-OK rank %d\n", rank);
  std::fflush(stdout);
}

}  // namespace check
