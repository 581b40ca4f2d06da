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

/// The tag of the message that a receive has got which the program has cancelled.
constexpr int kTagOfCancelled = -1;

/// Tags from this one on are those of messages of the library itself.
constexpr int kFirstInternalTag = 0x40000000;

/// Collective operations that do not wait have tags in turn, from the next one on. The others have the first one.
constexpr int kTagsOfCollectives = 32;

/// The tag under which each rank counts operations that do not wait, as if it received from itself: no message has it.
constexpr int kTagOfCounter = kFirstInternalTag + kTagsOfCollectives;

}  // namespace fenix_impl
