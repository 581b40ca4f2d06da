// SPDX-License-Identifier: BSD-3-Clause
// The ring of a journal. Whatever is stored in it, the messages that are kept can be found in its memory. There is room as long as they
// are not more than their part of the ring.
#include "messages/journal/ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "support/random_seed.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

constexpr std::size_t kRingUnit = journal_format::kUnit;

/// A ring with memory for it. Payloads repeat the number of the message.
class RingInMemory {
 public:
  explicit RingInMemory(std::size_t capacity) : ring(capacity), memory_(capacity) {}

  /// Returns false if there is no room. last_step: a failure comes after so many steps.
  bool store(const Signature& signature, std::uint32_t depth, std::size_t bytes, int last_step = -1) {
    for (int steps = 0;; ++steps) {
      if (steps == last_step) return false;
      // All that is kept is moved once at most.
      EXPECT_LT(steps, 10000);
      if (steps >= 10000) return false;
      EntryHead head;
      switch (ring.next_step(signature, depth, bytes)) {
        case Ring::Step::place:
          head.bytes = bytes;
          head.signature = signature;
          head.number = ring.next_number();
          head.depth = depth;
          put(head);
          return true;
        case Ring::Step::jump:
          head.kind = EntryKind::jump;
          put(head);
          break;
        case Ring::Step::move:
          ++moves;
          put(ring.oldest().head);
          break;
        case Ring::Step::none:
          return false;
      }
    }
  }

  [[nodiscard]] std::vector<Entry> read_back() const { return read_from(ring.start()); }

  [[nodiscard]] std::vector<Entry> read_from(std::uint64_t start) const {
    return read_chain(
        [this](std::size_t position, std::span<std::byte> to) {
          ASSERT_LE(position + to.size(), memory_.size());
          std::memcpy(to.data(), memory_.data() + position, to.size());
        },
        memory_.size(), start);
  }

  /// The highest position that was written to.
  std::size_t used = 0;
  int moves = 0;
  Ring ring;

 private:
  void put(EntryHead head) {
    const std::size_t position = ring.head();
    const std::size_t size = entry_bytes(head.bytes);
    ASSERT_LE(position + size, memory_.size());
    for (const Entry& kept : ring.messages()) {
      const std::size_t end = kept.position + entry_bytes(kept.head.bytes);
      ASSERT_TRUE(end <= position || position + size <= kept.position) << "an entry that is kept is overwritten";
    }
    head.sequence = ring.next_sequence();
    head.seal = seal_of(head, position);
    std::memcpy(memory_.data() + position, &head, sizeof head);
    std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(position + sizeof head), size - sizeof head,
                static_cast<std::byte>(head.number));
    used = std::max(used, position + size);
    ring.note({head, position});
  }

  std::vector<std::byte> memory_;
};

