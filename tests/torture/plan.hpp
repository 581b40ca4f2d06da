// SPDX-License-Identifier: BSD-3-Clause
// The plan of a run, read from a file that scripts/torture writes. Everything else follows from the seed in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torture {

enum class Type { bytes, words, holes };

struct MemberPlan {
  int id = 0;
  Type type = Type::words;
  std::int64_t count = 1;   // elements on rank 0
  std::int64_t spread = 0;  // more of them on each next rank
  int empty_rank = -1;      // has no element
  bool resizeable = false;  // has at most so many; how many, differs from step to step
  bool allocated = false;   // the library has the memory for the buffer

  [[nodiscard]] std::int64_t most_on(int rank) const { return rank == empty_rank ? 0 : count + spread * rank; }
};

struct GroupPlan {
  int id = 0;
  int depth = 0;
  int policy = 0;
  std::vector<int> values;
  bool hashing = true;
  bool barrier = true;  // commit_barrier; else commit
  bool in_place = false;
  std::vector<MemberPlan> members;
};

struct Plan {
  std::uint64_t seed = 0;
  int spares = 0;
  bool threads = false;  // MPI_THREAD_MULTIPLE
  int steps = 10;
  int pause_us = 0;         // after each step
  bool tolerated = true;    // the policies cover all deaths, whenever they come
  bool relaunched = false;  // all die, and the next job goes on
  bool damage = false;      // bits are flipped
  bool release = true;      // spares return from Fenix_Init at the end
  std::string resume = "jump";
  std::string interposed = "no";    // else libfenix_mpi is preloaded, and newcomm is "null" or "given"
  int persist_copies = 0;           // of messages on persistent communicators; 0: there are none
  bool persist_is_covered = false;  // the copies cover all deaths, whenever they come
  std::vector<GroupPlan> groups;
};

Plan read_plan(const std::string& file);

}  // namespace torture
