// SPDX-License-Identifier: BSD-3-Clause
// Ranks that die at every step of storing, committing and rejoining: what the policy covers comes back, on all ranks the
// same, byte for byte; what it does not cover is an error on all ranks.
//
// By default some of all steps are tried, others in each combination; FENIX_TEST_ALL_STEPS=1 tries all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>

#include "parity/pairing.hpp"
#include "support/group_data.hpp"

namespace fenix_test {
namespace {

using fenix_impl::GroupParameters;
using fenix_impl::Pairing;
using fenix_impl::Policy;

constexpr int kNone = -1;

bool all_steps() { return std::getenv("FENIX_TEST_ALL_STEPS") != nullptr; }

// kUneven is stored under even time stamps only.
constexpr int kMembers[] = {kSmall, kUneven};
int stored_under(int member, int stamp) { return member == kUneven ? stamp - stamp % 2 : stamp; }

// An application that stores and commits; what it had back after each repair is checked for consistency.
class Application {
 public:
  Application(int size, int depth)
      : job(size), parameters_{5, 0, depth, {}}, pairing_({}, size), places_(static_cast<std::size_t>(size)) {}

  // A phase: all form the group, restore what there is, and go on until the time stamp last has been committed.
  // Returns whether it came to its end on all ranks.
  bool play(int last) {
    ++attempt_;
    for (Place& place : places_) {
      // Beyond what the policy covers nothing has to come back.
      if (!covered()) place.committed = kNone;
      place.restored.reset();
    }
    const int least = least_committed();
    const auto outcomes = job.run([&](Rank& rank) { play(rank, last); });
    bool complete = true;
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
      const Ending ending = outcomes[rank].ending;
      EXPECT_TRUE(ending == Ending::done || ending == Ending::failure_seen || ending == Ending::died)
          << "rank " << rank << ": " << outcomes[rank];
      complete = complete && ending == Ending::done;
    }
    check_restored(least);
    return complete;
  }

  // True if for every rank there is somebody alive who has its data.
  bool covered() {
    const auto whole = [&](int rank) { return job.rank(rank).group && job.rank(rank).group->whole(); };
    for (int rank = 0; rank < job.size(); ++rank) {
      if (!whole(rank) && !whole(pairing_.holder_of(rank))) return false;
    }
    return true;
  }

  Job job;

 private:
  struct Restored {
    int stamp = kNone;
    std::map<int, std::uint32_t> attempts;  // by member; none for a member of which this rank has no elements
  };

  // What the application at one place of the team knows; outlives the processes there.
  struct Place {
    int committed = kNone;
    std::optional<Restored> restored;
  };

  Place& place(const Rank& rank) { return places_[static_cast<std::size_t>(rank.number)]; }

  int least_committed() const {
    const auto least = std::min_element(places_.begin(), places_.end(),
                                        [](const Place& a, const Place& b) { return a.committed < b.committed; });
    return least->committed;
  }

  void play(Rank& rank, int last) {
    join(rank, parameters_);
    for (const int member : kMembers) provide(rank, member);
    place(rank).restored = restore_all(rank);
    const int newest = place(rank).restored->stamp;
    place(rank).committed = newest;
    for (int stamp = newest + 1; stamp <= last; ++stamp) {
      for (const int member : kMembers) {
        if (stored_under(member, stamp) == stamp) store(rank, member, stamp, attempt_);
      }
      EXPECT_EQ(rank.group->commit(), stamp);
      place(rank).committed = stamp;
      if (stamp % 2 != 0) rank.group->wait_for_commit_on_all();
    }
    rank.team->barrier();
  }

  // Restores all members from all snapshots; returns what it found in the newest.
  Restored restore_all(Rank& rank) const {
    Restored newest;
    const auto stamps = rank.group->snapshots();
    if (stamps.empty()) return newest;
    EXPECT_EQ(static_cast<int>(stamps.size()), std::min(stamps[0], parameters_.depth) + 1);
    for (const int stamp : stamps) {
      for (const int member : kMembers) {
        const Words data = restore(rank, member, stamp);
        const std::uint32_t attempt = data.empty() ? 0 : data[0];
        if (stamp == stamps[0] && !data.empty()) newest.attempts[member] = attempt;
        EXPECT_EQ(data, contents(rank.number, member, stored_under(member, stamp), attempt))
            << "rank " << rank.number << " member " << member << " time stamp " << stamp;
      }
    }
    newest.stamp = stamps[0];
    return newest;
  }

