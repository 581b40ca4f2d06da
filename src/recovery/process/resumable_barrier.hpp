// SPDX-License-Identifier: BSD-3-Clause
// A barrier that can be continued after a time-out.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

namespace fenix_impl {

/// A barrier of some ranks of a communicator. A rank that gives up waiting has come all the same: others may pass. It
/// can go on waiting later, from where it stopped.
class ResumableBarrier {
 public:
  /// members: ranks of comm, this one among them; the same on all of them.
  ResumableBarrier(MPI_Comm comm, std::vector<int> members, int tag);

  /// Returns when all members have called it. check is called again and again during the wait, and may throw. Throws as
  /// check_mpi and Deadline::check do. It may be called again after a time-out only.
  void wait(const std::function<void()>& check, const char* waited_for);

 private:
  [[nodiscard]] int member(std::size_t offset) const;
  void begin_round();

  MPI_Comm comm_;
  std::vector<int> members_;
  int tag_;
  std::size_t self_ = 0;
  // In each round a message goes to the rank at this distance, and one comes from the other side. They are empty: a
  // message that stays under way for ever does no harm.
  std::size_t distance_ = 1;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  bool round_begun_ = false;
};

}  // namespace fenix_impl
