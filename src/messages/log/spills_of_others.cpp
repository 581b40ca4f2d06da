// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/spills_of_others.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/fault.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

constexpr std::size_t kSpillPiece = std::size_t{8} << 20;  // bytes that are sent at once

/// The files that a rank has, and those that it wants, as it tells the others.
struct SpillWords {
  SpillPlace own;
  SpillPlace wanted;  ///< of its predecessor; id 0: none
};

/// A rank that needs what another one has.
struct SpillRequest {
  std::int32_t reader = 0;  ///< slots
  std::int32_t writer = 0;
};

}  // namespace

void SpillsOfOthers::clear() {
  ranks_.clear();
  places_.clear();
  readers_.clear();
  copies_.clear();
  sent_.clear();
  are_any_ = false;
}

// The bytes of entries follow each other in pieces. An empty piece is the last one.
void SpillsOfOthers::send(Team& team, int root, const std::function<void(const TakeEntry&)>& give,
                          const TakeEntry* take) {
  std::vector<std::byte> piece;
  if (team.rank() == root) {
    const auto add = [&](std::span<const std::byte> bytes) {
      while (!bytes.empty()) {
        const std::size_t part = std::min(bytes.size(), kSpillPiece - piece.size());
        piece.insert(piece.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
        bytes = bytes.subspan(part);
        if (piece.size() < kSpillPiece) continue;
        team.broadcast_list(piece, root);
        piece.clear();
      }
    };
    give([&](const EntryHead& head, std::span<const std::byte> payload) {
      add(std::as_bytes(std::span(&head, 1)));
      add(payload);
      return true;
    });
    if (!piece.empty()) team.broadcast_list(piece, root);
    piece.clear();
    team.broadcast_list(piece, root);
    return;
  }
  std::vector<std::byte> rest;
  for (;;) {
    team.broadcast_list(piece, root);
    if (piece.empty()) return;
    if (take == nullptr) continue;
    rest.insert(rest.end(), piece.begin(), piece.end());
    std::size_t at = 0;
    EntryHead head;
    while (rest.size() - at >= sizeof head) {
      std::memcpy(&head, rest.data() + at, sizeof head);
      if (rest.size() - at - sizeof head < head.bytes) break;
      if (!(*take)(head, std::span(rest).subspan(at + sizeof head, head.bytes))) take = nullptr;
      if (take == nullptr) break;
      at += sizeof head + head.bytes;
    }
    rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

bool SpillsOfOthers::meet(Team& team, LogSpill* own, int own_slot, const std::optional<SpillPlace>& wanted,
                          const std::function<bool(const Signature&)>& is_wanted, const TakeEntry& take) {
  clear();
  own_ = own;
  own_slot_ = own_slot;
  SpillWords mine;
  if (own != nullptr) {
    own->show();
    (void)own->sync();
    mine.own = own->place();
  }
  mine.own.slot = own_slot;
  if (wanted) mine.wanted = *wanted;
  const std::vector<SpillWords> all = team.gather(mine);
  bool has_all = true;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const SpillPlace& of = all[rank].own;
    ranks_[of.slot] = static_cast<int>(rank);
    are_any_ = are_any_ || of.id != 0;
    if (of.end != 0) places_.emplace(of.slot, of);
  }
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const SpillPlace& of = all[rank].wanted;
    if (of.id == 0) continue;
    const bool is_mine = static_cast<int>(rank) == team.rank();
    if (!send_wanted(team, of, is_mine, is_wanted, take)) has_all = false;
  }
  return has_all;
}

// Returns false if this rank wants them, and has not got them all.
bool SpillsOfOthers::send_wanted(Team& team, const SpillPlace& of, bool is_mine,
                                 const std::function<bool(const Signature&)>& is_wanted, const TakeEntry& take) {
  std::optional<SpillReader> seen;
  if (own_ != nullptr) {
    seen.emplace(own_->options().folder, of, is_wanted);
    if (!seen->look()) seen.reset();
  }
  constexpr int kNobody = std::numeric_limits<int>::max();
  const int root =
      team.reduce(seen ? team.rank() : kNobody, [](int& least, int other) { least = std::min(least, other); });
  if (root == kNobody) return !is_mine || of.determinants == 0;
  bool is_taken = true;
  const TakeEntry taking = [&](const EntryHead& head, std::span<const std::byte> payload) {
    return is_taken = is_taken && take(head, payload);
  };
  send(
      team, root,
      [&](const TakeEntry& to) {
        std::vector<std::byte> payload;
        for (const Spilled& each : seen->all()) {
          payload.resize(each.entry.head.bytes);
          if (!seen->read(each, payload) || !to(each.entry.head, payload)) return;
        }
      },
      is_mine ? &taking : nullptr);
  if (root == team.rank()) sent_.push_back(of);
  return !is_mine || is_taken;
}

bool SpillsOfOthers::fetch(Team& team, const std::set<int>& from, const Give& give) {
  if (!are_any_) return true;
  std::vector<SpillRequest> mine;
  for (const int slot : from) {
    if (places_.count(slot) != 0 && of(slot, /*anew=*/false) == nullptr) mine.push_back({own_slot_, slot});
  }
  bool has_all = true;
  const auto requests = team.gather_lists(std::span<const SpillRequest>(mine));
  // All that have got something have it in files of their own now, and their journals say so.
  for (const SpillPlace& each : std::exchange(sent_, {})) remove_spill_files(own_->options().folder, each);
  for (const auto& list : requests) {
    for (const SpillRequest& each : list) {
      const bool is_mine = each.reader == own_slot_;
      LogSpill* copy = nullptr;
      if (is_mine && own_ != nullptr) {
        copy = (copies_[each.writer] = std::make_unique<LogSpill>(own_->options(), each.writer)).get();
      }
      bool is_taken = copy != nullptr;
      const TakeEntry take = [&](const EntryHead& head, std::span<const std::byte> payload) {
        const LogSpill::Item item{head, payload};
        return is_taken = is_taken && copy->append(std::span(&item, 1));
      };
      send(
          team, ranks_.at(each.writer), [&](const TakeEntry& to) { give(each.reader, to); }, is_mine ? &take : nullptr);
      fault_point("mlog.fetched");
      if (!is_mine) continue;
      if (!is_taken) log().warn("logged messages of another node find no room: {}", copy ? copy->why() : "no folder");
      if (copy != nullptr) copy->show();
      has_all = has_all && is_taken;
      if (is_taken) places_[each.writer] = copy->place();
      readers_.erase(each.writer);
    }
  }
  return has_all;
}

std::shared_ptr<SpillReader> SpillsOfOthers::of(int slot, bool anew) {
  const auto place = places_.find(slot);
  if (place == places_.end() || own_ == nullptr) return nullptr;
  const auto [reader, is_new] = readers_.try_emplace(slot);
  if (!is_new) {
    if (anew && reader->second) (void)reader->second->look();
    return reader->second;
  }
  const auto is_mine = [own_slot = own_slot_](const Signature& each) { return each.destination == own_slot; };
  auto made = std::make_shared<SpillReader>(own_->options().folder, place->second, is_mine);
  if (made->look()) reader->second = std::move(made);
  return reader->second;
}

}  // namespace fenix_impl
