// SPDX-License-Identifier: BSD-3-Clause
#include "registrations.hpp"

#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "modes.hpp"

namespace hostile {
namespace {

std::uintptr_t page_of(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) / 4096 * 4096; }

// Whether all pages have memory, which a program that keeps to FI_MR_ALLOCATED has seen to.
bool is_there(std::span<std::byte> memory) {
  const std::uintptr_t begin = page_of(memory.data());
  std::vector<unsigned char> pages((page_of(memory.data() + memory.size() - 1) - begin) / 4096 + 1);
  if (mincore(reinterpret_cast<void*>(begin), pages.size() * 4096, pages.data()) != 0) return false;
  return std::ranges::all_of(pages, [](unsigned char page) { return (page & 1U) != 0; });
}

// As a card does that holds what it may be asked for.
bool pin(std::span<std::byte> memory) {
  const std::uintptr_t begin = page_of(memory.data());
  const std::size_t bytes = page_of(memory.data() + memory.size() - 1) + 4096 - begin;
  return madvise(reinterpret_cast<void*>(begin), bytes, MADV_POPULATE_WRITE) == 0;
}

}  // namespace

bool Registrations::fits(std::size_t bytes) const {
  if (modes().few > 0 && used_.size() >= modes().few) return false;
  for (const auto& each : used_) bytes += each->memory.size();
  return modes().pinned == 0 || bytes <= modes().pinned;
}

std::uint64_t Registrations::next_key(std::uint64_t requested) {
  if (!modes().chooses_keys()) return requested;
  if (!modes().lowest) return ++keys_;
  std::uint64_t key = 1;
  while (std::ranges::any_of(all_, [&](const auto& each) { return each->key == key; })) ++key;
  return key;
}

int Registrations::add(fid_domain* core, std::span<std::byte> memory, std::uint64_t access, std::uint64_t requested_key,
                       std::shared_ptr<Registration>& made) {
  const std::lock_guard lock(mutex_);
  if (modes().needs_memory() && !is_there(memory)) return -FI_EFAULT;
  if (!fits(memory.size()) || (modes().pinned > 0 && !pin(memory))) return -FI_ENOMEM;
  const auto same = [&](const auto& each) {
    return each->memory.data() == memory.data() && each->memory.size() == memory.size() && each->access == access;
  };
  if (const auto found = std::ranges::find_if(all_, same); modes().cache && found != all_.end()) {
    made = *found;
    used_.push_back(made);
    return 0;
  }
  auto registration = std::make_shared<Registration>();
  registration->memory = memory;
  registration->access = access;
  registration->key = next_key(requested_key);
  const int result =
      fi_mr_reg(core, memory.data(), memory.size(), access, 0, registration->key, 0, &registration->core, nullptr);
  if (result != 0) return result;
  if (modes().basic) registration->key = fi_mr_key(registration->core);
  made = registration;
  all_.push_back(registration);
  used_.push_back(std::move(registration));
  return 0;
}

void Registrations::remove(std::shared_ptr<Registration> registration) {
  const std::lock_guard lock(mutex_);
  used_.erase(std::ranges::find(used_, registration));
  if (!modes().cache && !modes().stale) std::erase(all_, registration);
}

bool Registrations::cover(const void* memory, std::size_t bytes, std::uint64_t access) {
  const auto* at = static_cast<const std::byte*>(memory);
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(used_, [&](const auto& each) {
    return (each->access & access) == access && each->memory.data() <= at &&
           at + bytes <= each->memory.data() + each->memory.size();
  });
}

}  // namespace hostile
