// SPDX-License-Identifier: BSD-3-Clause
// The elements of a member, and the snapshot, that a call is about.
#pragma once

#include <utility>

#include "base/interval_set.hpp"

namespace fenix_impl {

struct Selection {
  enum class Kind { all, some, staged };

  Kind kind = Kind::some;
  IntervalSet elements;  ///< used with some

  static Selection all() { return {Kind::all, {}}; }
  static Selection staged() { return {Kind::staged, {}}; }
  static Selection some(IntervalSet elements) { return {Kind::some, std::move(elements)}; }
};

/// The snapshot that a call is about.
struct SnapshotChoice {
  enum class Kind { latest, all, at };

  Kind kind = Kind::latest;
  int time_stamp = 0;  ///< used with at
};

}  // namespace fenix_impl
