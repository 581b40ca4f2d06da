// SPDX-License-Identifier: BSD-3-Clause
// Memory that the network may reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rma/fabric/endpoint.hpp"

namespace fenix_impl {

/// A registration, under a key of its own. Ends with the object: what others send under this key from then on is
/// refused. The endpoint must outlive it.
class FabricMemory {
 public:
  /// access: FI_WRITE and FI_READ for memory that this process sends from and receives into, FI_REMOTE_… for others.
  /// The memory must be there. Throws Error(FENIX_ERROR_NO_MEMORY).
  FabricMemory(const FabricEndpoint& endpoint, std::span<std::byte> memory, std::uint64_t access);

  [[nodiscard]] std::uint64_t key() const { return key_; }
  /// What others add offsets to.
  [[nodiscard]] std::uint64_t base() const { return base_; }
  /// For own transfers from and to it; null if the provider does not ask for it.
  [[nodiscard]] void* descriptor() const { return descriptor_; }

 private:
  FabricHandle<fid_mr> registration_;
  std::uint64_t key_ = 0;
  std::uint64_t base_ = 0;
  void* descriptor_ = nullptr;
};

/// Memory between the network and that of callers, which may be gone before a transfer that was called off is over.
struct FabricBuffer {
  std::unique_ptr<std::byte[]> memory;
  std::size_t bytes = 0;
  std::unique_ptr<FabricMemory> registration;  ///< null if it need not be registered

  [[nodiscard]] void* descriptor() const { return registration ? registration->descriptor() : nullptr; }
};

/// Lends buffers. Not for several threads at once.
class FabricBuffers {
 public:
  static constexpr std::size_t kLargest = std::size_t{1} << 20;

  /// The endpoint must live until close_registrations().
  explicit FabricBuffers(const FabricEndpoint& endpoint) : endpoint_(endpoint) {}

  /// One of at least so many bytes, at most kLargest. Throws Error(FENIX_ERROR_NO_MEMORY) and std::bad_alloc.
  FabricBuffer* take(std::size_t bytes);
  /// Takes no memory.
  void give_back(FabricBuffer* buffer) noexcept;
  /// Before the endpoint is closed; after that, no buffer may be used.
  void close_registrations() noexcept;

 private:
  static constexpr std::size_t kSmall = std::size_t{16} << 10;

  std::vector<std::unique_ptr<FabricBuffer>> all_;
  std::vector<FabricBuffer*> small_;
  std::vector<FabricBuffer*> large_;
  const FabricEndpoint& endpoint_;
};

}  // namespace fenix_impl
