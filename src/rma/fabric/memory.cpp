// SPDX-License-Identifier: BSD-3-Clause
#include "rma/fabric/memory.hpp"

#include <sys/random.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"

namespace fenix_impl {
namespace {

[[noreturn]] void fail(const FabricEndpoint& endpoint, const char* call, int result) {
  throw Error(FENIX_ERROR_NO_MEMORY, std::string("memory cannot be registered with the network: ") + call + ": " +
                                         endpoint.library().text_of(result));
}

// Nobody has had it before: what is still on its way under the key of an earlier registration is refused.
std::uint64_t key_of_registration() {
  std::uint64_t key = 0;
  if (getrandom(&key, sizeof key, 0) != static_cast<ssize_t>(sizeof key)) {
    throw Error(FENIX_ERROR_NO_MEMORY, "the system has no random number for a key");
  }
  return key;
}

FabricHandle<fid_mr> registered(const FabricEndpoint& endpoint, std::span<std::byte> memory, std::uint64_t access) {
  constexpr int kTries = 8;
  fid_mr* registration = nullptr;
  int result = fault_fails("fabric.register") ? -FI_ENOMEM : -FI_ENOKEY;
  for (int i = 0; i < kTries && result == -FI_ENOKEY; ++i) {
    result = fi_mr_reg(endpoint.domain(), memory.data(), memory.size(), access, 0,
                       key_of_registration() & endpoint.key_mask(), 0, &registration, nullptr);
  }
  if (result != 0) fail(endpoint, "fi_mr_reg", result);
  FabricHandle<fid_mr> owned(registration);
  if (endpoint.demands(FI_MR_ENDPOINT)) {
    result = fi_mr_bind(registration, &endpoint.endpoint()->fid, 0);
    if (result != 0) fail(endpoint, "fi_mr_bind", result);
    result = fi_mr_enable(registration);
    if (result != 0) fail(endpoint, "fi_mr_enable", result);
  }
  if (fi_mr_key(registration) == FI_KEY_NOTAVAIL) fail(endpoint, "fi_mr_key", FI_ENOKEY);
  return owned;
}

}  // namespace

FabricMemory::FabricMemory(const FabricEndpoint& endpoint, std::span<std::byte> memory, std::uint64_t access) {
  const auto make = [&] { return registered(endpoint, memory, access); };
  const auto key_of = [](const FabricHandle<fid_mr>& registration) { return fi_mr_key(registration.get()); };
  const bool others_write = (access & (FI_REMOTE_WRITE | FI_REMOTE_READ)) != 0;
  // One that the provider chooses need not be new, nor a random one of few bits.
  registration_ = others_write ? endpoint.keys().take_new(make, key_of) : make();
  key_ = key_of(registration_);
  if (endpoint.demands(FI_MR_VIRT_ADDR)) base_ = reinterpret_cast<std::uint64_t>(memory.data());
  if (endpoint.demands(FI_MR_LOCAL)) descriptor_ = fi_mr_desc(registration_.get());
}

FabricBuffer* FabricBuffers::take(std::size_t bytes) {
  auto& free = bytes <= kSmall ? small_ : large_;
  if (free.empty()) {
    // So that giving them back takes no memory.
    small_.reserve(all_.size() + 1);
    large_.reserve(all_.size() + 1);
    auto buffer = std::make_unique<FabricBuffer>();
    buffer->bytes = bytes <= kSmall ? kSmall : kLargest;
    buffer->memory = std::make_unique_for_overwrite<std::byte[]>(buffer->bytes);
    if (endpoint_.demands(FI_MR_LOCAL)) {
      std::memset(buffer->memory.get(), 0, buffer->bytes);  // FI_MR_ALLOCATED: its pages have to be there
      buffer->registration =
          std::make_unique<FabricMemory>(endpoint_, std::span(buffer->memory.get(), buffer->bytes), FI_WRITE | FI_READ);
    }
    all_.push_back(std::move(buffer));
    return all_.back().get();
  }
  FabricBuffer* buffer = free.back();
  free.pop_back();
  return buffer;
}

void FabricBuffers::give_back(FabricBuffer* buffer) noexcept {
  (buffer->bytes <= kSmall ? small_ : large_).push_back(buffer);
}

void FabricBuffers::close_registrations() noexcept {
  for (auto& buffer : all_) buffer->registration.reset();
}

}  // namespace fenix_impl
