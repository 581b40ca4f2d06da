// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/entry.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/simd/hash.hpp"

namespace fenix_impl {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

// Heads of small entries lie close together: over a network, several are read at once.
class HeadReader {
 public:
  HeadReader(const ReadRing& read, std::size_t capacity) : read_(read), capacity_(capacity) {}

  /// Returns the valid entry at a position that continues a chain; nullopt if there is none.
  std::optional<Entry> at(std::size_t position, std::uint32_t low_sequence) {
    if (position % journal_format::kUnit != 0 || position > capacity_ ||
        capacity_ - position < journal_format::kHeadBytes)
      return std::nullopt;
    Entry entry{head(position), position};
    const EntryHead& found = entry.head;
    if (found.seal != seal_of(found, position) || found.version != journal_format::kVersion) return std::nullopt;
    if (static_cast<std::uint32_t>(found.sequence) != low_sequence) return std::nullopt;
    if (found.kind == EntryKind::jump) return found.bytes == 0 ? std::optional(entry) : std::nullopt;
    if (found.kind != EntryKind::message || found.depth == 0) return std::nullopt;
    if (found.bytes > capacity_ || entry_bytes(found.bytes) > capacity_ - position) return std::nullopt;
    return entry;
  }

 private:
  static constexpr std::size_t kWindow = 4096;

  EntryHead head(std::size_t position) {
    if (position < begin_ || position + journal_format::kHeadBytes > begin_ + window_.size()) {
      window_.resize(std::min(kWindow, capacity_ - position));
      begin_ = position;
      read_(position, window_);
    }
    EntryHead head;
    std::memcpy(&head, window_.data() + (position - begin_), sizeof head);
    return head;
  }

  const ReadRing& read_;
  std::size_t capacity_;
  std::size_t begin_ = 0;
  std::vector<std::byte> window_;
};

}  // namespace

std::uint64_t seal_of(const EntryHead& head, std::size_t position) {
  const auto sealed = std::as_bytes(std::span(&head, 1)).subspan(sizeof head.seal);
  const std::uint64_t hash = hash_bytes(sealed, position + 1);
  return hash != 0 ? hash : 1;
}

std::vector<Entry> read_chain(const ReadRing& read, std::size_t capacity, std::uint64_t start) {
  std::vector<Entry> entries;
  HeadReader reader(read, capacity);
  std::size_t position = (start >> 32U) * journal_format::kUnit;
  auto sequence = static_cast<std::uint32_t>(start);
  std::size_t jumps = 0;
  for (;; ++sequence) {
    const auto entry = reader.at(position, sequence);
    if (!entry) return entries;
    const bool jumps_back = entry->head.kind == EntryKind::jump;
    // A chain turns back once at most, and then stays before its own start.
    if (jumps_back && ++jumps > 1) return entries;
    if (!entries.empty() && entry->head.sequence != entries.back().head.sequence + 1) return entries;
    if (jumps == 1 && !jumps_back && !entries.empty() &&
        entry->payload() + entry->head.bytes > entries.front().position && entry->position < entries.front().position)
      return entries;
    entries.push_back(*entry);
    position = jumps_back ? 0 : position + entry_bytes(entry->head.bytes);
    if (jumps == 1 && position == entries.front().position) return entries;
  }
}

}  // namespace fenix_impl
