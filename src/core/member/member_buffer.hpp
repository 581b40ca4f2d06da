// SPDX-License-Identifier: BSD-3-Clause
// Memory for the buffer of a member that the library gives to the application. Other ranks can read it where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/pages.hpp"
#include "rma/path.hpp"
#include "rma/region.hpp"

namespace fenix_impl {

class MemberBuffer {
 public:
  /// Bytes from the start of the region to the buffer: an address that is aligned on each system. Most of them have no memory.
  static constexpr std::size_t kOffset = kLargestPage;

  [[nodiscard]] bool is_there() const { return !region_.bytes().empty(); }
  /// Returns the bytes that it has room for.
  [[nodiscard]] std::uint64_t bytes() const { return is_there() ? region_.bytes().size() - kOffset : 0; }
  /// Returns its address, aligned to a page, also if it has no bytes; null if it is not there.
  [[nodiscard]] std::byte* data() const { return is_there() ? region_.bytes().data() + kOffset : nullptr; }
  [[nodiscard]] const Region& region() const { return region_; }

  /// Takes memory for so many bytes, if it has no room for them: with the contents, and zeros after them. Otherwise returns an empty
  /// region. Changes nothing. Throws Error(FENIX_ERROR_NO_MEMORY).
  [[nodiscard]] Region grown(std::uint64_t bytes) const;
  /// Puts memory of grown() in the place of what there is, whose address ends. Other ranks do not know it until it is exposed.
  void replace(Region grown);
  /// Takes over the region of a buffer, with what is in it. False if it has no room for so many bytes.
  bool take_over(Region region, std::uint64_t bytes);

  [[nodiscard]] bool is_exposed() const { return remote_ != nullptr; }
  /// Returns the way to the buffers of the other ranks.
  [[nodiscard]] RemoteRegions& remote() const { return *remote_; }
  void adopt(std::unique_ptr<RemoteRegions> remote) noexcept { remote_ = std::move(remote); }
  /// Detaches from the other ranks' buffers.
  void hide() { remote_.reset(); }

 private:
  Region region_;
  std::unique_ptr<RemoteRegions> remote_;
};

}  // namespace fenix_impl
