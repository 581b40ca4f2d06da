// SPDX-License-Identifier: BSD-3-Clause
// Guards of the calls of a thread.
#pragma once

#include <optional>

namespace fenix_impl {

/// A guard within which failures are the library's own business: MPI calls return their errors.
class Inside {
 public:
  Inside() {
    if (depth_++ == 0) working_group_id_.reset();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { --depth_; }
  [[nodiscard]] static bool here() { return depth_ > 0; }

  /// Notes the group that a call works with.
  static void note_working_group(int group_id) { working_group_id_ = group_id; }
  /// Returns it, if the call has come so far.
  [[nodiscard]] static std::optional<int> working_group_id() { return working_group_id_; }

 private:
  static thread_local int depth_;
  static thread_local std::optional<int> working_group_id_;
};

/// A guard within which control does not leave after a repair: the call will be repeated.
class RepeatedCall {
 public:
  RepeatedCall() { ++depth_; }
  RepeatedCall(const RepeatedCall&) = delete;
  RepeatedCall& operator=(const RepeatedCall&) = delete;
  ~RepeatedCall() { --depth_; }
  [[nodiscard]] static bool here() { return depth_ > 0; }

 private:
  static thread_local int depth_;
};

}  // namespace fenix_impl
