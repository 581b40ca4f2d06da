// SPDX-License-Identifier: BSD-3-Clause
// An application of simulated ranks that stores and commits, and checks what it has back after each repair: what the policy
// covers comes back, on all ranks the same, byte for byte.
//
// By default some of all steps at which a rank can die are tried; FENIX_TEST_ALL_STEPS=1 tries all.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "parity/placement.hpp"
#include "support/group_data.hpp"
#include "support/stride.hpp"

namespace fenix_test {

inline constexpr int kNone = -1;

inline bool all_steps() { return std::getenv("FENIX_TEST_ALL_STEPS") != nullptr; }

// Returns the stride of steps: by default every fifth is tried, and in builds with sanitizers every ninth.
inline int each_of_those() { return stride(5, 9); }

// kUneven is stored under even time stamps only.
inline constexpr int kApplicationMembers[] = {kSmall, kUneven};
inline int stored_under(int member, int stamp) { return member == kUneven ? stamp - stamp % 2 : stamp; }

// An application that stores and commits; what it had back after each repair is checked for consistency.
class Application {
 public:
  Application(int size, int depth, const fenix_impl::Policy& policy = {})
      : job(size),
        parameters_{5, 0, depth, policy},
        placement_(policy, size),
        places_(static_cast<std::size_t>(size)) {}

  /// Makes an application whose group commits in place.
  static Application in_place(int size, const fenix_impl::Policy& policy) {
    Application application(size, 0, policy);
    application.parameters_.in_place = 1;
    return application;
  }

  /// The same, whose members have buffers of the library.
  static Application allocated(int size, const fenix_impl::Policy& policy) {
    Application application = in_place(size, policy);
    for (Rank& rank : application.job.ranks()) rank.allocates = true;
    return application;
  }

  // A phase: all form the group, restore what there is, and go on until the time stamp last has been committed.
  // Returns whether it came to its end on all ranks.
  bool play(int last) {
    ++attempt_;
    if (parameters_.commits_in_place()) {
      job.settle();
      overwrite_buffers();
    }
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

  // True if what each rank had is still there: with itself, as a copy, or in its redundancy set.
  bool covered() {
    const auto lost = [&](int rank) { return !job.rank(rank).group || !job.rank(rank).group->is_complete(); };
    for (int rank = 0; rank < job.size(); ++rank) {
      if (!lost(rank)) continue;
      const auto& redundancy_set = placement_.redundancy_set(rank);
      if (std::count_if(redundancy_set.begin(), redundancy_set.end(), lost) > placement_.copies()) return false;
      if (redundancy_set.empty() && (placement_.copies() == 0 || lost(placement_.holder(rank, 0)))) return false;
    }
    return true;
  }

  Job job;

 private:
  struct Restored {
    int stamp = kNone;
    std::map<int, std::uint32_t> attempts;  // by member; none for a member of which this rank has no elements
  };

  // The application's knowledge at one place of the team; outlives the processes there.
  struct Place {
    int committed = kNone;
    std::optional<Restored> restored;
  };

  // The application has control again: a commit that was cut short must not need the buffers any more.
  void overwrite_buffers() {
    for (Rank& rank : job.ranks()) overwrite(rank, 0xfeedfaceU);
  }

  static void overwrite(Rank& rank, std::uint32_t word) {
    for (const int member : kApplicationMembers) {
      const auto buffer = source_buffer(rank, member);
      std::fill(buffer.begin(), buffer.end(), word);
    }
  }

  Place& place(const Rank& rank) { return places_[static_cast<std::size_t>(rank.number)]; }

  int least_committed() const {
    const auto least = std::min_element(places_.begin(), places_.end(),
                                        [](const Place& a, const Place& b) { return a.committed < b.committed; });
    return least->committed;
  }

  void play(Rank& rank, int last) {
    join(rank, parameters_);
    for (const int member : kApplicationMembers) provide(rank, member);
    place(rank).restored = restore_all(rank);
    const int newest = place(rank).restored->stamp;
    place(rank).committed = newest;
    for (int stamp = newest + 1; stamp <= last; ++stamp) {
      for (const int member : kApplicationMembers) {
        if (stored_under(member, stamp) != stamp) continue;
        if (parameters_.commits_in_place()) {
          store_until_commit(rank, member, stamp, attempt_);
        } else {
          store(rank, member, stamp, attempt_);
        }
      }
      EXPECT_EQ(rank.group->commit(), stamp);
      if (parameters_.commits_in_place()) {
        overwrite(rank, 0xdeadbeefU);
      }
      place(rank).committed = stamp;
      if (stamp % 2 != 0) rank.group->wait_for_commit_on_all();
    }
    rank.team->barrier();
  }

  // Restores all members from all snapshots; returns what it found in the newest.
  Restored restore_all(Rank& rank) const {
    Restored newest;
    const auto stamps = rank.group->snapshots().on_all();
    if (stamps.empty()) return newest;
    EXPECT_EQ(static_cast<int>(stamps.size()), std::min(stamps[0], parameters_.depth) + 1);
    for (const int stamp : stamps) {
      for (const int member : kApplicationMembers) {
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

  fenix_impl::GroupParameters parameters_;
  fenix_impl::Placement placement_;
  std::vector<Place> places_;
  std::uint32_t attempt_ = 0;
};

// Different ranks see a death late, for different numbers.
inline unsigned some_unlucky(int number) { return static_cast<unsigned>(number) * 2654435761U >> 26; }

// Runs scenario(steps) for the numbers of steps after which a rank can die, until it lives through the phase.
template <class Scenario>
void for_steps(int first, Scenario scenario, int stride = 11) {
  stride *= each_of_those();
  for (int steps = all_steps() ? 0 : first % stride;; steps += all_steps() ? 1 : stride) {
    SCOPED_TRACE(testing::Message() << "after " << steps << " steps");
    if (!scenario(steps) || testing::Test::HasFailure()) return;
  }
}

}  // namespace fenix_test
