// SPDX-License-Identifier: BSD-3-Clause
// Data of the simulated program, which a process keeps, and functions that all parts of it need.
#pragma once

#include <fenix.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "judge.hpp"

namespace fenix_simulation::program {

inline constexpr int kFirstGroup = 7;
inline constexpr int kRecordMember = 90;
inline constexpr int kTail = 3;  // elements behind a member, which a restore must not touch
inline constexpr std::uint8_t kPattern = 0xc7;

/// The first member of each group, which says what the others are.
struct Record {
  std::int64_t step = -1;
  std::int64_t base = 0;
  std::int64_t ranks = 0;
  Attempts attempts{};

  /// Returns the attempt in which its step was stored.
  [[nodiscard]] std::int64_t attempt() const {
    return step < 0 ? 0 : attempts[static_cast<std::size_t>(step) % attempts.size()];
  }
  [[nodiscard]] Contents contents() const { return {static_cast<int>(step), static_cast<int>(base), attempts}; }
};
inline constexpr int kRecordNumbers = sizeof(Record) / sizeof(std::int64_t);

struct Snapshot {
  int stamp = -1;
  int step = -1;
};

struct GroupState {
  int next = 0;  ///< step
  int base = 0;
  std::int64_t attempt = 0;  ///< of the next steps
  Attempts attempts{};
  std::vector<Snapshot> snapshots;  ///< of this rank, newest first: only where some are deleted
  Record record;
  std::vector<std::vector<std::byte>> buffers;
};

extern MPI_Comm comm;
extern int role;
extern int error;
extern int rank;
extern int ranks;
extern std::vector<GroupState> groups;

inline const Workload& plan() { return *judge_plan(); }
inline const GroupPlan& plan_of(int group) { return plan().groups[static_cast<std::size_t>(group)]; }
inline GroupState& state_of(int group) { return groups[static_cast<std::size_t>(group)]; }
inline int group_count() { return static_cast<int>(plan().groups.size()); }

inline void require(bool holds, const char* promise, const char* what, long a = 0, long b = 0) {
  if (!holds) judge_broken(promise, "rank %d: %s (%ld, %ld): %s", rank, what, a, b, Fenix_Error_message());
}

/// Returns the code of a call. Where a rank is silent, the application gives up.
inline int told(int code, const char* call) {
  if (code == FENIX_ERROR_TIMEOUT) judge_waited(call);
  return code;
}

inline void success(int code, const char* call) { require(told(code, call) == FENIX_SUCCESS, "P1", call, code); }

/// Returns whether a call of the store has succeeded. If not, the judge decides whether it may fail.
inline bool stored(int code, const char* call) {
  const bool fails = code == FENIX_ERROR_STORE || code == FENIX_ERROR_NODATA_FOUND;
  if (fails) judge_store_fails(call, code, Fenix_Error_message());
  require(code == FENIX_SUCCESS || fails, "P10", call, code);
  return code == FENIX_SUCCESS;
}

inline void mpi(int code, const char* call) { require(code == MPI_SUCCESS, "P4", call, code); }

inline std::size_t bytes_of(const MemberPlan& member) { return member.bytes ? 1 : sizeof(std::uint32_t); }

inline MPI_Datatype type_of(const MemberPlan& member) { return member.bytes ? MPI_BYTE : MPI_INT; }

inline void write(std::vector<std::byte>& buffer, const MemberPlan& member, int element, std::uint32_t value) {
  const std::size_t bytes = bytes_of(member);
  std::memcpy(&buffer[static_cast<std::size_t>(element) * bytes], &value, bytes);
}

inline std::vector<std::byte> room_for(const MemberPlan& member, int owner) {
  const auto elements = static_cast<std::size_t>(member.count_on(owner) + kTail);
  return std::vector<std::byte>(elements * bytes_of(member), std::byte{kPattern});
}

/// Creates the groups, defines their members, and restores what there is. All ranks have the same then.
void take_up();
/// Reads what was committed, after some commits: what is there, and what has gone.
void inspect(int group, int step);
/// Writes what was committed into the store, and asks what is there.
void use_store(int group, int step, int stamp);
/// Fetches an older dataset, and goes on from it.
void go_back(int group, int step);
/// Restores what was fetched by the name of a step.
void restore_fetched(int group, int wanted);
/// Notes a snapshot for deletions.
void note_snapshot(int group, Snapshot snapshot);

}  // namespace fenix_simulation::program
