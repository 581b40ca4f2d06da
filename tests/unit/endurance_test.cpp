// SPDX-License-Identifier: BSD-3-Clause
// Very many commits, deaths and groups on simulated ranks: what the process uses stays flat. FENIX_ENDURANCE_STEPS says how many steps
// there are of each kind, and FENIX_ENDURANCE_TABLE where they are written to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "support/partial_job.hpp"
#include "support/used_resources.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Policy;
using fenix_impl::Selection;

constexpr std::uint64_t kEnduranceCount = 1000;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

long steps_or(long usual) {
  const char* const text = std::getenv("FENIX_ENDURANCE_STEPS");
  return text != nullptr ? std::atol(text) : usual;
}

/// The use of the system after a tenth of the steps, and at the end.
class Flat {
 public:
  Flat(std::string what, long steps) : what_(std::move(what)), steps_(steps) {
    if (const char* const name = std::getenv("FENIX_ENDURANCE_TABLE")) table_.open(name, std::ios::app);
  }
  ~Flat() {
    // Sanitizers keep freed memory.
    if (!kIsSanitized) {
      EXPECT_LE(last_.resident_kib, first_.resident_kib + 2048) << what_;
    }
    EXPECT_LE(last_.shared_kib, first_.shared_kib + 512) << what_;
    EXPECT_LE(last_.descriptors, first_.descriptors) << what_;
    EXPECT_LE(last_.mappings, first_.mappings + 8) << what_;
  }
  Flat(const Flat&) = delete;
  Flat& operator=(const Flat&) = delete;

  void look(long step) {
    const long every = std::max(1L, steps_ / 100);
    if (step % every != 0 && step != steps_ - 1) return;
    last_ = used_resources();
    if (step <= std::max(steps_ / 10, every)) first_ = last_;
    if (table_) {
      table_ << what_ << ',' << step << ',' << last_.resident_kib << ',' << last_.shared_kib << ',' << last_.descriptors
             << ',' << last_.mappings << '\n';
    }
  }

 private:
  std::string what_;
  long steps_;
  std::ofstream table_;
  UsedResources first_;
  UsedResources last_;
};

void endure_commits(const char* what, int depth, int in_place, const Policy& policy, long steps) {
  PartialJob job(3, depth, kEnduranceCount, 0, policy, in_place);
  Flat flat(what, steps);
  expect_done(job.run([&](Rank& rank) {
    for (long step = 0; step < steps; ++step) {
      const auto first = static_cast<std::uint64_t>(step) * 37 % (kEnduranceCount - 10);
      change(rank, job.model(rank), {first, first + 10}, static_cast<std::uint32_t>(step));
      store_elements(rank, kMember, step % 10 == 0 ? Selection::all() : Selection::some({first, first + 10}));
      commit_barrier(rank);
      // All others are in the next store by then, or before it.
      if (rank.number == 0) flat.look(step);
    }
  }));
}

TEST(Endurance, Commits) {
  const long steps = steps_or(300);
  endure_commits("simulated commits", 1, 0, {}, steps);
  endure_commits("simulated commits in place", 0, 1, {Policy::Kind::parity, 1, 3, 1}, steps);
}

/// A rank dies in each step, and another process takes its place.
TEST(Endurance, Deaths) {
  const long steps = steps_or(50);
  for (const int in_place : {0, 1}) {
    PartialJob job(3, 0, kEnduranceCount, 0, {Policy::Kind::parity, 1, 3, 1}, in_place);
    expect_done(job.run([&](Rank& rank) {
      change(rank, job.model(rank), {0, kEnduranceCount}, 1);
      store_elements(rank, kMember, Selection::all());
      commit_barrier(rank);
    }));
    Flat flat(in_place != 0 ? "simulated deaths in place" : "simulated deaths", steps);
    for (long step = 0; step < steps; ++step) {
      job.kill(static_cast<int>(step % 3));
      job.repair();
      job.form();
      expect_done(job.run([&](Rank& rank) {
        expect_elements(rank, job.model(rank), kLatest, kEnduranceCount, "after a death");
        change(rank, job.model(rank), {0, kEnduranceCount}, static_cast<std::uint32_t>(step));
        store_elements(rank, kMember, Selection::all());
        commit_barrier(rank);
      }));
      flat.look(step);
      if (testing::Test::HasFailure()) return;
    }
  }
}

/// Members come and go, and sizes change.
TEST(Endurance, Members) {
  const long steps = steps_or(200);
  PartialJob job(3, 0, FENIX_RESIZEABLE, kEnduranceCount);
  Flat flat("simulated members", steps);
  for (long step = 0; step < steps; ++step) {
    const auto size = static_cast<std::uint64_t>(step) * 131 % kEnduranceCount;
    expect_done(job.run([&](Rank& rank) {
      change(rank, job.model(rank), {0, size}, static_cast<std::uint32_t>(step));
      store_elements(rank, kMember, Selection::some({0, size}));
      auto& other = rank.group->definition().create_member(words(kMember + 1), rank.buffers[kMember].data(),
                                                           kEnduranceCount, [] {});
      store_elements(rank, kMember + 1, Selection::all());
      commit_barrier(rank);
      rank.group->delete_member(other);
      EXPECT_TRUE(rank.group->make_consistent());
    }));
    flat.look(step);
    // A simulated team keeps what was said in it.
    if (step % 20 != 0) continue;
    job.repair();
    job.form();
  }
}

}  // namespace
}  // namespace fenix_test
