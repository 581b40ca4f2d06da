// SPDX-License-Identifier: BSD-3-Clause
// An endpoint of libfabric, with what belongs to it.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rma/fabric/keys.hpp"
#include "rma/fabric/library.hpp"

namespace fenix_impl {

/// Owns an object of libfabric, and closes it.
struct CloseFabricObject {
  template <class Object>
  void operator()(Object* object) const noexcept {
    (void)fi_close(&object->fid);
  }
};
template <class Object>
using FabricHandle = std::unique_ptr<Object, CloseFabricObject>;

/// A reliable, connectionless endpoint for one-sided writes and reads, with one queue of completions, usable by all
/// threads, whose target side works on by itself.
class FabricEndpoint {
 public:
  /// Throws Error(FENIX_ERROR_GROUP_CREATE) if no provider can do that.
  FabricEndpoint();

  /// From then on it reads and writes nothing, and only its end is left. Registrations must have been closed before.
  void close() noexcept;

  [[nodiscard]] const FabricLibrary& library() const { return library_; }
  [[nodiscard]] fid_domain* domain() const { return domain_.get(); }
  [[nodiscard]] fid_av* addresses() const { return addresses_.get(); }
  [[nodiscard]] fid_cq* completions() const { return completions_.get(); }
  [[nodiscard]] fid_ep* endpoint() const { return endpoint_.get(); }

  [[nodiscard]] std::string_view provider() const { return provider_; }
  /// By which others reach it.
  [[nodiscard]] std::span<const std::byte> name() const { return name_; }
  /// Returns the keys that were given out for memory of this process.
  [[nodiscard]] FabricKeys& keys() const { return keys_; }
  /// Whether memory has to be registered as an FI_MR_ bit says.
  [[nodiscard]] bool demands(int mr_mode) const { return (mr_mode_ & mr_mode) != 0; }
  /// Bits that a chosen key may have.
  [[nodiscard]] std::uint64_t key_mask() const { return key_mask_; }
  /// The most bytes of one write or read.
  [[nodiscard]] std::size_t largest_transfer() const { return largest_transfer_; }

 private:
  using Info = std::unique_ptr<fi_info, decltype(&fi_freeinfo)>;

  [[nodiscard]] Info find_provider() const;
  void open(fi_info& info);
  void check(int result, const char* call) const;

  FabricLibrary library_;
  std::string provider_;
  std::vector<std::byte> name_;
  int mr_mode_ = 0;
  std::uint64_t key_mask_ = 0;
  std::size_t largest_transfer_ = 0;
  mutable FabricKeys keys_;
  // Closed in the opposite order.
  FabricHandle<fid_fabric> fabric_;
  FabricHandle<fid_domain> domain_;
  FabricHandle<fid_av> addresses_;
  FabricHandle<fid_cq> completions_;
  FabricHandle<fid_ep> endpoint_;
};

}  // namespace fenix_impl
