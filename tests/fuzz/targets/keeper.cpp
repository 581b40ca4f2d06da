// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks and the keeper of a node, as another process of the user may send them, and the text that asks a job to end. One
// that can be read is written again with the same bytes.
#include "keeper/message.hpp"

#include "base/simd/slot_hashes.hpp"
#include "fuzz/support.hpp"
#include "keeper/offer.hpp"
#include "store/halt.hpp"

using namespace fenix_impl;

namespace {

template <class Body>
void check_body(std::span<const std::byte> bytes) {
  const auto body = decode_body<Body>(bytes);
  if (body) fuzz::require(std::ranges::equal(encode_body(*body), bytes), "a body is written as it was read");
}

void check_bodies(std::span<const std::byte> bytes) {
  check_body<Hello>(bytes);
  check_body<Search>(bytes);
  check_body<Abandoned>(bytes);
  check_body<KeptSearch>(bytes);
  check_body<Reading>(bytes);
  check_body<std::vector<Listed>>(bytes);
}

void check_offer(std::span<const std::byte> bytes) {
  const auto offer = decode_offer(bytes);
  if (!offer) return;
  fuzz::require(decode_offer(encode(*offer)) == offer, "an offer is written as it was read");
  for (const MemberOffer& member : offer->members) {
    fuzz::require(member.hashes.size() == hash_blocks(member.bytes()), "each block of an offer has a hash");
  }
}

void check_halt(std::span<const std::byte> bytes) {
  const auto conditions = parse_halt({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (conditions)
    fuzz::require(parse_halt(text_of(*conditions)) == conditions, "conditions are written as they were read");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // In memory of just that size: the sanitizer sees what reads beyond.
  const auto given = std::as_bytes(std::span(data, size));
  const fuzz::Bytes bytes(given.begin(), given.end());
  const auto message = decode_message(bytes);
  if (message) {
    fuzz::require(std::ranges::equal(encode(*message), bytes), "a message is written as it was read");
    check_bodies(message->body);
  }
  check_bodies(bytes);
  check_offer(bytes);
  check_halt(bytes);
  return 0;
}
