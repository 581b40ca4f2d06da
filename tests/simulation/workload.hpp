// SPDX-License-Identifier: BSD-3-Clause
// All that the program of a schedule does, and the contents of its data: functions of the seed, so that nothing has to be kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "choices.hpp"

namespace fenix_simulation {

struct MemberPlan {
  int count = 1;       ///< elements of the first rank
  int spread = 0;      ///< so many more on each rank that follows
  bool bytes = false;  ///< elements of one byte, else of four

  [[nodiscard]] int count_on(int rank) const { return count + spread * rank; }
  friend bool operator==(const MemberPlan&, const MemberPlan&) = default;
};

/// local: without redundancy.
enum class Policy : std::uint8_t { buddies, ring, exclusive_or, reed_solomon, local };

struct GroupPlan {
  Policy policy = Policy::buddies;
  int separation = 1;
  int size = 2;    ///< of a cohort
  int losses = 1;  ///< that a cohort tolerates
  int depth = 0;
  bool hashing = true;
  bool in_place = false;
  std::vector<MemberPlan> members;

  friend bool operator==(const GroupPlan&, const GroupPlan&) = default;
};

struct Workload {
  std::uint64_t seed = 0;
  int ranks = 3;
  int spares = 1;
  int ranks_per_node = 0;  ///< 0: all are on one node
  int steps = 4;
  int barrier_of = 2;    ///< one of so many commits is with a barrier; 0: none
  int partial_of = 3;    ///< one of so many stores is of a part; 0: none
  int skipped_of = 6;    ///< one of so many stores is left out; 0: none
  int deletions_of = 0;  ///< after one of so many commits a snapshot is deleted; 0: never
  int messages_of = 0;   ///< in one of so many steps the program has messages of its own; 0: never
  int verified_of = 0;   ///< after one of so many repairs all is verified; 0: never
  int inspected_of = 0;  ///< after one of so many commits of all, what was committed is read; 0: never
  bool asynchronous = false;
  bool releases = true;  ///< spares come back from Fenix_Init at the end
  bool warm = true;
  int path = 0;      ///< FENIX_PATH: 0 auto, 1 window, 2 fabric
  int timeout = 20;  ///< FENIX_TIMEOUT in seconds

  // With a store.

  int jobs = 0;            ///< one after the other; 0: one job, without a store
  int later_ranks = 0;     ///< of the second job and the third one; 0: as many as the first one has
  int pause = 0;           ///< milliseconds between two jobs
  int flush_of = 0;        ///< FENIX_FLUSH
  int named_of = 0;        ///< one of so many commits is flushed by name, and all wait; 0: none
  int asked_of = 0;        ///< after one of so many commits the program asks whether it is in the store; 0: never
  int fetched_of = 0;      ///< after one of so many commits an older dataset is fetched, once in a job; 0: never
  int lease = 0;           ///< FENIX_KEEP in seconds
  int kept = 0;            ///< FENIX_STORE_KEEP
  int flush_timeout = 60;  ///< FENIX_FLUSH_TIMEOUT in seconds
  std::vector<GroupPlan> groups;

  [[nodiscard]] bool has_store() const { return jobs > 0; }
  /// Each job goes some steps further than the one before.
  [[nodiscard]] int steps_of(int job) const { return steps + 2 * job; }
  [[nodiscard]] int ranks_of(int job) const { return job > 0 && later_ranks > 0 ? later_ranks : ranks; }
  friend bool operator==(const Workload&, const Workload&) = default;
};

/// Questions that are answered by dice.
enum class Purpose : std::uint64_t {
  value,
  extent,
  blocks,
  form,
  barrier,
  deletion,
  message,
  verify,
  inspection,
  flush,
  question,
  fetch
};

inline std::uint64_t dice(const Workload& plan, Purpose purpose, std::uint64_t a, std::uint64_t b = 0,
                          std::uint64_t c = 0) {
  std::uint64_t state = mixed(plan.seed ^ static_cast<std::uint64_t>(purpose) << 58U);
  for (const std::uint64_t part : {a, b, c}) state = mixed(state ^ part);
  return state;
}

/// True once in so many cases; never for 0.
inline bool once_in(int cases, std::uint64_t dice) {
  return cases > 0 && dice % static_cast<std::uint64_t>(cases) == 0;
}

/// Elements that a rank stores in a step: blocks of one length, one distance apart.
struct Blocks {
  int number = 0;
  int first = 0;
  int length = 0;
  int stride = 0;

  [[nodiscard]] bool has(int element) const {
    if (number == 0 || element < first) return false;
    const int block = stride == 0 ? 0 : (element - first) / stride;
    return block < number && element - first - block * stride < length;
  }
};

/// By step: the attempt in which it was stored. After a failure a step is done again, with other contents.
using Attempts = std::array<std::int64_t, 16>;
inline std::int64_t& attempt_of(Attempts& attempts, int step) {
  return attempts[static_cast<std::size_t>(step) % attempts.size()];
}

/// base: the step from which a group has begun, which stores everything.
Blocks blocks_of(const Workload& plan, int group, int member, int rank, int step, int base);
/// The snapshot of a step.
struct Contents {
  int step = 0;
  int base = 0;
  Attempts attempts{};
};
/// Returns the value of an element in a snapshot.
std::uint32_t value_of(const Workload& plan, int group, int member, int rank, Contents contents, int element);
bool has_barrier(const Workload& plan, int group, int step);

}  // namespace fenix_simulation
