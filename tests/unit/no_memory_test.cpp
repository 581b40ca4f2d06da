// SPDX-License-Identifier: BSD-3-Clause
// Memory that cannot be had: each allocation, and each request to the system, of each kind of call fails once. It is an error
// on all ranks that wait for each other; what was committed stays good, and the call works when there is memory again.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fault.hpp"
#include "support/failing_allocations.hpp"
#include "support/group_data.hpp"
#include "support/stride.hpp"

namespace {

// Of threads that belong to the library: one countdown for all of them.
std::atomic<int> until_worker_fails{-1};
thread_local bool is_test_thread = false;

bool allocation_fails() {
  if (fenix_test::allocations.next_fails()) return true;
  if (is_test_thread || until_worker_fails < 0) return false;
  return until_worker_fails.fetch_sub(1) == 0;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (allocation_fails()) return nullptr;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// GCC would warn of free() where a compiler has put delete into its caller, and left new outside.
[[gnu::noinline]] void release(void* memory) noexcept { std::free(memory); }

constexpr std::size_t kPlain = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, kPlain); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, kPlain); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, kPlain); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, kPlain); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace fenix_test {
namespace {

using fenix_impl::Error;
using fenix_impl::GroupParameters;
using fenix_impl::Interval;
using fenix_impl::IntervalSet;
using fenix_impl::Policy;
using fenix_impl::Selection;

constexpr int kRanks = 4;
constexpr int kVictim = 2;
constexpr int kSeparate = 21;  // a member that some calls are about

/// What fails on the victim: one allocation, all from one on, or one request to the system.
enum class Kind { one_allocation, all_allocations, one_request };

thread_local Allocations requests;

/// Each of how many failures is tried: an attempt takes a job of its own. There are few requests.
int stride_of(Kind kind) { return kind == Kind::one_request ? 1 : stride(11, 21); }

/// Runs work, in which the n-th fails. Returns whether it came to that.
bool run_failing(Kind kind, int n, const std::function<void()>& work) {
  Allocations& which = kind == Kind::one_request ? requests : allocations;
  which = {n, kind == Kind::all_allocations, false, false};
  const auto end = [&] {
    const bool failed = which.failed;
    which = {};
    return failed;
  };
  try {
    work();
  } catch (...) {
    (void)end();
    throw;
  }
  return end();
}

/// A call that is tried: before brings about what it takes, call is what may fail.
struct Call {
  const char* name;
  bool joint;  ///< all ranks get an error if one does
  std::function<void(Rank&)> before;
  std::function<void(Rank&)> call;
};

Selection many_pieces(int rank) {
  std::vector<Interval> pieces;
  for (std::uint64_t first = 0; first + 1 < count_of(rank, kLarge) / 2; first += 97)
    pieces.push_back({first, first + 1});
  return Selection::some(IntervalSet::of(std::move(pieces)));
}

Words& buffer_of(Rank& rank, int member) { return rank.buffers.at(member); }

/// Snapshots 0 and 1 of kSmall and kLarge; what each call leaves has to be consistent with them.
class NoMemory : public testing::TestWithParam<Policy> {
 protected:
  GroupParameters parameters(int depth) const { return {5, 0, depth, GetParam()}; }

  void form(Job& job, int depth) {
    expect_done(job.run([&](Rank& rank) {
      join(rank, parameters(depth));
      for (const int member : {kSmall, kLarge}) provide(rank, member);
    }));
  }

  void make_snapshots(Job& job) {
    expect_done(job.run([&](Rank& rank) {
      for (int stamp = 0; stamp < 2; ++stamp) {
        for (const int member : {kSmall, kLarge}) store(rank, member, stamp);
        EXPECT_EQ(rank.group->commit(), stamp);
      }
      rank.group->wait_for_commit_on_all();
    }));
  }

  // As an application does that has got the error.
  bool take_up_again(Job& job, int depth) {
    bool attached = true;
    for (const Rank& rank : job.ranks()) attached = attached && rank.group && rank.group->attached();
    if (attached) return false;
    ++rejoined_;
    job.repair();
    form(job, depth);
    return true;
  }

  // The two snapshots are there, byte for byte. newer: there may be later ones.
  void expect_snapshots(Job& job, int depth) {
    expect_done(job.run([&](Rank& rank) {
      const auto stamps = rank.group->snapshots().on_all();
      EXPECT_TRUE(depth > 1 || depth < 0 ? std::count(stamps.begin(), stamps.end(), 0) == 1 : true) << rank.number;
      EXPECT_EQ(std::count(stamps.begin(), stamps.end(), 1), 1) << rank.number;
      for (const int stamp : stamps) {
        if (stamp > 1) continue;
        for (const int member : {kSmall, kLarge}) {
          EXPECT_EQ(restore(rank, member, stamp), contents(rank.number, member, stamp)) << rank.number << " " << stamp;
        }
      }
    }));
  }

  // Stores, commits and restores on.
  void expect_work(Job& job) {
    std::vector<int> newest(kRanks, -1);
    expect_done(job.run([&](Rank& rank) {
      (void)rank.group->make_consistent();
      for (const int member : {kSmall, kLarge}) store(rank, member, 50, 3);
      const int stamp = newest[static_cast<std::size_t>(rank.number)] = rank.group->commit();
      rank.group->wait_for_commit_on_all();
      for (const int member : {kSmall, kLarge}) {
        EXPECT_EQ(restore(rank, member, stamp), contents(rank.number, member, 50, 3)) << rank.number;
      }
      const auto verified = rank.group->verify_all();
      EXPECT_EQ(verified.lost, 0U);
      EXPECT_EQ(verified.mended, 0U);
    }));
    for (const int stamp : newest) EXPECT_EQ(stamp, newest[0]);
  }

  // A rank dies, and its place is taken: the redundancy has to be as good as the data.
  void expect_recovery(Job& job, int depth, int dead) {
    job.kill(dead);
    job.repair();
    form(job, depth);
    expect_done(job.run([&](Rank& rank) {
      for (const int member : {kSmall, kLarge}) {
        EXPECT_EQ(restore(rank, member), contents(rank.number, member, 50, 3)) << rank.number;
      }
    }));
  }

  void try_all(const Call& call, int depth = 2) {
    for (const Kind kind : {Kind::one_allocation, Kind::all_allocations, Kind::one_request}) try_all(call, depth, kind);
  }

  void try_all(const Call& call, int depth, Kind kind) {
    constexpr int kMost = 3000;
    const int stride = stride_of(kind);
    int n = 0;
    for (bool failed = true; failed && n < kMost; n += stride) {
      SCOPED_TRACE(std::string(call.name) + ", kind " + std::to_string(static_cast<int>(kind)) + ", number " +
                   std::to_string(n));
      failed = try_one(call, depth, kind, n);
      if (HasFailure()) return;
    }
    EXPECT_LT(n, kMost);
    std::printf("%-20s kind %d: %d failures, of which %d errors, %d groups formed anew\n", call.name,
                static_cast<int>(kind), n / stride - 1, std::exchange(errors_, 0), std::exchange(rejoined_, 0));
  }

  bool try_one(const Call& call, int depth, Kind kind, int n) {
    Job job(kRanks);
    form(job, depth);
    make_snapshots(job);
    expect_done(job.run([&](Rank& rank) { call.before(rank); }));
    bool failed = false;
    const auto outcomes = job.run([&](Rank& rank) {
      is_test_thread = true;
      if (rank.number == kVictim) {
        try {
          failed = run_failing(kind, n, [&] { call.call(rank); });
        } catch (const std::bad_alloc&) {  // as the public functions do
          failed = true;
          throw Error(fenix_impl::out_of_memory());
        } catch (...) {
          failed = true;
          throw;
        }
      } else {
        call.call(rank);
      }
    });
    check_outcomes(call, outcomes);
    const bool anew = take_up_again(job, depth);
    expect_snapshots(job, depth);
    if (HasFailure()) return false;
    if (outcomes[kVictim].ending != Ending::done) repeat(call, job, outcomes, anew);
    expect_work(job);
    if (n % 7 == 0) expect_recovery(job, depth, n / 7 % kRanks);
    return failed;
  }

  void check_outcomes(const Call& call, const std::vector<Outcome>& outcomes) {
    const bool failed = outcomes[kVictim].ending != Ending::done;
    if (failed) ++errors_;
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
      const Outcome& outcome = outcomes[rank];
      if (!failed) {
        EXPECT_EQ(outcome.ending, Ending::done) << rank << ": " << outcome;
      } else if (rank == kVictim) {
        EXPECT_EQ(outcome.ending, Ending::error) << rank << ": " << outcome;
        EXPECT_EQ(outcome.code, FENIX_ERROR_NO_MEMORY) << rank << ": " << outcome;
      } else if (call.joint) {
        EXPECT_EQ(outcome.ending, Ending::error) << rank << ": " << outcome;
      } else {
        EXPECT_TRUE(outcome.ending == Ending::done || outcome.ending == Ending::error) << rank << ": " << outcome;
      }
    }
  }

  // With memory, the same works. Ranks that have come to the end of it need not repeat it.
  static void repeat(const Call& call, Job& job, const std::vector<Outcome>& outcomes, bool anew) {
    expect_done(job.run([&](Rank& rank) {
      if (call.joint || anew) call.before(rank);
      if (anew || outcomes[static_cast<std::size_t>(rank.number)].ending != Ending::done) call.call(rank);
    }));
  }

 private:
  int rejoined_ = 0;
  int errors_ = 0;
};

void nothing(Rank&) {}

TEST_P(NoMemory, InTheCreationOfAMember) {
  try_all({"member_create", true, [](Rank& rank) { rank.buffers[kSeparate].resize(count_of(rank.number, kSeparate)); },
           [](Rank& rank) {
             fenix_impl::MemberInfo info;
             {
               const AllocationsSucceed here;
               info = words(kSeparate);
             }
             const Words& buffer = buffer_of(rank, kSeparate);
             rank.group->definition().create_member(info, buffer.data(), buffer.size(), [] {});
           }});
}

TEST_P(NoMemory, InTheFirstStore) {
  try_all({"first store", false, [](Rank& rank) { provide(rank, kSeparate); },
           [](Rank& rank) { store_elements(rank, kSeparate, Selection::all()); }});
}

TEST_P(NoMemory, InAStoreOfASubset) {
  try_all({"store", false, nothing, [](Rank& rank) {
             const Words data = contents(rank.number, kLarge, 50, 3);
             std::copy(data.begin(), data.end(), buffer_of(rank, kLarge).begin());
             store_elements(rank, kLarge, many_pieces(rank.number));
           }});
}

TEST_P(NoMemory, InStaging) {
  try_all({"stage", false, nothing, [](Rank& rank) {
             rank.group->staging().stage(*rank.group->find(kLarge), many_pieces(rank.number));
             rank.group->staging().stage(*rank.group->find(kLarge), Selection::all());
           }});
}

TEST_P(NoMemory, InAnAsynchronousStore) {
  try_all({"istore", false, nothing, [](Rank& rank) {
             fenix_impl::Member* const member = rank.group->find(kLarge);
             const auto request = rank.group->stores().store_asynchronously(std::span(&member, 1), Selection::all(), 1);
             rank.group->requests().wait_for(*request);
           }});
}

// On any rank: which one is up to the threads.
TEST_P(NoMemory, InTheThreadOfAnAsynchronousStore) {
  is_test_thread = true;
  const int stride = stride_of(Kind::one_allocation);
  bool failed = true;
  int n = 0;
  for (; failed; n += stride) {
    SCOPED_TRACE(n);
    Job job(kRanks);
    form(job, 2);
    make_snapshots(job);
    const auto outcomes = job.run([&](Rank& rank) {
      is_test_thread = true;
      rank.team->barrier();
      until_worker_fails = n;
      rank.team->barrier();
      fenix_impl::Member* const member = rank.group->find(kLarge);
      const auto request =
          rank.group->stores().store_asynchronously(std::span(&member, 1), many_pieces(rank.number), 1);
      rank.group->requests().wait_for(*request);
      if (request->state() == fenix_impl::Request::State::failed) throw Error(request->error());
    });
    until_worker_fails = -1;
    failed = std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& each) { return each == Ending::error; });
    for (const Outcome& outcome : outcomes) {
      EXPECT_TRUE(outcome == Ending::done || outcome.code == FENIX_ERROR_NO_MEMORY) << outcome;
    }
    (void)take_up_again(job, 2);
    expect_snapshots(job, 2);
    expect_work(job);
    if (HasFailure()) return;
  }
  std::printf("istore, thread: %d failures\n", n / stride - 1);
}

