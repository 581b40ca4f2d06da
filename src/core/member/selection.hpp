// SPDX-License-Identifier: BSD-3-Clause
// Which elements of a member a call is about.
#pragma once

#include <utility>

#include "base/interval_set.hpp"

namespace fenix_impl {

struct Selection {
  enum class Kind { all, some, staged };

  Kind kind = Kind::some;
  IntervalSet elements;  ///< for some

  static Selection all() { return {Kind::all, {}}; }
  static Selection staged() { return {Kind::staged, {}}; }
  static Selection some(IntervalSet elements) { return {Kind::some, std::move(elements)}; }
};

/// Which snapshot a restore is about.
struct SnapshotChoice {
  enum class Kind { latest, all, at };

  Kind kind = Kind::latest;
  int time_stamp = 0;  ///< for at
};

}  // namespace fenix_impl
