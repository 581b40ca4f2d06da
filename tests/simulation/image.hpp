// SPDX-License-Identifier: BSD-3-Clause
// All that a program can write: its data, and those of a thread. All simulated processes run the same program, one after the
// other, so that the data of the others is kept elsewhere meanwhile.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fiber.hpp"

namespace fenix_simulation {

class Image {
 public:
  /// data: of the executable, as it is before anything has run.
  explicit Image(std::span<std::byte> data);

  /// Returns the data with which a process begins.
  [[nodiscard]] const std::vector<std::byte>& fresh() const { return fresh_; }
  /// Returns the data with which a thread begins.
  [[nodiscard]] const std::vector<std::byte>& fresh_of_thread() const { return fresh_of_thread_; }
  /// Lets a fiber find its data. The one before it finds its own again later, if it lives.
  void change_to(Fiber& fiber);
  /// Forgets whose data are in place: their owner is gone.
  void forget() { present_ = nullptr; }
  [[nodiscard]] std::size_t bytes() const { return data_.size(); }

 private:
  std::span<std::byte> data_;
  std::span<std::byte> thread_data_;
  std::vector<std::byte> fresh_;
  std::vector<std::byte> fresh_of_thread_;
  Fiber* present_ = nullptr;
};

/// The one that there is; main() makes it.
Image& image_of_program();

}  // namespace fenix_simulation