TEST_P(NoMemory, InACommitOnAll) {
  try_all({"commit_barrier", true,
           [](Rank& rank) {
             const Words data = contents(rank.number, kLarge, 50, 3);
             std::copy(data.begin(), data.end(), buffer_of(rank, kLarge).begin());
             store_elements(rank, kLarge, many_pieces(rank.number));
             store(rank, kSmall, 50, 3);
           },
           [](Rank& rank) {
             int stamp = 0;
             rank.group->commit_on_all(stamp);
           }});
}

// Records and announcements have room for members in one piece; this one has a thousand.
void store_pieces(Rank& rank) {
  constexpr std::size_t kElements = 2000;
  Words& buffer = rank.buffers[kSeparate];
  buffer.resize(kElements);
  if (auto* known = rank.group->find(kSeparate)) {
    known->set_buffer(buffer.data());
  } else {
    rank.group->definition().create_member(words(kSeparate), buffer.data(), kElements, [] {});
  }
  std::vector<Interval> odd;
  for (std::uint64_t i = 1; i < kElements; i += 2) odd.push_back({i, i + 1});
  store_elements(rank, kSeparate, Selection::some(IntervalSet::of(odd)));
}

TEST_P(NoMemory, InACommitWhoseRecordOutgrowsItsPlace) {
  try_all({"commit of pieces", true, store_pieces, [](Rank& rank) {
             int stamp = 0;
             rank.group->commit_on_all(stamp);
           }});
}

