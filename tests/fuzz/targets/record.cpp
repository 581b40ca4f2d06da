// SPDX-License-Identifier: BSD-3-Clause
// A record: from the log of a peer, or an announcement. A record that can be read is sound, can be written again, and is
// safe to act on.
#include "core/log/record.hpp"

#include "base/simd/slot_hashes.hpp"
#include "core/protection/mending.hpp"
#include "fuzz/support.hpp"

using namespace fenix_impl;

namespace {

constexpr std::size_t kMostBytes = 4096;  // of a place that a record is read from

// Checks and mends a slot that is just as large as the record says.
void use_slot(const MemberVersion& version) {
  constexpr std::uint64_t kMost = 3 * kHashBlock;
  if (version.bytes() > kMost) return;
  fuzz::Bytes data(version.bytes());
  std::vector<std::uint64_t> table(hash_blocks(data.size()));
  const SlotView slot{data, table};
  (void)verify(slot, version.found, version.element_bytes, version.hash);
  const Reader zeros = [](std::uint64_t, std::span<std::byte> part) {
    std::fill(part.begin(), part.end(), std::byte{});
  };
  const bool mended = mend_slot(slot, version, [&](const auto& attempt) { return attempt(zeros); });
  fuzz::require(!mended || verify(slot, version.found, version.element_bytes, version.hash),
                "what was mended is right");
}

void check(std::span<const std::byte> given) {
  // In memory of just that size: the sanitizer sees what reads beyond.
  const fuzz::Bytes bytes(given.begin(), given.end());
  if (bytes.size() >= record_format::kHeadBytes) {
    const auto length = length_in_head(bytes, kMostBytes);
    fuzz::require(!length || (*length >= record_format::kHeadBytes && *length <= kMostBytes), "length_in_head");
  }
  const auto record = decode(bytes);
  if (!record) return;
  fuzz::require(record_bytes(*record) <= bytes.size(), "a record lies in its bytes");
  for (const MemberVersion& version : record->members) {
    fuzz::require(version.element_bytes == 0 || version.bytes() / version.element_bytes == version.found.end(),
                  "no size overflows");
    use_slot(version);
  }
  fuzz::Bytes written(record_bytes(*record));
  fuzz::require(encode(*record, written) == written.size(), "the length of what is written");
  const std::uint64_t seal = record_seal(record->epoch);
  std::memcpy(written.data(), &seal, sizeof seal);
  fuzz::require(decode(written) == record, "what was read and written is read again");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes);
  check(fuzz::sealed_record(bytes));
  return 0;
}
