// SPDX-License-Identifier: BSD-3-Clause
// Groups whose ranks encode, for tests that go through several of them.
#pragma once

#include <ostream>

#include "parity/policy.hpp"

namespace fenix_test {

constexpr fenix_impl::Policy parity(int size, int separation = 1) {
  return {fenix_impl::Policy::Kind::parity, separation, size, 1};
}

constexpr fenix_impl::Policy reed_solomon(int size, int losses, int separation = 1) {
  return {fenix_impl::Policy::Kind::reed_solomon, separation, size, losses};
}

// One redundancy set of four that survives one loss, and one of five that survives two.
constexpr fenix_impl::Policy kParity = parity(4);
constexpr fenix_impl::Policy kTwoLosses = reed_solomon(5, 2);

struct Encoded {
  int size;
  fenix_impl::Policy policy;
};

inline std::ostream& operator<<(std::ostream& out, const Encoded& encoded) {
  return out << encoded.size << " ranks, cohorts of " << encoded.policy.set_size << ", losses "
             << encoded.policy.losses;
}

}  // namespace fenix_test
