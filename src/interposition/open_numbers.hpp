// SPDX-License-Identifier: BSD-3-Clause
// Numbers of messages whose receives have begun. They come in ascending order, and most go in the order in which they have come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fenix_impl {

class OpenNumbers {
 public:
  [[nodiscard]] bool empty() const { return first_ == numbers_.size(); }
  [[nodiscard]] auto begin() const { return numbers_.begin() + static_cast<std::ptrdiff_t>(first_); }
  [[nodiscard]] auto end() const { return numbers_.end(); }

  /// Adds a number that is greater than all others.
  void add(std::uint64_t number) {
    // Numbers that have gone leave room at the front.
    if (numbers_.size() == numbers_.capacity() && first_ >= numbers_.size() / 2) {
      numbers_.erase(numbers_.begin(), begin());
      first_ = 0;
    }
    numbers_.push_back(number);
  }
  /// Removes a number, if it is there.
  void remove(std::uint64_t number) {
    const bool is_first = !empty() && *begin() == number;
    const auto found = is_first ? begin() : std::lower_bound(begin(), end(), number);
    if (found == end() || *found != number) return;
    if (found == begin()) {
      ++first_;
    } else {
      numbers_.erase(found);
    }
    if (!empty()) return;
    numbers_.clear();
    first_ = 0;
  }

 private:
  std::vector<std::uint64_t> numbers_;
  std::size_t first_ = 0;
};

}  // namespace fenix_impl
