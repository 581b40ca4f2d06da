// SPDX-License-Identifier: BSD-3-Clause
// The order in which the fault points of an operation are passed. Promises rest on it (docs/model), and no other test would
// notice two points that change places. The lists stand in order_of_steps.txt; FENIX_WRITE_ORDER=1 writes them again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/fault.hpp"
#include "support/encoded.hpp"
#include "support/group_data.hpp"

namespace fenix_test {
namespace {

#ifdef FENIX_FAULT_INJECTION

using fenix_impl::GroupParameters;
using fenix_impl::Selection;

const std::string kListing = std::string(FENIX_TEST_SOURCES) + "/unit/order_of_steps.txt";

// The names that the thread of a simulated rank has passed; null on other threads.
thread_local std::string* passed = nullptr;

void note_point(const char* name) {
  if (passed != nullptr) (*passed += ' ') += name;
}

/// Runs body on all ranks of a job, and lists the points that each has passed.
class Steps {
 public:
  Steps() { fenix_impl::set_fault_listener(note_point); }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  ~Steps() { fenix_impl::set_fault_listener(nullptr); }

  void note(const char* title, Job& job, const Job::Body& body) {
    std::vector<std::string> names(static_cast<std::size_t>(job.size()));
    expect_done(job.run([&](Rank& rank) {
      passed = &names[static_cast<std::size_t>(rank.number)];
      body(rank);
      passed = nullptr;
    }));
    for (std::size_t rank = 0; rank < names.size(); ++rank)
      text_ << title << ", rank " << rank << ":" << names[rank] << "\n";
  }

  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

void store_small(Rank& rank) { store(rank, kSmall, 0); }

void store_asynchronously(Rank& rank) {
  fenix_impl::Member* const member = rank.group->find(kSmall);
  const auto request = rank.group->stores().store_asynchronously(std::span(&member, 1), Selection::all(), 1);
  rank.group->requests().wait_for(*request);
}

std::string steps_of(const char* title, int size, const GroupParameters& parameters) {
  const std::string prefix(title);
  Steps steps;
  const auto note = [&](const char* what, Job& job, const Job::Body& body) {
    steps.note((prefix + ": " + what).c_str(), job, body);
  };
  Job job(size);
  note("create the group", job, [&](Rank& rank) { join(rank, parameters); });
  note("create a member", job, [](Rank& rank) { provide(rank, kSmall); });
  note("first store", job, store_small);
  note("first commit", job, commit_barrier);
  note("second store", job, store_small);
  note("second commit", job, commit_barrier);
  note("third store", job, store_small);
  note("third commit", job, commit_barrier);
  note("asynchronous store", job, store_asynchronously);
  note("fourth commit", job, commit_barrier);
  note("restore", job, [](Rank& rank) { (void)restore(rank, kSmall); });
  note("verify", job, [](Rank& rank) { (void)rank.group->verify_all(); });
  note("make consistent", job, [](Rank& rank) { (void)rank.group->make_consistent(); });
  note("delete a snapshot", job, [](Rank& rank) { rank.group->delete_snapshot({}); });
  note("fifth store", job, store_small);
  note("fifth commit", job, commit_barrier);
  job.kill(1);
  job.repair();
  note("take the group up", job, [&](Rank& rank) { join(rank, parameters); });
  note("restore after a death", job, [](Rank& rank) {
    provide(rank, kSmall);
    (void)restore(rank, kSmall);
  });
  return steps.text();
}

TEST(OrderOfSteps, IsTheSameAsEver) {
  const std::string found = steps_of("copies", 2, {5, 0, 1, {}}) +
                            steps_of("all snapshots kept", 2, {5, 0, GroupParameters::kKeepAll, {}}) +
                            steps_of("parity", 4, {5, 0, 1, kParity});
  if (std::getenv("FENIX_WRITE_ORDER") != nullptr) std::ofstream(kListing) << found;
  std::ifstream file(kListing);
  const std::string expected((std::istreambuf_iterator<char>(file)), {});
  std::istringstream found_lines(found);
  std::istringstream expected_lines(expected);
  std::string line;
  for (std::string wanted; std::getline(expected_lines, wanted);) {
    std::getline(found_lines, line);
    EXPECT_EQ(line, wanted);
  }
  EXPECT_EQ(found, expected);
}

#else

TEST(OrderOfSteps, IsTheSameAsEver) { GTEST_SKIP() << "built without fault points"; }

#endif

}  // namespace
}  // namespace fenix_test
