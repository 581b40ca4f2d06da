// SPDX-License-Identifier: BSD-3-Clause
// What simulated ranks store in a group: contents that tell whose they are, of which member and of which snapshot.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "support/simulated_job.hpp"

namespace fenix_test {

using Words = std::vector<std::uint32_t>;

// Members: one of some bytes, one that rank 1 has nothing of, one of some pages.
constexpr int kSmall = 7;
constexpr int kUneven = 3;
constexpr int kLarge = 12;

inline std::size_t count_of(int rank, int member) {
  const auto number = static_cast<std::size_t>(rank);
  if (member == kUneven) return number == 1 ? 0 : 3 + 2 * number;
  return member == kLarge ? 2500 + 600 * number : 20 + 7 * number;
}

/// The first word is the attempt: which of several stores under the same time stamp it was.
inline Words contents(int rank, int member, int stamp, std::uint32_t attempt = 0) {
  Words words(count_of(rank, member));
  std::uint32_t word = static_cast<std::uint32_t>(rank * 1009 + member * 101 + stamp) * 2654435761U ^ attempt;
  for (auto& each : words) each = word = word * 1664525U + 1013904223U;
  if (!words.empty()) words[0] = attempt;
  return words;
}

inline fenix_impl::RejoinResult join(Rank& rank, const fenix_impl::GroupParameters& parameters) {
  fenix_impl::Generation highest;
  return fenix_impl::rejoin(rank.group, {parameters, [] {}, rank.team, [&] { return rank.path; }, {}, highest});
}

/// Whether a rank knows how much it has of a member, and how much each rank has that it works with. origins: by rank.
inline void expect_counts(const Rank& rank, int member, std::span<const int> origins) {
  const auto* known = rank.group->find(member);
  ASSERT_NE(known, nullptr);
  auto ranks = rank.group->ranks().placement.witnesses(rank.number);
  ranks.push_back(rank.number);
  for (const int each : ranks) {
    const auto count = known->memory.counts().find(each);
    ASSERT_NE(count, known->memory.counts().end()) << "rank " << rank.number << " does not know that of rank " << each;
    EXPECT_EQ(count->second, count_of(origins[static_cast<std::size_t>(each)], member)) << "of rank " << each;
  }
}

/// A member whose elements are words.
inline fenix_impl::MemberInfo words(int member) {
  return {member, false, {}, std::make_shared<const fenix_impl::ElementType>(fenix_impl::ElementType::plain(4))};
}

/// Creates the member with a buffer of the library, or gets that.
inline void allocate(Rank& rank, int member, std::size_t count) {
  fenix_impl::MemberInfo info = words(member);
  info.allocated = true;
  auto* known = rank.group->find(member);
  if (known == nullptr) known = &rank.group->definition().create_member(info, nullptr, count, [] {});
  known->claim(known->allocated.data());
}

/// The source buffer of a member; empty if there is none.
inline std::span<std::uint32_t> source_buffer(Rank& rank, int member) {
  auto* known = rank.group ? rank.group->find(member) : nullptr;
  if (known != nullptr && known->allocated.is_there()) {
    return {reinterpret_cast<std::uint32_t*>(known->allocated.data()), count_of(rank.origin, member)};
  }
  const auto found = rank.buffers.find(member);
  return found == rank.buffers.end() ? std::span<std::uint32_t>() : std::span(found->second);
}

/// Creates the member, or sets its buffer if the group has it already.
inline void provide(Rank& rank, int member) {
  if (rank.allocates) return allocate(rank, member, count_of(rank.origin, member));
  Words& buffer = rank.buffers[member];
  buffer.resize(count_of(rank.origin, member));
  if (auto* known = rank.group->find(member)) {
    known->set_buffer(buffer.data());
  } else {
    rank.group->definition().create_member(words(member), buffer.data(), buffer.size(), [] {});
  }
}

inline void store_elements(Rank& rank, int member, const fenix_impl::Selection& selection) {
  fenix_impl::Member* const found = rank.group->find(member);
  rank.group->stores().store(std::span(&found, 1), selection);
}

/// Stores, and leaves the buffer as a commit in place needs it.
inline void store_until_commit(Rank& rank, int member, int stamp, std::uint32_t attempt = 0) {
  const auto buffer = source_buffer(rank, member);
  const auto data = contents(rank.origin, member, stamp, attempt);
  // In place: the group has the buffer's address.
  std::copy(data.begin(), data.end(), buffer.begin());
  store_elements(rank, member, fenix_impl::Selection::all());
}

inline void store(Rank& rank, int member, int stamp, std::uint32_t attempt = 0) {
  store_until_commit(rank, member, stamp, attempt);
  // The buffer may be changed as soon as a store has returned.
  const auto buffer = source_buffer(rank, member);
  std::fill(buffer.begin(), buffer.end(), 0xdeadbeefU);
}

inline void commit_barrier(Rank& rank) {
  rank.group->commit();
  rank.group->wait_for_commit_on_all();
}

inline fenix_impl::SnapshotChoice snapshot(std::optional<int> stamp) {
  using Choice = fenix_impl::SnapshotChoice;
  return stamp ? Choice{Choice::Kind::at, *stamp} : Choice{};
}

inline Words restore(Rank& rank, int member, std::optional<int> stamp = std::nullopt) {
  Words target(count_of(rank.origin, member));
  (void)rank.group->restore(member, snapshot(stamp), {target.data(), target.size()}, [] {});
  return target;
}

inline void expect_all(const std::vector<Outcome>& outcomes, Ending ending) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    EXPECT_EQ(outcomes[rank].ending, ending) << "rank " << rank << ": " << outcomes[rank];
  }
}

inline void expect_done(const std::vector<Outcome>& outcomes) { expect_all(outcomes, Ending::done); }

/// All ranks got the same error.
inline void expect_error(const std::vector<Outcome>& outcomes, Fenix_Return_codes code) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    EXPECT_EQ(outcomes[rank].ending, Ending::error) << "rank " << rank << ": " << outcomes[rank];
    EXPECT_EQ(outcomes[rank].code, code) << "rank " << rank << ": " << outcomes[rank];
  }
}

}  // namespace fenix_test