std::vector<std::uint64_t> numbers_of(const std::vector<Entry>& entries) {
  std::vector<std::uint64_t> numbers;
  for (const Entry& each : entries) numbers.push_back(each.head.number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

TEST(JournalRing, OneSignatureTakesTwoPlaces) {
  constexpr std::size_t kBytes = 1024 - kRingUnit;
  RingInMemory ring(16 * 1024);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(ring.store({1, 2, 3}, 1, kBytes));
  EXPECT_LE(ring.used, 2 * 1024 + kRingUnit);
  EXPECT_EQ(ring.moves, 0);
  EXPECT_EQ(numbers_of(ring.ring.messages({1, 2, 3})), std::vector<std::uint64_t>{1000});
}

TEST(JournalRing, MessagesThatStayAreMovedNowAndThen) {
  RingInMemory ring(16 * 1024);
  ASSERT_TRUE(ring.store({1, 0, 0}, 1, 1000));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(ring.store({1, 0, 1}, 1, 1000));
  EXPECT_EQ(numbers_of(ring.ring.messages()), (std::vector<std::uint64_t>{1, 1001}));
  EXPECT_EQ(numbers_of(Ring(16 * 1024, ring.read_back()).messages()), (std::vector<std::uint64_t>{1, 1001}));
}

TEST(JournalRing, NothingIsMovedWhereTheOldestGoFirst) {
  constexpr std::uint64_t kAtOnce = 500;
  for (const std::uint64_t kept : {0U, 1U, 2U, 5U}) {
    constexpr std::uint32_t kAll = 1U << 31U;
    RingInMemory ring(Ring::bytes_for(1 << 20));
    for (std::uint64_t number = 1; number <= 50 * kAtOnce; ++number) {
      if (number == 20 * kAtOnce) ring.moves = 0;
      ASSERT_TRUE(ring.store({1, 0, 0}, kAll, 8));
      if (number % kAtOnce == 0 && number > kept * kAtOnce) ring.ring.release_until({1, 0, 0}, number - kept * kAtOnce);
    }
    // The newest one of those that go stays.
    EXPECT_LE(ring.moves, kept == 0 ? 30 : 0) << kept;
    EXPECT_LE(ring.used, 5 * (kept + 1) * kAtOnce * 2 * kRingUnit) << kept;
  }
}

TEST(JournalRing, MessagesThatStayKeepTheChainShort) {
  RingInMemory ring(Ring::bytes_for(1 << 20));
  ASSERT_TRUE(ring.store({1, 0, 0}, 1, 8));
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(ring.store({1, 0, 1}, 1, 8));
    ASSERT_LE(ring.ring.chain().size(), 130U);
  }
  EXPECT_LE(ring.used, 17 * 1024U);
  EXPECT_EQ(numbers_of(ring.ring.messages()), (std::vector<std::uint64_t>{1, 20001}));
}

TEST(JournalRing, RefusesMoreThanItsPart) {
  RingInMemory ring(Ring::bytes_for(2048));
  EXPECT_FALSE(ring.store({1, 0, 0}, 1, 2048));
  EXPECT_TRUE(ring.store({1, 0, 0}, 1, 2048 - kRingUnit));
  // It takes the place of the one before.
  EXPECT_TRUE(ring.store({1, 0, 0}, 1, 2048 - kRingUnit));
  EXPECT_FALSE(ring.store({1, 0, 1}, 1, 0));
  EXPECT_FALSE(ring.store({1, 0, 1}, 1, ~std::size_t{0} - 10));
  EXPECT_EQ(numbers_of(ring.ring.messages()), std::vector<std::uint64_t>{2});
}

TEST(JournalRing, KeepsAsManyAsTheDepth) {
  RingInMemory ring(64 * 1024);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ring.store({7, 0, 0}, 3, 8));
  EXPECT_EQ(numbers_of(ring.ring.messages({7, 0, 0})), (std::vector<std::uint64_t>{8, 9, 10}));
}

