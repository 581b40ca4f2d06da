// SPDX-License-Identifier: BSD-3-Clause
// Parity: the ranks of a redundancy set encode each other's slots. The reasons are in docs/design/redundancy.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/log/record_finder.hpp"
#include "core/protection/protection.hpp"
#include "core/protection/set_slots.hpp"
#include "parity/codec.hpp"

namespace fenix_impl {

class ParityProtection final : public Protection, private CollectiveEncoder, private SharedDecoder {
 public:
  explicit ParityProtection(const ProtectionContext& context);

  [[nodiscard]] std::uint64_t held_bytes(const Member& member, const Counts& counts) const override;
  [[nodiscard]] std::vector<int> neighbours() const override { return redundancy_set_; }
  [[nodiscard]] CollectiveEncoder* encoder() override { return this; }
  [[nodiscard]] SharedDecoder* shared_decoder() override { return this; }
  void prepare(const Member& member) const override;
  bool mend_own(Member& member, const MemberVersion& version, Epoch epoch) override;
  bool mend_held(Member& member, const MemberVersion& version, Epoch epoch) override;
  bool rebuild_own(Member& member, const MemberVersion& version, Epoch epoch, const std::set<int>& missing) override;
  [[nodiscard]] bool held_is_sound(Member& member, const MemberVersion& version, Epoch epoch) override;
  [[nodiscard]] bool holds_copies() const override { return false; }

 private:
  /// So many bytes of a parity are computed before the next part is looked at.
  static constexpr std::size_t kEncodedPiece = std::size_t{1} << 20;

  void encode(const EncodeFor& purpose, std::span<const Change> changes, const Wait& wait) override;
  void decline(const Wait& wait) override;
  void leave() noexcept override;
  [[nodiscard]] bool is_broken() const override { return broken_; }

  [[nodiscard]] std::span<const int> redundancy_set() const override { return redundancy_set_; }
  [[nodiscard]] int needed() const override { return ranks() - parity_; }
  bool make_share(Member& member, int loser, std::uint32_t slot, std::span<const std::optional<std::uint32_t>> sources,
                  const Share& share) override;

  [[nodiscard]] int ranks() const { return static_cast<int>(redundancy_set_.size()); }
  [[nodiscard]] std::uint64_t most_bytes(const Member& member, const Counts& counts) const;
  [[nodiscard]] Stripes stripes_of(const Member& member, const Counts& counts) const;
  void make_room_for_announcement(const Wait& wait);
  void refuse(const Wait& wait);
  void announce(const Wait& wait);
  void read_announcements();
  void read_announcement(std::size_t of);
  void finish(const Wait& wait);
  [[nodiscard]] std::string difference(const Record& other, std::span<const Change> changes) const;
  [[nodiscard]] bool all_are_in_buffers(const Change& change) const;
  void encode_member(const Change& change, bool in_buffers);
  void encode_in_place(std::span<const Change> changes, const Wait& wait);
  [[nodiscard]] SetSlot slot_of(const Member& member, int rank, std::uint32_t slot) const;
  enum class Sources { any, undamaged };
  [[nodiscard]] SetSlots slots_in(Member& member, Epoch epoch, const std::set<int>& missing,
                                  Sources sources = Sources::any);
  [[nodiscard]] SetSlots slots_in(Member& member, Epoch epoch);
  [[nodiscard]] bool is_sound_at(const Member& member, const SetSlot& slot, const MemberVersion& version) const;
  bool rebuild_from(Member& member, const MemberVersion& version, SetSlots& slots) const;
  bool decode_own(Member& member, const MemberVersion& version, SetSlots& slots, Codec& codec) const;

  std::vector<int> redundancy_set_;
  int index_ = 0;
  int parity_ = 0;
  std::uint64_t announcements_ = 0;  // announcements that this rank has made
  std::atomic<bool> broken_{false};  // the group's thread may find out
  bool reads_buffers_ = false;       // in the encoding under way
  Codec encoder_;
  RecordFinder finder_;  // of the redundancy set's records
  // Memory to use again.
  Record mine_;
  std::vector<Record> theirs_;
  std::vector<std::byte> bytes_;
};

}  // namespace fenix_impl
