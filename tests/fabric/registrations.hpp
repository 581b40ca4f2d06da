// SPDX-License-Identifier: BSD-3-Clause
// Memory that is registered with the core, under keys as the modes say.
#pragma once

#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace hostile {

/// Memory that is registered with the core, as long as it lives.
struct Registration {
  Registration() = default;
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    if (core != nullptr) (void)fi_close(&core->fid);
  }

  fid_mr* core = nullptr;
  std::span<std::byte> memory;
  std::uint64_t access = 0;
  std::uint64_t key = 0;
};

class Registrations {
 public:
  /// Returns 0, or an error of libfabric.
  int add(fid_domain* core, std::span<std::byte> memory, std::uint64_t access, std::uint64_t requested_key,
          std::shared_ptr<Registration>& made);
  /// The user has no more of it.
  void remove(std::shared_ptr<Registration> registration);
  /// Whether the bytes lie in one that has that access.
  bool cover(const void* memory, std::size_t bytes, std::uint64_t access);

 private:
  bool fits(std::size_t bytes) const;
  std::uint64_t next_key(std::uint64_t requested);

  std::mutex mutex_;
  std::vector<std::shared_ptr<Registration>> all_;   // with those in the cache
  std::vector<std::shared_ptr<Registration>> used_;  // once for each user
  std::uint64_t keys_ = 0;
};

}  // namespace hostile