  void check_restored(int least) {
    std::optional<Restored> common;
    for (std::size_t rank = 0; rank < places_.size(); ++rank) {
      if (!places_[rank].restored) continue;
      const Restored& restored = *places_[rank].restored;
      EXPECT_GE(restored.stamp, least) << "rank " << rank << ": what was committed on all ranks is gone";
      if (!common) common = restored;
      EXPECT_EQ(restored.stamp, common->stamp) << "rank " << rank;
      for (const auto& [member, attempt] : restored.attempts) {
        const std::uint32_t other = common->attempts.emplace(member, attempt).first->second;
        EXPECT_EQ(attempt, other) << "rank " << rank << ": a mixture of snapshots";
      }
    }
    // Commits beyond the snapshot that all went back to are undone, also where a rank did not get so far as to know.
    for (Place& place : places_) {
      if (common && !place.restored) place.committed = std::min(place.committed, common->stamp);
    }
  }

  GroupParameters parameters_;
  Pairing pairing_;
  std::vector<Place> places_;
  std::uint32_t attempt_ = 0;
};

// Different ranks see a death late, for different numbers.
unsigned some_unlucky(int number) { return static_cast<unsigned>(number) * 2654435761U >> 26; }

// Runs scenario(steps) for the numbers of steps after which a rank can die, until it lives through the phase.
template <class Scenario>
void for_steps(int first, Scenario scenario) {
  constexpr int kStride = 11;
  for (int steps = all_steps() ? 0 : first % kStride;; steps += all_steps() ? 1 : kStride) {
    SCOPED_TRACE(testing::Message() << "after " << steps << " steps");
    if (!scenario(steps) || testing::Test::HasFailure()) return;
  }
}

TEST(AnyStep, OfStoringAndCommitting) {
  for (int size = 2; size <= 5; ++size) {
    for (int dying = 0; dying < size; ++dying) {
      SCOPED_TRACE(testing::Message() << size << " ranks, " << dying << " dies");
      for_steps(size + dying, [&](int steps) {
        Application application(size, steps % 3);
        EXPECT_TRUE(application.play(2));
        application.job.doom(dying, steps, some_unlucky(steps));
        const bool lives = application.play(6);
        application.job.repair();
        EXPECT_TRUE(application.covered());
        EXPECT_TRUE(application.play(7));
        return !lives;
      });
    }
  }
}

TEST(AnyStep, OfCreatingTheGroup) {
  for (int size = 2; size <= 4; ++size) {
    for (int dying = 0; dying < size; ++dying) {
      SCOPED_TRACE(testing::Message() << size << " ranks, " << dying << " dies");
      for_steps(size + dying, [&](int steps) {
        Application application(size, 1);
        application.job.doom(dying, steps, some_unlucky(steps));
        const bool lives = application.play(0);
        application.job.repair();
        EXPECT_TRUE(application.play(3));
        return !lives;
      });
    }
  }
}

// A rank dies at any step of a change of policy: afterwards all ranks have the same one, the old or the new, and it works.
TEST(AnyStep, OfChangingThePolicy) {
  constexpr int kSize = 4;
  const GroupParameters parameters{5, 0, 0, {Policy::Kind::buddies, 2}};
  for (int dying = 0; dying < kSize; ++dying) {
    SCOPED_TRACE(testing::Message() << dying << " dies");
    for_steps(dying, [&](int steps) {
      Job job(kSize);
      expect_done(job.run([&](Rank& rank) {
        join(rank, parameters);
        provide(rank, kSmall);
        rank.team->barrier();
      }));
      job.doom(dying, steps, some_unlucky(steps));
      const auto outcomes = job.run([](Rank& rank) {
        rank.group->set_policy({Policy::Kind::ring, 1}, [] {});
        rank.team->barrier();
      });
      job.repair();
      expect_done(job.run([&](Rank& rank) {
        join(rank, parameters);
        provide(rank, kSmall);
        store(rank, kSmall, 0);
        commit_barrier(rank);
        rank.team->barrier();
      }));
      for (const Rank& rank : job.ranks()) {
        EXPECT_EQ(rank.group->parameters().policy, job.rank(0).group->parameters().policy) << "rank " << rank.number;
      }
      job.kill(1);
      job.repair();
      expect_done(job.run([&](Rank& rank) {
        join(rank, parameters);
        EXPECT_EQ(restore(rank, kSmall), contents(rank.number, kSmall, 0));
      }));
      return std::any_of(outcomes.begin(), outcomes.end(),
                         [](const Outcome& each) { return each.ending == Ending::died; });
    });
  }
}

// A rank is lost; while the group is formed again, one more dies: the replacement, its buddy, or somebody else.
TEST(AnyStep, OfRejoining) {
  for (int size = 2; size <= 5; ++size) {
    for (int lost = 0; lost < size; ++lost) {
      for (int dying = 0; dying < size; ++dying) {
        SCOPED_TRACE(testing::Message() << size << " ranks, " << lost << " is lost, then " << dying << " dies");
        for_steps(lost + dying, [&](int steps) {
          Application application(size, steps % 2);
          EXPECT_TRUE(application.play(3));
          application.job.kill(lost);
          application.job.repair();
          application.job.doom(dying, steps, some_unlucky(steps + dying));
          const bool lives = application.play(4);
          application.job.repair();
          const Pairing pairing({}, size);
          if (dying == lost || (dying != pairing.holder_of(lost) && dying != pairing.held_by(lost))) {
            EXPECT_TRUE(application.covered());
          }
          EXPECT_TRUE(application.play(6));
          return !lives;
        });
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// The replacement sees the death of the peer that it is just fetching data from.
TEST(AnyStep, OfFetchingFromAPeerThatDies) {
  for (int size = 2; size <= 5; ++size) {
    for (int lost = 0; lost < size; ++lost) {
      SCOPED_TRACE(testing::Message() << size << " ranks, " << lost << " is lost");
      bool complete = false;
      for (int accesses = 0; !complete && !testing::Test::HasFailure(); ++accesses) {
        SCOPED_TRACE(testing::Message() << "its peer dies after " << accesses << " accesses");
        Application application(size, 1);
        EXPECT_TRUE(application.play(3));
        application.job.kill(lost);
        application.job.repair();
        application.job.crew().cut_off(lost, accesses);
        complete = application.play(4);
        application.job.repair();
        EXPECT_TRUE(application.play(6));
      }
    }
  }
}

// Without spares the team shrinks: members stay with their elements, whoever dies meanwhile.
TEST(AnyStep, OfRejoiningAShrunkTeam) {
  const GroupParameters parameters{5, 0, 0, {}};
  for (int size = 3; size <= 5; ++size) {
    for (int dying = 0; dying < size - 1; ++dying) {
      SCOPED_TRACE(testing::Message() << size << " ranks, one is lost, then " << dying << " of the others dies");
      for_steps(size + dying, [&](int steps) {
        Job job(size);
        const auto rejoin_all = [&](Rank& rank) {
          join(rank, parameters);
          for (const int member : kMembers) provide(rank, member);
        };
        expect_done(job.run(rejoin_all));
        job.kill(1);
        job.shrink();
        job.doom(dying, steps, some_unlucky(steps + dying));
        const auto outcomes = job.run(rejoin_all);
        const bool lives = outcomes[static_cast<std::size_t>(dying)] == Ending::done;
        for (const Outcome& outcome : outcomes) {
          EXPECT_TRUE(outcome == Ending::done || outcome == Ending::failure_seen || outcome == Ending::died) << outcome;
        }
        job.shrink();
        expect_done(job.run([&](Rank& rank) {
          rejoin_all(rank);
          for (const int member : kMembers) {
            const auto& counts = rank.group->find(member)->counts;
            ASSERT_EQ(counts.size(), static_cast<std::size_t>(job.size()));
            for (const Rank& other : job.ranks()) {
              EXPECT_EQ(counts[static_cast<std::size_t>(other.number)], count_of(other.origin, member));
            }
            // With wrong counts a store would read past the end of the buffer.
            if (testing::Test::HasFailure()) return;
            store(rank, member, 0);
          }
          commit_barrier(rank);
          for (const int member : kMembers) EXPECT_EQ(restore(rank, member), contents(rank.origin, member, 0));
        }));
        return !lives;
      });
    }
  }
}

// Any sequence of deaths, also beyond what the policy covers.
TEST(AnyStep, OfALongLife) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int job = 0; job < (all_steps() ? 1000 : 40) && !testing::Test::HasFailure(); ++job) {
    const int size = 2 + static_cast<int>(random() % 4);
    Application application(size, static_cast<int>(random() % 3));
    int last = 1;
    for (int phase = 0; phase < 8; ++phase) {
      last += static_cast<int>(random() % 4);
      application.job.doom(static_cast<int>(random() % static_cast<unsigned>(size)), static_cast<int>(random() % 200),
                           static_cast<unsigned>(random()));
      application.play(last);
      application.job.repair();
    }
    EXPECT_TRUE(application.play(last + 2));
  }
}

}  // namespace
}  // namespace fenix_test