// Announcements have pieces when each slot has a snapshot that differs in them: older snapshots are gone then.
TEST_P(NoMemory, InACommitWhoseAnnouncementOutgrowsItsPlace) {
  int n = 0;
  int declined = 0;
  for (bool failed = true; failed; ++n) {
    SCOPED_TRACE(n);
    Job job(kRanks);
    form(job, 0);
    expect_done(job.run([&](Rank& rank) {
      for (int turn = 0; turn < 3; ++turn) {
        store_pieces(rank);
        commit_barrier(rank);
      }
      store_pieces(rank);
    }));
    failed = false;
    const auto outcomes = job.run([&](Rank& rank) {
      is_test_thread = true;
      int stamp = 0;
      const auto commit = [&] { rank.group->commit_on_all(stamp); };
      if (rank.number != kVictim) return commit();
      try {
        failed = run_failing(Kind::one_request, n, commit);
      } catch (const Error&) {
        failed = true;
        throw;
      }
    });
    if (failed) {
      expect_all(outcomes, Ending::error);
      EXPECT_EQ(outcomes[kVictim].code, FENIX_ERROR_NO_MEMORY);
      if (outcomes[0].code == FENIX_ERROR_INVALID_LOGIC_CALL) ++declined;
    }
    (void)take_up_again(job, 0);
    expect_work(job);
    if (HasFailure()) return;
  }
  EXPECT_GT(n, 2) << "no request has failed";
  // Room for the record, its copy and the announcement comes before the redundancy set encodes: the others hear that the victim cannot.
  EXPECT_EQ(declined, GetParam().encodes() ? 3 : 0);
}