TEST(JournalRing, KeepsWhatAModelKeeps) {
  std::mt19937 random(random_seed());
  for (int round = 0; round < 300; ++round) {
    const std::size_t most = (1 + random() % 200) * kRingUnit;
    const std::size_t capacity = Ring::bytes_for(most);
    RingInMemory ring(capacity);
    std::map<Signature, std::vector<std::pair<std::uint64_t, std::size_t>>> model;
    std::map<Signature, std::uint32_t> depths;
    const auto signatures = 1 + random() % 12;
    for (int i = 0; i < 200; ++i) {
      const Signature signature{1, 0, static_cast<std::int32_t>(random() % signatures)};
      const std::uint32_t depth = depths.try_emplace(signature, 1 + random() % 3).first->second;
      const std::size_t bytes = random() % 4 == 0 ? random() % (most + 1) : random() % (most / 8 + 1);
      std::size_t kept = 0;
      for (const auto& [key, messages] : model) {
        for (const auto& message : messages) kept += entry_bytes(message.second);
      }
      const std::uint64_t number = ring.ring.next_number();
      auto& messages = model[signature];
      if (messages.size() == depth) kept -= entry_bytes(messages.front().second);
      const bool fits = kept + entry_bytes(bytes) <= most;
      // Failures cut some of them short: the owner goes on with another message, or another process does.
      if (random() % 4 == 0) {
        const int steps = static_cast<int>(random() % 3);
        const bool is_stored = ring.store(signature, depth, bytes, steps);
        ASSERT_TRUE(fits || !is_stored);
        if (random() % 2 == 0)
          ring.ring.take_back_jump();
        else
          ring.ring = Ring(capacity, ring.read_back());
        if (is_stored) {
          messages.emplace_back(number, bytes);
          if (messages.size() > depth) messages.erase(messages.begin());
        }
        continue;
      }
      ASSERT_EQ(ring.store(signature, depth, bytes), fits) << "round " << round << " message " << i;
      if (!fits) continue;
      messages.emplace_back(number, bytes);
      if (messages.size() > depth) messages.erase(messages.begin());
    }
    std::vector<std::uint64_t> expected;
    for (const auto& [key, messages] : model) {
      for (const auto& message : messages) expected.push_back(message.first);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(numbers_of(ring.ring.messages()), expected);
    const Ring again(capacity, ring.read_back());
    EXPECT_EQ(numbers_of(again.messages()), expected);
    EXPECT_EQ(again.head(), ring.ring.head());
    EXPECT_EQ(again.next_sequence(), ring.ring.next_sequence());
    EXPECT_EQ(again.next_number(), ring.ring.next_number());
  }
}

TEST(JournalRing, AReaderFollowsIt) {
  std::mt19937 random(random_seed());
  int followed = 0;
  int anew = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t most = (1 + random() % 200) * kRingUnit;
    RingInMemory ring(Ring::bytes_for(most));
    Ring reader(ring.ring.capacity());
    for (int i = 0; i < 300; ++i) {
      const Signature signature{1, 0, static_cast<std::int32_t>(random() % 5)};
      const int last_step = random() % 16 == 0 ? static_cast<int>(random() % 2) : -1;
      (void)ring.store(signature, 1 + static_cast<std::uint32_t>(signature.tag), random() % (most / 8 + 1), last_step);
      if (last_step >= 0) ring.ring.take_back_jump();
      if (random() % 32 == 0) ring.ring.release_until(signature, ring.ring.next_number() - 1);
      if (random() % 20 != 0) continue;
      // Both begin where the owner has published that its chain begins.
      const std::uint64_t start = ring.ring.start();
      if (reader.forget_before(start)) {
        ++followed;
        for (const Entry& each : ring.read_from(reader.rest())) reader.note(each);
        reader.take_back_jump();
      } else {
        ++anew;
        reader = Ring(ring.ring.capacity(), ring.read_from(start));
      }
      // A reader knows nothing of a release: messages that were let go of may seem to be there, as long as the chain has them.
      const auto known = numbers_of(reader.messages());
      const auto kept = numbers_of(ring.ring.messages());
      const auto in_chain = numbers_of(ring.read_back());
      ASSERT_TRUE(std::includes(known.begin(), known.end(), kept.begin(), kept.end()));
      ASSERT_TRUE(std::includes(in_chain.begin(), in_chain.end(), known.begin(), known.end()));
      for (const Entry& each : reader.messages()) {
        const auto there = ring.read_from(chain_start(each.position, each.head.sequence));
        ASSERT_FALSE(there.empty());
        ASSERT_EQ(there.front().head, each.head);
      }
    }
  }
  EXPECT_GT(followed, 100);
  EXPECT_GT(anew, 100);
}

