// SPDX-License-Identifier: BSD-3-Clause
// A queue in one piece of memory. Millions of short ones take little: each std::deque takes 600 bytes.
#pragma once

#include <cstddef>
#include <vector>

namespace fenix_impl {

template <class Value>
class VectorQueue {
 public:
  using Iterator = typename std::vector<Value>::iterator;
  using ConstIterator = typename std::vector<Value>::const_iterator;

  [[nodiscard]] bool empty() const { return first_ == all_.size(); }
  [[nodiscard]] std::size_t size() const { return all_.size() - first_; }
  [[nodiscard]] const Value& front() const { return all_[first_]; }
  [[nodiscard]] const Value& back() const { return all_.back(); }
  [[nodiscard]] const Value& operator[](std::size_t i) const { return all_[first_ + i]; }

  [[nodiscard]] Iterator begin() { return all_.begin() + static_cast<std::ptrdiff_t>(first_); }
  [[nodiscard]] Iterator end() { return all_.end(); }
  [[nodiscard]] ConstIterator begin() const { return all_.begin() + static_cast<std::ptrdiff_t>(first_); }
  [[nodiscard]] ConstIterator end() const { return all_.end(); }

  /// at: end(), or the one before which the value goes.
  void insert(Iterator at, Value value) { all_.insert(at, value); }
  void erase(Iterator at) {
    if (at == begin()) return pop_front();
    all_.erase(at);
  }
  /// Places of those that have gone are taken back when they are the greater part.
  void pop_front() {
    ++first_;
    if (2 * first_ < all_.size()) return;
    all_.erase(all_.begin(), begin());
    first_ = 0;
  }

 private:
  std::vector<Value> all_;
  std::size_t first_ = 0;  ///< place of the front
};

}  // namespace fenix_impl
