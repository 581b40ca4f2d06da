// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor that is closed at the end.
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

namespace fenix_impl {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A file that several have open by the same descriptor.
using SharedFile = std::shared_ptr<const Descriptor>;

}  // namespace fenix_impl
