// SPDX-License-Identifier: BSD-3-Clause
// Simulated ranks with one member, of which they store parts; models say what each has to get back.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/group_data.hpp"

namespace fenix_test {

inline constexpr int kMember = 7;
inline constexpr std::uint32_t kUntouched = 0xabababab;
inline constexpr auto kKeepAll = fenix_impl::GroupParameters::kKeepAll;

/// The elements of one rank that somebody has stored.
struct Elements {
  fenix_impl::IntervalSet there;
  Words words;  ///< by number, those that are there

  /// An element that is there from now on.
  std::uint32_t& operator[](std::uint64_t i) {
    if (words.size() <= i) words.resize(i + 1);
    there = there | fenix_impl::IntervalSet(i, i + 1);
    return words[i];
  }
  void clear() { *this = {}; }
};

inline fenix_impl::Member& member_of(Rank& rank) { return *rank.group->find(kMember); }

inline void create(Rank& rank, std::uint64_t count, std::size_t buffer_size) {
  Words& buffer = rank.buffers[kMember];
  buffer.resize(buffer_size);
  rank.group->definition().create_member(words(kMember), buffer.data(), count, [] {});
}

/// Gives the elements new values in the buffer, and notes them.
inline void change(Rank& rank, Elements& model, const fenix_impl::IntervalSet& elements, std::uint32_t seed) {
  Words& buffer = rank.buffers[kMember];
  ASSERT_LE(elements.end(), buffer.size());
  if (model.words.size() < elements.end()) model.words.resize(elements.end());
  std::uint32_t* const in_buffer = buffer.data();
  std::uint32_t* const in_model = model.words.data();
  for (const auto& each : elements.intervals()) {
    for (std::uint64_t i = each.first; i < each.end; ++i) {
      in_buffer[i] = in_model[i] = seed * 2654435761U + static_cast<std::uint32_t>(i) * 40503U + 1;
    }
  }
  model.there = model.there | elements;
}

inline void expect_elements(Rank& rank, const Elements& model, const fenix_impl::SnapshotChoice& choice,
                            std::uint64_t size, const char* what) {
  Words target(rank.buffers[kMember].size() + 8, kUntouched);
  const fenix_impl::Found found =
      rank.group->restore(kMember, choice, {target.data(), target.size(), false, size}, [] {});
  const fenix_impl::IntervalSet expected = model.there.within(0, size);
  ASSERT_EQ(found.elements.intervals().size(), expected.intervals().size()) << what << ", rank " << rank.number;
  ASSERT_TRUE(found.elements == expected) << what << ", rank " << rank.number << ", other elements";
  Words wanted(target.size(), kUntouched);
  for (const auto& each : expected.intervals()) {
    std::copy_n(model.words.data() + each.first, each.count(), wanted.data() + each.first);
  }
  // Quickly first: tests compare many elements.
  if (std::memcmp(target.data(), wanted.data(), target.size() * sizeof target[0]) != 0) {
    for (std::uint64_t i = 0; i < target.size(); ++i) {
      ASSERT_EQ(target[i], wanted[i]) << what << ", rank " << rank.number << ", element " << i;
    }
  }
  EXPECT_EQ(found.partial, expected.count() < size) << what;
}

inline fenix_impl::SnapshotChoice at(int stamp) { return {fenix_impl::SnapshotChoice::Kind::at, stamp}; }
inline constexpr fenix_impl::SnapshotChoice kLatest{fenix_impl::SnapshotChoice::Kind::latest, 0};
inline constexpr fenix_impl::SnapshotChoice kAll{fenix_impl::SnapshotChoice::Kind::all, 0};

/// A job with one member of count elements on each rank; its ranks' models.
class PartialJob : public Job {
 public:
  PartialJob(int size, int depth, std::uint64_t count, std::size_t buffer_size = 0, fenix_impl::Policy policy = {},
             int in_place = 0)
      : Job(size),
        models(static_cast<std::size_t>(size)),
        parameters_{5, 0, depth, policy},
        buffer_size_(std::max<std::size_t>(count, buffer_size)) {
    parameters_.in_place = in_place;
    form();
    expect_done(run([&](Rank& rank) { create(rank, count, buffer_size_); }));
  }

  void form(bool expect_lost = false) {
    expect_done(run([&](Rank& rank) {
      EXPECT_EQ(join(rank, parameters_).snapshots_lost, expect_lost);
      if (fenix_impl::Member* member = rank.group->find(kMember)) {
        Words& buffer = rank.buffers[kMember];
        buffer.resize(buffer_size_);
        member->set_buffer(buffer.data());
      }
    }));
  }

  Elements& model(const Rank& rank) { return models[static_cast<std::size_t>(rank.number)]; }

  std::vector<Elements> models;

 private:
  fenix_impl::GroupParameters parameters_;
  std::size_t buffer_size_;
};

}  // namespace fenix_test
