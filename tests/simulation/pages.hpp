// SPDX-License-Identifier: BSD-3-Clause
// Memory of many processes that have the same in it, or nothing: it is kept once.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace fenix_simulation {

/// Gives the whole pages of a range back to the system, if they are many. They have zeros then.
void forget_pages(void* memory, std::size_t bytes);
/// Whole pages are taken only when they are used.
void fill_with_zeros(void* memory, std::size_t bytes);

/// Content that many processes get a copy of. Their pages are those of one file, until they write.
class SharedContent {
 public:
  SharedContent() = default;
  SharedContent(const SharedContent&) = delete;
  SharedContent& operator=(const SharedContent&) = delete;
  ~SharedContent();

  void copy(std::span<const std::byte> content, void* to);

 private:
  std::map<std::size_t, int> files_;  ///< by the place of the first byte in its page
};

}  // namespace fenix_simulation
