// SPDX-License-Identifier: BSD-3-Clause
// Reading a member as the snapshot under construction has it. Where commits are in place, its bytes are in several places: the
// buffers from which elements were stored, the spill, and the own slot with the latest snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/member/member.hpp"

namespace fenix_impl {

/// Returns bytes of the packed elements in a buffer of the application, or in spill if buffer is null. They are copied to scratch
/// if they do not lie there packed.
[[nodiscard]] std::span<const std::byte> stored_bytes(const ElementType& type, const void* buffer,
                                                      std::span<const std::byte> spill, std::uint64_t begin,
                                                      std::uint64_t bytes, std::vector<std::byte>& scratch);

class SnapshotReader {
 public:
  /// in_place: whether the group commits in place. The member must outlive it, and not be stored meanwhile.
  SnapshotReader(const Member& member, bool in_place) : member_(member), in_place_(in_place) {}

  /// Returns bytes of the packed elements, within the memory of a slot. They stay as they are until the next call.
  [[nodiscard]] std::span<const std::byte> bytes(std::uint64_t begin, std::uint64_t bytes);

 private:
  void put_together(std::uint64_t begin, std::uint64_t bytes);

  const Member& member_;
  bool in_place_;
  std::vector<std::byte> joined_;  // bytes from several places
  std::vector<std::byte> packed_;
};

}  // namespace fenix_impl
