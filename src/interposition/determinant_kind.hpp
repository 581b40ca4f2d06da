// SPDX-License-Identifier: BSD-3-Clause
// Calls whose outcomes are logged, as libfenix and libfenix_mpi know them.
#pragma once

namespace fenix_impl {

enum class DeterminantKind : int {
  test = 1,
  testall,
  testany,
  testsome,
  waitany,
  waitsome,
  get_status,
  probe,
  iprobe,
  mprobe,
  improbe,
  need_commit,
};

/// Stands in place of a tag: the program has cancelled the receive.
constexpr int kTagOfCancelled = -1;

/// Tags from this one on are those of messages of the library itself.
constexpr int kFirstInternalTag = 0x40000000;

/// Number of tags of collective operations: blocking ones have the first internal tag, nonblocking ones take the others in turn.
constexpr int kTagsOfCollectives = 32;

/// The tag under which each rank counts its nonblocking collective operations, as receives from itself. No message has it.
constexpr int kTagOfCounter = kFirstInternalTag + kTagsOfCollectives;

}  // namespace fenix_impl
