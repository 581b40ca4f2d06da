// SPDX-License-Identifier: BSD-3-Clause
#include "core/record.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace fenix_impl {
namespace {

using namespace record_format;

struct Head {
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
  std::uint64_t reserved = 0;
};
static_assert(sizeof(Head) == kHeadBytes);

struct MemberEntry {
  std::int32_t member_id = 0;
  std::uint32_t slot = 0;
  std::uint64_t count = 0;
  std::uint32_t element_bytes = 0;
  std::uint32_t interval_count = 0;
  std::uint64_t stored_in = 0;
  std::uint64_t hash = 0;
  std::uint64_t interval_offset = 0;  // from the start of the record
  std::uint64_t reserved[2] = {0, 0};
};
static_assert(sizeof(MemberEntry) == kMemberBytes);

struct Interval {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
static_assert(sizeof(Interval) == kIntervalBytes);

constexpr std::size_t kChecksumStart = offsetof(Head, magic);

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

bool fits(const Head& head, std::size_t available) {
  return head.magic == kMagic && head.version == kVersion && head.head_bytes == kHeadBytes && head.epoch != 0 &&
         head.seal == record_seal({head.epoch}) && head.length <= available &&
         head.member_count <= available / kMemberBytes && head.length == record_bytes(head.member_count);
}

// In this version of the format each member has one interval that covers all its elements.
std::optional<MemberVersion> read_member(std::span<const std::byte> bytes, std::size_t offset,
                                         std::size_t interval_offset) {
  const auto entry = read<MemberEntry>(bytes, offset);
  if (entry.interval_count != 1 || entry.interval_offset != interval_offset) return std::nullopt;
  const auto interval = read<Interval>(bytes, interval_offset);
  if (interval.first != 0 || interval.count != entry.count) return std::nullopt;
  const std::uint64_t most =
      std::numeric_limits<std::uint64_t>::max() / std::max<std::uint64_t>(entry.element_bytes, 1);
  if (entry.count > most || entry.stored_in == 0) return std::nullopt;
  return MemberVersion{entry.member_id, entry.slot, entry.count, entry.element_bytes, {entry.stored_in}, entry.hash};
}

}  // namespace

const MemberVersion* Record::find(std::int32_t member_id) const {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.member_id == member_id; });
  return found == members.end() ? nullptr : &*found;
}

std::size_t record_bytes(std::size_t members) { return kHeadBytes + members * (kMemberBytes + kIntervalBytes); }

std::uint64_t record_seal(Epoch epoch) { return epoch.value; }

std::size_t encode(const Record& record, std::span<std::byte> out) {
  const std::size_t length = record_bytes(record.members.size());
  if (length > out.size()) throw Error(FENIX_ERROR_INTERN, "a record is larger than its place in the log");
  std::size_t offset = kHeadBytes;
  std::size_t interval_offset = kHeadBytes + record.members.size() * kMemberBytes;
  for (const MemberVersion& m : record.members) {
    write(out, offset,
          MemberEntry{
              m.member_id, m.slot, m.count, m.element_bytes, 1, m.stored_in.value, m.hash, interval_offset, {0, 0}});
    write(out, interval_offset, Interval{0, m.count});
    offset += kMemberBytes;
    interval_offset += kIntervalBytes;
  }
  Head head;
  head.length = static_cast<std::uint32_t>(length);
  head.member_count = static_cast<std::uint32_t>(record.members.size());
  head.epoch = record.epoch.value;
  head.generation = record.generation.value;
  head.time_stamp = record.time_stamp;
  head.group_id = record.group_id;
  head.owner = record.owner;
  write(out, 0, head);
  head.checksum = hash_bytes(out.first(length).subspan(kChecksumStart));
  write(out, 0, head);
  return length;
}

std::optional<Record> decode(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadBytes) return std::nullopt;
  const auto head = read<Head>(bytes, 0);
  if (!fits(head, bytes.size())) return std::nullopt;
  bytes = bytes.first(head.length);
  if (head.checksum != hash_bytes(bytes.subspan(kChecksumStart))) return std::nullopt;

  Record record{{head.epoch}, {head.generation}, head.time_stamp, head.group_id, head.owner, {}};
  record.members.reserve(head.member_count);
  for (std::size_t i = 0; i < head.member_count; ++i) {
    const auto member = read_member(bytes, kHeadBytes + i * kMemberBytes,
                                    kHeadBytes + head.member_count * kMemberBytes + i * kIntervalBytes);
    if (!member) return std::nullopt;
    record.members.push_back(*member);
  }
  return record;
}

}  // namespace fenix_impl
