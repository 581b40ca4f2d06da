// SPDX-License-Identifier: BSD-3-Clause
// Anything in any order: what each rank gets back is what a simple model says.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "support/encoded.hpp"
#include "support/partial_job.hpp"
#include "support/stride.hpp"

namespace fenix_test {
namespace {

using fenix_impl::IntervalSet;
using fenix_impl::Member;
using fenix_impl::Policy;
using fenix_impl::Selection;

/// Random work of all ranks, in step, with deaths between and within it, against the models.
class RandomWork {
 public:
  RandomWork(unsigned seed, int size, int depth, bool resizeable, const Policy& policy = {}, int deaths = 1)
      : random_(seed),
        resizeable_(resizeable),
        deaths_(deaths),
        job_(size, depth, resizeable ? FENIX_RESIZEABLE : kMost, kMost, policy),
        seed_(seed),
        committed_(static_cast<std::size_t>(size)),
        sizes_(committed_.size()) {}

  void run(int rounds) {
    for (int round = 0; round < rounds && !testing::Test::HasFatalFailure(); ++round) {
      const auto what = random_() % 16;
      if (what < 9) {
        store_and_commit(round);
      } else if (what < 11 && !stamps_.empty()) {
        erase_one();
      } else if (what < 13) {
        kill_some();
      } else {
        check();
      }
    }
    check();
  }

 private:
  static constexpr std::uint64_t kMost = 3000;

  IntervalSet some_elements(std::mt19937& random) {
    std::vector<fenix_impl::Interval> parts;
    for (unsigned i = 0; i <= random() % 4; ++i) {
      const std::uint64_t first = random() % kMost;
      parts.push_back({first, std::min<std::uint64_t>(kMost, first + 1 + random() % 700)});
    }
    return IntervalSet::of(parts);
  }

  void store_and_commit(int round) {
    const unsigned seed = static_cast<unsigned>(random_());
    const bool staged = random_() % 3 == 0;
    const bool asynchronous = random_() % 3 == 0;
    // A snapshot without any store before has no version of the member.
    const auto parts = static_cast<unsigned>(random_() % 3 + (stamps_.empty() ? 1 : 0));
    expect_done(job_.run([&](Rank& rank) {
      std::mt19937 random(seed + static_cast<unsigned>(rank.number));
      Elements& model = job_.model(rank);
      std::uint64_t& size = sizes_[static_cast<std::size_t>(rank.number)];
      if (parts > 0) size = 0;
      for (unsigned part = 0; part < parts; ++part) {
        const IntervalSet elements = some_elements(random);
        change(rank, model, elements, seed + part + static_cast<unsigned>(round));
        size = std::max(size, elements.end());
        if (staged) rank.group->staging().stage(member_of(rank), Selection::some(elements));
        const Selection selection = staged ? Selection::staged() : Selection::some(elements);
        Member* const member = &member_of(rank);
        if (asynchronous) {
          const auto request = rank.group->stores().store_asynchronously(std::span(&member, 1), selection, 1);
          rank.group->requests().wait_for(*request);
        } else {
          rank.group->stores().store(std::span(&member, 1), selection);
        }
      }
      const int stamp = rank.group->commit();
      rank.group->wait_for_commit_on_all();
      committed_[static_cast<std::size_t>(rank.number)][stamp] = {model, resizeable_ ? size : kMost};
    }));
    stamps_ = job_.rank(0).group->snapshots().on_all();
  }

  void erase_one() {
    const int stamp = stamps_[random_() % stamps_.size()];
    const bool everywhere = random_() % 2 == 0;
    expect_done(job_.run([&](Rank& rank) {
      if (everywhere || rank.number == 1) rank.group->delete_snapshot(at(stamp));
      const bool exists = everywhere || rank.group->make_consistent();
      EXPECT_TRUE(exists);
    }));
    stamps_ = job_.rank(0).group->snapshots().on_all();
    back_to_latest();
  }

  void kill_some() {
    for (int death = 0; death < deaths_; ++death) {
      const int dying = static_cast<int>(random_() % static_cast<unsigned>(job_.size()));
      if (job_.rank(dying).alive) job_.kill(dying);
    }
    job_.repair();
    job_.form();
    EXPECT_EQ(job_.rank(0).group->snapshots().on_all(), stamps_) << "seed " << seed_;
    back_to_latest();
  }

  // Goes back to the latest snapshot that is left: uncommitted elements are gone.
  void back_to_latest() {
    for (Rank& rank : job_.ranks()) {
      auto& of_rank = committed_[static_cast<std::size_t>(rank.number)];
      const bool any = !stamps_.empty();
      job_.model(rank) = any ? of_rank.at(stamps_[0]).first : Elements{};
      sizes_[static_cast<std::size_t>(rank.number)] = any ? of_rank.at(stamps_[0]).second : 0;
    }
  }

  void check() {
    expect_done(job_.run([&](Rank& rank) {
      EXPECT_EQ(rank.group->snapshots().on_all(), stamps_) << "seed " << seed_;
      for (const int stamp : stamps_) {
        const auto& [model, size] = committed_[static_cast<std::size_t>(rank.number)].at(stamp);
        expect_elements(rank, model, at(stamp), size, ("seed " + std::to_string(seed_)).c_str());
      }
    }));
  }

  std::mt19937 random_;
  bool resizeable_;
  int deaths_;  // at a time
  PartialJob job_;
  unsigned seed_;
  std::vector<std::map<int, std::pair<Elements, std::uint64_t>>> committed_;
  std::vector<std::uint64_t> sizes_;
  std::vector<int> stamps_;
};

unsigned first_seed() {
  const char* given = std::getenv("FENIX_TEST_SEED");
  return given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}() % 1'000'000;
}

TEST(RandomWork, GivesBackWhatTheModelSays) {
  const unsigned base = first_seed();
  for (unsigned i = 0; i < 24 && !testing::Test::HasFailure(); ++i) {
    const int depth = std::array{0, 1, 3, kKeepAll}[i % 4];
    const int size = 2 + static_cast<int>(i / 4 % 3);
    SCOPED_TRACE(testing::Message() << "seed " << base + i << ", depth " << depth << ", " << size << " ranks");
    RandomWork(base + i, size, depth, i % 2 == 1).run(40 / stride(1, 2));
  }
}

TEST(RandomWork, GivesBackWhatTheModelSaysWithParity) {
  const Encoded all[] = {{4, parity(4)},          {5, parity(2)},          {3, parity(3)},
                         {5, reed_solomon(5, 2)}, {4, reed_solomon(4, 2)}, {2, reed_solomon(2, 1)}};
  const unsigned base = first_seed();
  for (unsigned i = 0; i < 24 && !testing::Test::HasFailure(); ++i) {
    const int depth = std::array{0, 1, 3, kKeepAll}[i % 4];
    const Encoded& encoded = all[(i + i / 12) % std::size(all)];
    SCOPED_TRACE(testing::Message() << "seed " << base + i << ", depth " << depth << ", " << encoded);
    RandomWork(base + i, encoded.size, depth, i / 2 % 2 == 1, encoded.policy, encoded.policy.losses)
        .run(40 / stride(1, 2));
  }
}

}  // namespace
}  // namespace fenix_test