TEST_P(NoMemory, InARestore) {
  try_all({"restore", true, nothing, [](Rank& rank) {
             Words target;
             {
               const AllocationsSucceed here;
               target.resize(count_of(rank.number, kLarge));
             }
             (void)rank.group->restore(kLarge, {}, {target.data(), target.size()}, [] {});
           }});
}

TEST_P(NoMemory, InARestoreFromAnotherRank) {
  try_all(
      {"restore_from_rank", true, nothing, [](Rank& rank) {
         Words target;
         {
           const AllocationsSucceed here;
           target.resize(count_of(kRanks, kLarge));
         }
         (void)rank.group->restore_from(kLarge, {}, {target.data(), target.size()}, (rank.number + 1) % kRanks, [] {});
       }});
}

TEST_P(NoMemory, InVerify) {
  try_all({"verify", true, nothing, [](Rank& rank) { (void)rank.group->verify_all(); }});
}

TEST_P(NoMemory, InABarrier) {
  try_all({"barrier", false, nothing, [](Rank& rank) { (void)rank.group->make_consistent(); }});
}

TEST_P(NoMemory, InTheDeletionOfASnapshot) {
  try_all({"snapshot_delete", false,
           [](Rank& rank) {
             store(rank, kSmall, 50, 3);
             store(rank, kLarge, 50, 3);
             commit_barrier(rank);
           },
           [](Rank& rank) { rank.group->delete_snapshot(snapshot(2)); }},
          3);
}

TEST_P(NoMemory, InTheDeletionOfAMember) {
  try_all({"member_delete", false,
           [](Rank& rank) {
             if (rank.group->find(kSeparate) == nullptr) provide(rank, kSeparate);
           },
           [](Rank& rank) {
             if (auto* member = rank.group->find(kSeparate)) rank.group->delete_member(*member);
           }});
}

TEST_P(NoMemory, InAGrowingLog) {
  try_all({"commit at depth -1", true,
           [](Rank& rank) {
             for (int stamp = 2; stamp < 9; ++stamp) {
               store(rank, kSmall, 50, 3);
               commit_barrier(rank);
             }
             store(rank, kSmall, 50, 3);
           },
           [](Rank& rank) {
             int stamp = 0;
             rank.group->commit_on_all(stamp);
           }},
          GroupParameters::kKeepAll);
}

