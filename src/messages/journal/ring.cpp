// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/ring.hpp"

#include <algorithm>
#include <utility>

namespace fenix_impl {

Ring::Ring(std::size_t capacity, std::span<const Entry> entries) : Ring(capacity) {
  if (entries.empty()) return;
  head_ = entries.front().position;
  next_sequence_ = entries.front().head.sequence;
  for (const Entry& entry : entries) note(entry);
  take_back_jump();
}

std::uint64_t Ring::start() const {
  return order_.empty() ? chain_start(head_, next_sequence_)
                        : chain_start(order_.front().entry.position, order_.front().entry.head.sequence);
}

bool Ring::has_room(std::size_t end, std::size_t position, std::size_t size) const {
  const std::size_t oldest = order_.empty() ? end : order_.front().entry.position;
  const bool before_oldest = !order_.empty() && (turned_ || position < head_);
  // At the end there is always room for a jump.
  return before_oldest ? position + size <= oldest : position + size + journal_format::kHeadBytes <= end;
}

Ring::Outlook Ring::outlook(const Signature& signature, std::uint32_t depth, std::size_t size) const {
  Outlook outlook{{}, needed_bytes_ + size};
  if (depth > order_.size()) return outlook;
  const auto* const same = sequences_.find(signature);
  if (same == nullptr) return outlook;
  for (std::size_t i = 0; i + depth < same->size() + 1; ++i) {
    outlook.replaced.push_back((*same)[i]);
    outlook.needed_bytes -= entry_bytes(placed((*same)[i]).entry.head.bytes);
  }
  return outlook;
}

// Looks at the ring as it will be with the entry, when those that it makes needless have gone. All that is needed then has to fit into
// one piece of free memory: there it can be moved to.
bool Ring::leaves_room(std::size_t end, std::size_t position, std::size_t size, const Outlook& outlook) const {
  const auto stays = [&](const Placed& each) {
    const auto& replaced = outlook.replaced;
    return each.needed && std::find(replaced.begin(), replaced.end(), each.entry.head.sequence) == replaced.end();
  };
  const auto first = std::find_if(order_.begin(), order_.end(), stays);
  const std::size_t oldest = first == order_.end() ? position : first->entry.position;
  const std::size_t behind = position + size;
  if (position < oldest) return outlook.needed_bytes <= oldest - behind;
  return outlook.needed_bytes <= oldest || outlook.needed_bytes + behind + journal_format::kHeadBytes <= end;
}

bool Ring::can_move_all(std::size_t end) const {
  if (order_.empty()) return head_ == 0;
  const std::size_t oldest = order_.front().entry.position;
  // Free memory before the oldest entry ends where that one begins, and must not reach beyond the end when that one has gone.
  const bool ends_before = oldest + journal_format::kHeadBytes <= end;
  if (turned_) return ends_before && needed_bytes_ <= oldest - head_;
  return (ends_before && needed_bytes_ <= oldest) || needed_bytes_ + head_ + journal_format::kHeadBytes <= end;
}

// A ring that is much larger than what is needed is used up to a smaller end: readers have a shorter chain to follow, and less memory
// is taken.
std::size_t Ring::end_for(std::size_t needed_bytes) const {
  const std::size_t enough = std::min(capacity_, std::max(kLeastEnd, bytes_for(needed_bytes)));
  return enough >= end_ || can_move_all(enough) ? enough : end_;
}

Ring::Step Ring::next_step(const Signature& signature, std::uint32_t depth, std::size_t bytes) {
  if (bytes > capacity_) return Step::none;
  const std::size_t size = entry_bytes(bytes);
  const Outlook with = outlook(signature, depth, size);
  if (bytes_for(with.needed_bytes) > capacity_) return Step::none;
  end_ = end_for(with.needed_bytes);
  return next_step(end_, size, with);
}

Ring::Step Ring::next_step(std::size_t end, std::size_t size, const Outlook& with) const {
  const auto suits = [&](std::size_t position) {
    return has_room(end, position, size) && leaves_room(end, position, size, with);
  };
  const bool may_turn = !turned_ && head_ > 0;
  // Memory that was used before is preferred. Where more and more is needed until the oldest entries go, all together, there has to be much of it:
  // otherwise they would soon be in the way, and be moved.
  const bool is_growing = !order_.empty() && with.replaced.empty();
  const bool has_enough = !is_growing || order_.front().entry.position >= kPartsBeforeTurn * with.needed_bytes;
  if (may_turn && has_enough && suits(0)) return Step::jump;
  if (suits(head_)) return Step::place;
  if (may_turn && suits(0)) return Step::jump;
  if (order_.empty()) return Step::none;
  const std::size_t moved = entry_bytes(oldest().head.bytes);
  if (has_room(end, head_, moved)) return Step::move;
  return !turned_ && has_room(end, 0, moved) ? Step::jump : Step::none;
}

void Ring::note(const Entry& entry) {
  const EntryHead& head = entry.head;
  ++next_sequence_;
  if (head.kind == EntryKind::jump) {
    turned_ = true;
    head_ = 0;
    order_.push_back({entry, false});
    drop_front();
    return;
  }
  head_ = entry.position + entry_bytes(head.bytes);
  next_number_ = std::max(next_number_, head.number + 1);
  order_.push_back({entry, true});
  needed_bytes_ += entry_bytes(head.bytes);
  Sequences& same = sequences_[head.signature];
  const auto by_number = [this](std::uint64_t number, std::uint64_t sequence) {
    return number < placed(sequence).entry.head.number;
  };
  // Only copies of old entries have smaller numbers than others.
  const bool is_newest = same.empty() || placed(same.back()).entry.head.number < head.number;
  const auto after = is_newest ? same.end() : std::upper_bound(same.begin(), same.end(), head.number, by_number);
  if (!is_newest && after != same.begin() && placed(*std::prev(after)).entry.head.number == head.number) {
    release(*std::prev(after));
    *std::prev(after) = head.sequence;
  } else {
    same.insert(after, head.sequence);
  }
  while (same.size() > head.depth) {
    release(same.front());
    same.pop_front();
  }
  drop_front();
}

void Ring::release(std::uint64_t sequence) {
  Placed& released = placed(sequence);
  released.needed = false;
  needed_bytes_ -= entry_bytes(released.entry.head.bytes);
}

void Ring::take_back_jump() {
  if (order_.empty() || order_.back().entry.head.kind != EntryKind::jump) return;
  head_ = order_.back().entry.position;
  turned_ = false;
  --next_sequence_;
  searched_from_ = std::min(searched_from_, next_sequence_);
  order_.pop_back();
}

void Ring::release_until(const Signature& signature, std::uint64_t number, bool keeps_newest) {
  auto* const same = sequences_.find(signature);
  if (same == nullptr) return;
  const std::size_t least = keeps_newest ? 1 : 0;
  while (same->size() > least && placed(same->front()).entry.head.number <= number) {
    release(same->front());
    same->pop_front();
  }
  if (same->empty()) sequences_.erase(signature);
  drop_front();
}

// Each entry is looked at once: one that stays at the front may have many behind it that are not needed any more.
const Entry* Ring::find_oldest(std::uint32_t least_depth) {
  if (std::exchange(searched_depth_, least_depth) != least_depth) searched_from_ = 0;
  if (!order_.empty()) searched_from_ = std::max(searched_from_, order_.front().entry.head.sequence);
  for (; searched_from_ < next_sequence_ && !order_.empty(); ++searched_from_) {
    const Placed& each = placed(searched_from_);
    if (each.needed && each.entry.head.depth >= least_depth) return &each.entry;
  }
  return nullptr;
}

std::optional<Entry> Ring::release_oldest(std::uint32_t least_depth) {
  const Entry* const oldest = find_oldest(least_depth);
  if (oldest == nullptr) return std::nullopt;
  const Entry entry = *oldest;
  remove(entry);
  drop_front();
  return entry;
}

// A signature without messages leaves nothing: programs may have a new tag for each message.
void Ring::remove(const Entry& entry) {
  auto& same = sequences_[entry.head.signature];
  same.erase(std::find(same.begin(), same.end(), entry.head.sequence));
  if (same.empty()) sequences_.erase(entry.head.signature);
  release(entry.head.sequence);
}

bool Ring::forget_before(std::uint64_t start) {
  const auto wanted = static_cast<std::uint32_t>(start);
  while (!order_.empty() &&
         static_cast<std::int32_t>(wanted - static_cast<std::uint32_t>(order_.front().entry.head.sequence)) > 0) {
    const Entry& front = order_.front().entry;
    if (order_.front().needed) remove(front);
    if (front.head.kind == EntryKind::jump) turned_ = false;
    order_.pop_front();
  }
  // The owner may not have published yet that an entry is needless.
  return !order_.empty() || start == rest();
}

void Ring::drop_front() {
  while (!order_.empty() && !order_.front().needed) {
    if (order_.front().entry.head.kind == EntryKind::jump) turned_ = false;
    order_.pop_front();
  }
}

const Entry* Ring::find(const Signature& signature, std::uint64_t number) const {
  const auto* const same = sequences_.find(signature);
  if (same == nullptr) return nullptr;
  const auto is_before = [this](std::uint64_t sequence, std::uint64_t wanted) {
    return placed(sequence).entry.head.number < wanted;
  };
  const auto found = std::lower_bound(same->begin(), same->end(), number, is_before);
  return found != same->end() && placed(*found).entry.head.number == number ? &placed(*found).entry : nullptr;
}

std::vector<Entry> Ring::messages(const Signature& signature) const {
  std::vector<Entry> found;
  const auto* const same = sequences_.find(signature);
  if (same == nullptr) return found;
  for (const std::uint64_t sequence : *same) found.push_back(placed(sequence).entry);
  return found;
}

std::vector<Entry> Ring::messages() const {
  std::vector<Entry> found;
  for (const Placed& each : order_) {
    if (each.needed) found.push_back(each.entry);
  }
  return found;
}

std::vector<Entry> Ring::oldest_messages(std::uint32_t least_depth, std::size_t bytes) const {
  std::vector<Entry> found;
  std::size_t taken = 0;
  for (const Placed& each : order_) {
    if (taken > bytes) break;
    if (!each.needed || each.entry.head.depth < least_depth) continue;
    found.push_back(each.entry);
    taken += entry_bytes(each.entry.head.bytes);
  }
  return found;
}

std::vector<Entry> Ring::chain() const {
  std::vector<Entry> found;
  for (const Placed& each : order_) found.push_back(each.entry);
  return found;
}

}  // namespace fenix_impl
