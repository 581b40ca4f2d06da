// SPDX-License-Identifier: BSD-3-Clause
// The state of a process, which survives jumps, and its end when something is wrong.
#pragma once

#include <fenix.hpp>
#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "contents.hpp"
#include "plan.hpp"

namespace torture {

/// In resume mode "return": a call was cut short by a failure. Thrown by the application itself.
struct Cut {};

/// The member that says which step a snapshot has. Any rank's tells all.
struct Record {
  std::int64_t step = -1;
  std::int64_t base = 0;   // the first step on a communicator of this size
  std::int64_t ranks = 0;  // of the communicator that stored
};

constexpr int kRecordMember = 1000;

struct GroupState {
  Record record;                                  // source buffer of kRecordMember
  std::int64_t next = 0;                          // step to be stored
  std::int64_t base = 0;                          // the step from which on all is stored anew
  std::int64_t committed = -1;                    // the newest step known to be committed on all ranks
  std::vector<Bytes> owned;                       // by member
  std::vector<std::span<unsigned char>> buffers;  // by member: owned, or the library's
};

struct State {
  Plan plan;
  Contents contents{plan};
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm own = MPI_COMM_NULL;  // for the program's own collective calls: comm, or one that libfenix_mpi repairs
  int role = -1;
  int error = 0;
  int rank = -1;
  int ranks = 0;
  int world_rank = -1;
  std::vector<GroupState> groups;
  bool stamps_moved = false;  // snapshots were lost: time stamps are not steps any more
  std::int64_t repairs = 0;
  std::int64_t restores = 0;
  std::int64_t bytes_checked = 0;
};

extern State state;

/// kind: "wrong" for bytes, time stamps and codes; "lost" for committed data that cannot be restored.
[[noreturn]] void fail(const std::string& kind, const std::string& what);
void require(bool condition, const std::string& what);
/// For codes of Fenix. Throws Cut if the call was cut short in resume mode "return".
int good(int code, const std::string& call);
void success(int code, const std::string& call);
/// For codes of MPI.
void mpi(int code);
/// Whether a handle still stands for a communicator. MPI_COMM_SELF returns errors.
bool is_valid(MPI_Comm comm);
MPI_Datatype mpi_type(Type type);

void store_step(int group, std::int64_t step);
/// Creates the groups, or takes them up again, and checks what they have.
void resume();
/// At times: looks at what is stored, without a reason.
void inspect(int group);

}  // namespace torture