INSTANTIATE_TEST_SUITE_P(Policies, NoMemory, testing::Values(Policy{}, Policy{Policy::Kind::parity, 1, kRanks, 1}),
                         [](const auto& each) { return each.param.encodes() ? "parity" : "copies"; });

// The group as a whole: created, taken up again, rebuilt.

enum class Start { nothing, snapshots, death, shrunk };

void form_under(Kind kind, Start start, const Policy& policy) {
  const GroupParameters parameters{5, 0, 1, policy};
  bool failed = true;
  const int stride = stride_of(kind);
  int n = 0;
  for (; failed; n += stride) {
    SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", number " + std::to_string(n));
    Job job(kRanks);
    const auto with_members = [&](Rank& rank) {
      join(rank, parameters);
      for (const int member : {kSmall, kLarge}) provide(rank, member);
    };
    if (start != Start::nothing) {
      expect_done(job.run([&](Rank& rank) {
        with_members(rank);
        for (const int member : {kSmall, kLarge}) store(rank, member, 0);
        commit_barrier(rank);
      }));
      if (start != Start::snapshots) job.kill(1);
      start == Start::shrunk ? job.shrink() : job.repair();
    }
    failed = false;
    for (const int victim : {0, 1}) {  // that took the place of the dead one, and one that did not
      std::vector<bool> known;
      for (const Rank& rank : job.ranks()) known.push_back(rank.group != nullptr);
      const auto outcomes = job.run([&](Rank& rank) {
        is_test_thread = true;
        if (rank.number != victim) return with_members(rank);
        try {
          if (run_failing(kind, n, [&] { join(rank, parameters); })) failed = true;
        } catch (...) {
          failed = true;
          throw;
        }
        for (const int member : {kSmall, kLarge}) provide(rank, member);
      });
      const bool error = outcomes[static_cast<std::size_t>(victim)].ending != Ending::done;
      for (const Outcome& outcome : outcomes) {
        EXPECT_EQ(outcome.ending, error ? Ending::error : Ending::done) << outcome;
        EXPECT_EQ(outcome.code, error ? FENIX_ERROR_NO_MEMORY : FENIX_SUCCESS) << outcome;
      }
      // Fenix_Data_group_create gives up what is new or not whole.
      for (Rank& rank : job.ranks()) {
        const bool is_new = !known[static_cast<std::size_t>(rank.number)];
        if (error && rank.group && (is_new || !rank.group->is_complete())) rank.group.reset();
      }
      job.repair();
      if (testing::Test::HasFailure()) return;
    }
    expect_done(job.run([&](Rank& rank) {
      with_members(rank);
      if (start == Start::shrunk) {
        Words target(count_of(kRanks, kLarge));
        for (int source = 0; source < kRanks; ++source) {
          (void)rank.group->restore_from(kLarge, {}, {target.data(), target.size()}, source, [] {});
          Words there = target;
          there.resize(count_of(source, kLarge));
          EXPECT_EQ(there, contents(source, kLarge, 0)) << source;
        }
      } else if (start != Start::nothing) {
        for (const int member : {kSmall, kLarge}) EXPECT_EQ(restore(rank, member), contents(rank.number, member, 0));
      }
    }));
    if (testing::Test::HasFailure()) return;
  }
  std::printf("start %d, kind %d: %d failures\n", static_cast<int>(start), static_cast<int>(kind), n / stride - 1);
}

class NoMemoryToForm : public testing::TestWithParam<Policy> {
 protected:
  void form(Start start) {
    for (const Kind kind : {Kind::one_allocation, Kind::all_allocations, Kind::one_request}) {
      form_under(kind, start, GetParam());
      if (HasFailure()) return;
    }
  }
};

TEST_P(NoMemoryToForm, AGroup) { form(Start::nothing); }
TEST_P(NoMemoryToForm, AGroupWithSnapshots) { form(Start::snapshots); }
TEST_P(NoMemoryToForm, AGroupAfterADeath) { form(Start::death); }
TEST_P(NoMemoryToForm, AGroupThatHasShrunk) { form(Start::shrunk); }

INSTANTIATE_TEST_SUITE_P(Policies, NoMemoryToForm,
                         testing::Values(Policy{}, Policy{Policy::Kind::parity, 1, kRanks, 1}),
                         [](const auto& each) { return each.param.encodes() ? "parity" : "copies"; });

#ifdef FENIX_FAULT_INJECTION
bool request_fails(const char*) { return requests.next_fails(); }
const bool hook_is_set = (fenix_impl::set_fault_hook(request_fails), true);
#endif

}  // namespace
}  // namespace fenix_test
