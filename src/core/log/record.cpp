// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/record.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/simd/hash.hpp"

namespace fenix_impl {
namespace {

using namespace record_format;

struct RecordHead {
  std::uint64_t seal = 0;
  std::uint64_t checksum = 0;  // XXH3 of the bytes from magic to the end
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint16_t head_bytes = kHeadBytes;
  std::uint32_t length = 0;
  std::uint32_t member_count = 0;
  std::uint64_t epoch = 0;
  std::uint32_t generation = 0;
  std::int32_t time_stamp = 0;
  std::int32_t group_id = 0;
  std::int32_t owner = 0;
  std::uint64_t oldest_kept = 0;
  std::uint32_t flags = 0;
  std::uint32_t interval_count = 0;  // of all members
  std::uint64_t reserved = 0;
};
static_assert(sizeof(RecordHead) == kHeadBytes);

struct MemberEntry {
  std::int32_t member_id = 0;
  std::uint32_t slot = 0;
  std::uint64_t size = 0;
  std::uint32_t element_bytes = 0;
  std::uint32_t interval_count = 0;
  std::uint64_t stored_in = 0;
  std::uint64_t hash = 0;
  std::uint64_t interval_offset = 0;  // from the start of the record
  std::uint64_t reserved[2] = {0, 0};
};
static_assert(sizeof(MemberEntry) == kMemberBytes);
static_assert(sizeof(Interval) == kIntervalBytes);

constexpr std::size_t kChecksumStart = offsetof(RecordHead, magic);

template <class T>
T read(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void write(std::span<std::byte> bytes, std::size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

bool fits(const RecordHead& head, std::size_t available) {
  return head.magic == kMagic && head.version == kVersion && head.head_bytes == kHeadBytes && head.epoch != 0 &&
         (head.flags & ~kDeleted) == 0 && head.seal == record_seal({head.epoch}) && head.length <= available &&
         head.member_count <= available / kMemberBytes && head.interval_count <= available / kIntervalBytes &&
         head.length == record_bytes(head.member_count, head.interval_count);
}

// Returns the intervals of a member, if they are in the order that an IntervalSet has.
std::optional<IntervalSet> read_intervals(std::span<const std::byte> bytes, const MemberEntry& entry) {
  IntervalSet set;
  for (std::uint32_t i = 0; i < entry.interval_count; ++i) {
    const auto interval = read<Interval>(bytes, entry.interval_offset + i * kIntervalBytes);
    const bool follows = i == 0 || interval.first > set.end();
    if (!follows || interval.first >= interval.end) return std::nullopt;
    set.append(interval);
  }
  return set;
}

// interval_offset: position at which the member's intervals have to begin; it is moved on to their end.
std::optional<MemberVersion> read_member(std::span<const std::byte> bytes, std::size_t offset,
                                         std::size_t& interval_offset) {
  const auto entry = read<MemberEntry>(bytes, offset);
  if (entry.interval_offset != interval_offset) return std::nullopt;
  if (entry.interval_count > (bytes.size() - interval_offset) / kIntervalBytes) return std::nullopt;
  auto found = read_intervals(bytes, entry);
  const std::uint64_t most =
      std::numeric_limits<std::uint64_t>::max() / std::max<std::uint64_t>(entry.element_bytes, 1);
  if (!found || found->end() > most || entry.size > most || entry.stored_in == 0) return std::nullopt;
  interval_offset += entry.interval_count * kIntervalBytes;
  return MemberVersion{entry.member_id,   entry.slot, entry.element_bytes, entry.size,
                       {entry.stored_in}, entry.hash, std::move(*found)};
}

std::size_t intervals_in(const Record& record) {
  std::size_t intervals = 0;
  for (const MemberVersion& member : record.members) intervals += member.found.intervals().size();
  return intervals;
}

}  // namespace

const MemberVersion* Record::find(std::int32_t member_id) const {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.member_id == member_id; });
  return found == members.end() ? nullptr : &*found;
}

std::size_t record_bytes(std::size_t members, std::size_t intervals) {
  return kHeadBytes + members * kMemberBytes + intervals * kIntervalBytes;
}

std::size_t record_bytes(const Record& record) { return record_bytes(record.members.size(), intervals_in(record)); }

std::uint64_t record_seal(Epoch epoch) { return epoch.value; }

std::size_t encode(const Record& record, std::span<std::byte> out) {
  const std::size_t length = record_bytes(record);
  if (length > out.size()) throw Error(FENIX_ERROR_INTERN, "a record is larger than its entry in the log");
  std::size_t offset = kHeadBytes;
  std::size_t interval_offset = kHeadBytes + record.members.size() * kMemberBytes;
  for (const MemberVersion& m : record.members) {
    const auto intervals = m.found.intervals();
    write(out, offset,
          MemberEntry{m.member_id,
                      m.slot,
                      m.size,
                      m.element_bytes,
                      static_cast<std::uint32_t>(intervals.size()),
                      m.stored_in.value,
                      m.hash,
                      interval_offset,
                      {0, 0}});
    for (const Interval& interval : intervals) {
      write(out, interval_offset, interval);
      interval_offset += kIntervalBytes;
    }
    offset += kMemberBytes;
  }
  RecordHead head;
  head.length = static_cast<std::uint32_t>(length);
  head.member_count = static_cast<std::uint32_t>(record.members.size());
  head.epoch = record.epoch.value;
  head.generation = record.generation.value;
  head.time_stamp = record.time_stamp;
  head.group_id = record.group_id;
  head.owner = record.owner;
  head.oldest_kept = record.oldest_kept.value;
  head.flags = record.deleted ? kDeleted : 0;
  head.interval_count = static_cast<std::uint32_t>(intervals_in(record));
  write(out, 0, head);
  head.checksum = hash_bytes(out.first(length).subspan(kChecksumStart));
  write(out, 0, head);
  return length;
}

std::optional<std::size_t> length_in_head(std::span<const std::byte> head, std::size_t available) {
  const std::size_t length = read<RecordHead>(head, 0).length;
  if (length < kHeadBytes || length > available) return std::nullopt;
  return length;
}

Epoch epoch_in_head(std::span<const std::byte> head) { return {read<RecordHead>(head, 0).epoch}; }

std::optional<Record> decode(std::span<const std::byte> bytes) {
  Record record;
  return decode(bytes, record) ? std::optional(std::move(record)) : std::nullopt;
}

bool decode(std::span<const std::byte> bytes, Record& record) {
  record.members.clear();
  if (bytes.size() < kHeadBytes) return false;
  const auto head = read<RecordHead>(bytes, 0);
  if (!fits(head, bytes.size())) return false;
  bytes = bytes.first(head.length);
  if (head.checksum != hash_bytes(bytes.subspan(kChecksumStart))) return false;

  record.epoch = {head.epoch};
  record.generation = {head.generation};
  record.time_stamp = head.time_stamp;
  record.group_id = head.group_id;
  record.owner = head.owner;
  record.oldest_kept = {head.oldest_kept};
  record.deleted = (head.flags & kDeleted) != 0;
  record.members.reserve(head.member_count);
  std::size_t interval_offset = kHeadBytes + head.member_count * kMemberBytes;
  for (std::size_t i = 0; i < head.member_count; ++i) {
    auto member = read_member(bytes, kHeadBytes + i * kMemberBytes, interval_offset);
    if (!member) return false;
    record.members.push_back(std::move(*member));
  }
  return interval_offset == bytes.size();
}

}  // namespace fenix_impl
