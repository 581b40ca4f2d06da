// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/rejoin/member_sizes.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "core/member/member_codec.hpp"

namespace fenix_impl {
namespace {

/// How much a rank has of a member. Sent to other ranks.
struct KnownCount {
  std::uint32_t member = 0;  ///< its index among the members
  std::int32_t rank = -1;
  std::uint64_t elements = 0;
};

/// A statement about a member: of a rank, or merged. Sent to other ranks.
struct MemberState {
  std::uint32_t slots = 0;    ///< the most that a rank has
  std::uint8_t unknown = 0;   ///< nobody knows how much some rank has
  std::uint8_t deleted = 0;   ///< a rank has deleted it
  std::uint8_t rejoined = 0;  ///< some rank has known it since a rejoin with replacements: each rank defines it alone
  std::uint8_t reserved = 0;
};

void merge_states(std::vector<MemberState>& into, std::span<const MemberState> from) {
  if (into.size() != from.size()) throw Error(FENIX_ERROR_INTERN, "a rank has another number of members");
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i].slots = std::max(into[i].slots, from[i].slots);
    into[i].unknown = std::max(into[i].unknown, from[i].unknown);
    into[i].deleted = std::max(into[i].deleted, from[i].deleted);
    into[i].rejoined = std::max(into[i].rejoined, from[i].rejoined);
  }
}

class MemberSizes {
 public:
  MemberSizes(Team& team, Group& group, std::span<const MemberInfo> infos)
      : team_(team),
        group_(group),
        infos_(infos),
        self_(team.rank()),
        partners_(group.ranks().partners()),
        witnesses_(group.ranks().witnesses()) {}

  void agree() {
    for (const MemberInfo& info : infos_) counts_.push_back(known_counts(info));
    find_own_counts();
    tell_own_counts();
    const std::vector<MemberState> states = own_states();
    const auto all = team_.reduce_lists(std::span<const MemberState>(states), merge_states);
    for (std::size_t i = 0; i < infos_.size(); ++i) take(infos_[i], all[i], std::move(counts_[i]));
  }

 private:
  [[nodiscard]] std::vector<MemberState> own_states() const {
    std::vector<MemberState> states;
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      const MemberInfo& info = infos_[i];
      const Member* member = group_.find(info.id);
      const bool known =
          counts_[i].count(self_) != 0 &&
          std::all_of(partners_.begin(), partners_.end(), [&](int partner) { return counts_[i].count(partner) != 0; });
      // Where the memory is still to be taken over, only its description knows the slots.
      states.push_back({member != nullptr ? std::max(member->memory.layout().slots(), member->memory.least_slots()) : 0,
                        static_cast<std::uint8_t>(known || info.resizeable ? 0 : 1),
                        static_cast<std::uint8_t>(group_.members().has_deleted(info.id) ? 1 : 0),
                        static_cast<std::uint8_t>(member != nullptr && member->has_rejoined() ? 1 : 0), 0});
    }
    return states;
  }

  void take(const MemberInfo& info, const MemberState& state, Counts counts) {
    Members& members = group_.members();
    Member* const known = members.find(info.id);
    if (state.unknown != 0 || state.deleted != 0) {
      // The application goes on using its buffer.
      if (known != nullptr && state.deleted == 0) members.forget(*known);
      members.drop(info.id);
      return;
    }
    // A size that may change is 0 until it is told.
    counts.try_emplace(self_, 0);
    for (const int partner : partners_) counts.try_emplace(partner, 0);
    members.adopt(info, std::move(counts), state.slots, self_);
    // An attempt that was cut short has told some ranks only.
    if (state.rejoined != 0) members.find(info.id)->note_rejoined();
  }

  [[nodiscard]] Counts known_counts(const MemberInfo& info) const {
    const Member* member = group_.find(info.id);
    if (member == nullptr) return {};
    Counts counts = member->memory.counts();
    if (info.resizeable) {
      counts.try_emplace(self_, member->own_count());
    } else {
      counts[self_] = member->own_count();
    }
    return counts;
  }

  // Replacements do not know their own sizes, and neither do ranks that were cut short while a member was created.
  void find_own_counts() {
    const bool lacks = std::any_of(infos_.begin(), infos_.end(),
                                   [&](const MemberInfo& info) { return group_.find(info.id) == nullptr; });
    const auto without = team_.gather_some(std::span<const int>(&self_, lacks ? 1 : 0));
    if (without.empty()) return;
    std::vector<KnownCount> known;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      for (const auto& [rank, elements] : counts_[i]) {
        if (!std::binary_search(without.begin(), without.end(), rank)) continue;
        known.push_back({static_cast<std::uint32_t>(i), rank, elements});
      }
    }
    for (const auto& [rank, theirs] : team_.ask(witnesses_, std::span<const KnownCount>(known))) {
      for (const KnownCount& each : theirs) {
        if (each.rank != self_ || each.member >= counts_.size() || group_.find(infos_[each.member].id) != nullptr)
          continue;
        // Statements differ if growing was cut short before some rank knew: nothing is lost with the larger one.
        auto& own = counts_[each.member].try_emplace(self_, each.elements).first->second;
        own = std::max(own, each.elements);
      }
    }
  }

  void tell_own_counts() {
    std::vector<KnownCount> known;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const auto own = counts_[i].find(self_);
      if (own != counts_[i].end()) known.push_back({static_cast<std::uint32_t>(i), self_, own->second});
      // A size that a rank does not know of itself any more counts as unknown.
      for (const int witness : witnesses_) counts_[i].erase(witness);
    }
    for (const auto& [rank, theirs] : team_.ask(witnesses_, std::span<const KnownCount>(known))) {
      for (const KnownCount& each : theirs) {
        if (each.member < counts_.size()) counts_[each.member][rank] = each.elements;
      }
    }
  }

  Team& team_;
  Group& group_;
  std::span<const MemberInfo> infos_;
  int self_;
  std::vector<int> partners_;
  std::vector<int> witnesses_;  // and partners
  std::vector<Counts> counts_;  // by member
};

std::vector<MemberInfo> share_members(Team& team, const Group& group, int source) {
  std::vector<MemberInfo> infos;
  for (const auto& member : group.members()) infos.push_back(member->info());
  auto bytes = encode_members(infos);
  team.broadcast_list(bytes, source);
  return decode_members(bytes);
}

}  // namespace

void agree_on_members(Team& team, Group& group, int source) {
  const auto infos = share_members(team, group, source);
  group.members().arrange(infos);
  MemberSizes(team, group, infos).agree();
}

}  // namespace fenix_impl
