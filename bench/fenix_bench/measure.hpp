// SPDX-License-Identifier: BSD-3-Clause
// The loop that all operations are timed in: memcpy and the operation in turn.
#pragma once

#include <functional>
#include <string>

#include "options.hpp"
#include "result.hpp"
#include "subject.hpp"

namespace bench {

/// Runs of small operations are timed together: so many of them.
int iterations_for(std::uint64_t bytes);

/// Times on this rank one repetition: so many runs of an operation. Seconds for all of them.
using Operation = std::function<double(int iterations)>;

struct Plan {
  std::string name;
  int iterations = 1;
  /// Before each repetition, not timed: new values in what is stored.
  std::function<void()> prepare;
  Operation run;
  /// True if the operation ends when all ranks are done with it. The memcpy ends so, too: with more ranks than cores, a
  /// rank that does not look at the others has a core for itself for a while.
  bool until_all = false;
};

/// The row of the operation. Rows are whole on rank 0 only.
Result measure(Subject& subject, const Options& options, const Plan& plan);

}  // namespace bench
