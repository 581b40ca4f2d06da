// SPDX-License-Identifier: BSD-3-Clause
// Whole copies: another rank has a copy of each slot. Without redundancy, no rank has one.
#pragma once

#include <optional>
#include <vector>

#include "core/protection/protection.hpp"

namespace fenix_impl {

class CopyProtection final : public Protection {
 public:
  explicit CopyProtection(const ProtectionContext& context);

  [[nodiscard]] std::uint64_t held_bytes(const Member& member, const Counts& counts) const override;
  [[nodiscard]] std::vector<int> neighbours() const override;
  void prepare(const Member& member) const override;
  [[nodiscard]] std::span<std::byte> mirror(const Member& member, std::uint32_t slot, std::size_t offset,
                                            std::size_t bytes) const override;
  void put(const Member& member, std::uint32_t slot, std::size_t offset,
           std::span<const std::byte> data) const override;
  void put_table(const Member& member, std::uint32_t slot, std::span<const std::uint64_t> table) const override;
  void flush(const Member& member) const override;
  [[nodiscard]] bool is_flushed(const Member& member) const override;
  bool mend_own(Member& member, const MemberVersion& version, Epoch epoch) override;
  bool mend_held(Member& member, const MemberVersion& version, Epoch epoch) override;
  bool rebuild_own(Member& member, const MemberVersion& version, Epoch epoch, const std::set<int>& missing) override;
  [[nodiscard]] bool held_is_sound(Member& member, const MemberVersion& version, Epoch epoch) override;
  [[nodiscard]] bool holds_copies() const override { return true; }

 private:
  [[nodiscard]] bool holder_has(const Member& member, const MemberVersion& version) const;
  bool take(Member& member, const MemberVersion& version, int rank, std::size_t offset, const SlotView& slot) const;

  std::optional<int> holder_;  // rank that has the copy of this rank's slots
  std::optional<int> owner_;   // rank whose copies this one has
};

}  // namespace fenix_impl
