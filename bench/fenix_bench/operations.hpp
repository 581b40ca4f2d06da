// SPDX-License-Identifier: BSD-3-Clause
// What can be timed. Each function gives the rows of one operation; the subject's group has been created.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "result.hpp"
#include "subject.hpp"

namespace bench {

/// store, commit, commit_barrier, store_commit_barrier; "latency" is the last one without new values.
std::vector<Result> time_storing(Subject& subject, const Options& options, const std::string& operation);

/// store_commit_barrier of 1 % of the elements, after the same of all of them.
std::vector<Result> time_partial(Subject& subject, const Options& options);
std::vector<Result> time_unchanged(Subject& subject, const Options& options);

/// Computing in the buffer and store_commit_barrier, beside computing in the slot itself, which saves the staging copy.
std::vector<Result> time_inplace(Subject& subject, const Options& options);

/// store_commit_barrier and MPI_Sendrecv of the same bytes, between the ranks that the default buddy policy pairs.
std::vector<Result> time_exchange(Subject& subject, const Options& options);

/// Stores that go on while the program computes.
std::vector<Result> time_overlap(Subject& subject, const Options& options);

/// Calls of malloc and mmap for each store and commit.
std::vector<Result> count_allocations(Subject& subject);

/// Store and commit in functions that callgrind can be told of.
std::vector<Result> run_for_callgrind(Subject& subject, const Options& options);

/// Bytes in use, more than `before` (memory_in_use() before the group was created).
std::vector<Result> measure_memory(Subject& subject, double before);

/// Bytes of memory that are this process's: of memory shared by several, its share.
double memory_in_use();

}  // namespace bench