TEST(JournalRing, GoesOnFromWhatItHasReadBack) {
  std::mt19937 random(random_seed());
  RingInMemory ring(50 * kRingUnit);
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(ring.store({1, 0, static_cast<std::int32_t>(random() % 3)}, 1, random() % 60)) << i;
    ring.ring = Ring(ring.ring.capacity(), ring.read_back());
  }
}

TEST(JournalRing, TheOldestGoInTheirOrderAlsoBehindOneThatStays) {
  constexpr std::uint32_t kAll = 1U << 30U;
  RingInMemory ring(500 * kRingUnit);
  ASSERT_TRUE(ring.store({1, 0, 0}, 1, 10));
  std::vector<std::uint64_t> in_order;
  std::size_t gone = 0;
  for (int i = 0; i < 2000; ++i) {
    in_order.push_back(ring.ring.next_number());
    while (!ring.store({1, 0, 1 + i % 3}, kAll, 10 + i % 100)) {
      const Entry* const next = ring.ring.find_oldest(kAll);
      ASSERT_NE(next, nullptr);
      EXPECT_EQ(next->head.number, in_order[gone]);
      EXPECT_EQ(ring.ring.release_oldest(kAll)->head.number, in_order[gone++]);
    }
  }
  EXPECT_GT(gone, 1900U);
  while (ring.ring.release_oldest(kAll)) ++gone;
  EXPECT_EQ(gone, in_order.size());
  EXPECT_EQ(ring.ring.find_oldest(kAll), nullptr);
  EXPECT_EQ(ring.read_back().front().head.signature, (Signature{1, 0, 0}));
}

TEST(JournalRing, ItsOldestMessagesAreThoseThatTakeUpAPart) {
  RingInMemory ring(64 << 10);
  constexpr std::uint32_t kAll = 1000;
  const Signature one{1, 2, 3};
  const Signature other{1, 2, 4};
  // Behind it, released messages stay in the chain.
  ASSERT_TRUE(ring.store({1, 2, 5}, kAll, 100));
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(ring.store(one, kAll, 100));
    ASSERT_TRUE(ring.store(other, 1, 100));
  }
  ring.ring.release_until(one, 4);
  const auto numbers = [&](std::size_t bytes) {
    std::vector<std::uint64_t> found;
    for (const Entry& each : ring.ring.oldest_messages(kAll, bytes)) found.push_back(each.head.number);
    return found;
  };
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(numbers(0), (Numbers{1}));
  EXPECT_EQ(numbers(entry_bytes(100)), (Numbers{1, 6}));
  EXPECT_EQ(numbers(2 * entry_bytes(100) - 1), (Numbers{1, 6}));
  EXPECT_EQ(numbers(std::size_t{64} << 10), (Numbers{1, 6, 8, 10, 12}));
}

TEST(JournalRing, AnEntryWithoutItsSealEndsTheChain) {
  constexpr std::size_t kCapacity = 1024;
  std::vector<std::byte> memory(kCapacity);
  Ring ring(kCapacity);
  for (int i = 0; i < 3; ++i) {
    EntryHead head;
    head.sequence = ring.next_sequence();
    head.number = ring.next_number();
    head.signature.tag = i;
    head.seal = seal_of(head, ring.head());
    std::memcpy(memory.data() + ring.head(), &head, sizeof head);
    ring.note({head, ring.head()});
  }
  const ReadRing read = [&](std::size_t position, std::span<std::byte> to) {
    std::memcpy(to.data(), memory.data() + position, to.size());
  };
  EXPECT_EQ(read_chain(read, kCapacity, ring.start()).size(), 3U);
  for (std::size_t byte = 0; byte < sizeof(EntryHead); ++byte) {
    const std::size_t place = sizeof(EntryHead) + byte;
    memory[place] ^= std::byte{1};
    EXPECT_EQ(read_chain(read, kCapacity, ring.start()).size(), 1U) << "byte " << byte;
    memory[place] ^= std::byte{1};
  }
}

}  // namespace
}  // namespace fenix_test
