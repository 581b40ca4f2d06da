// SPDX-License-Identifier: BSD-3-Clause
// The rows: each is a wrong argument, a test of its own, and a line of the page "Wrong arguments" of the site.
#pragma once

#include <fenix.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bad_input {

/// A call's return value and text.
struct Outcome {
  Outcome(int returned) : code(returned), text(Fenix_Error_message()) {}  // NOLINT: a code is all that calls return
  int code;
  std::string text;
};

/// The ranks that get the error. The test of the row follows from it.
enum class Told {
  here,    ///< the rank that makes the mistake; the call needs no other rank to find it
  all,     ///< all ranks, also if one rank only makes the mistake: the text of the others names that rank
  same,    ///< as all; but the argument must be the same on all ranks, so all make the mistake
  differs  ///< all ranks: the mistake is that they give different arguments
};

struct Row {
  std::string function;
  std::string argument;  ///< the wrong one, in words
  int code;
  std::string named;  ///< in the text of the rank that makes the mistake
  Told told;
  /// Makes the call, with the wrong argument or with a right one, and cleans up. Runs on all ranks.
  std::function<Outcome(bool wrong)> call;
};

using Rows = std::vector<Row>;

// What there is while the rows run. The main group keeps two snapshots, the other one has none.
constexpr int kGroup = 3;
constexpr int kOtherGroup = 4;
constexpr int kUnknown = 99;
constexpr int kMember = 5;     ///< doubles; stored and committed
constexpr int kGrowing = 6;    ///< bytes, FENIX_RESIZEABLE; never stored
constexpr int kNew = 7;        ///< made by rows that need a member that was never stored
constexpr int kCount = 40;     ///< elements of kMember
constexpr int kNewCount = 10;  ///< elements of kNew

extern MPI_Comm comm;
extern int rank;
extern double buffer[kCount];

/// True on the rank that makes mistakes alone.
[[nodiscard]] bool first_of_two_kinds();

/// A policy's values that are right.
int* good_policy();

/// Makes a member of kNewCount doubles, calls body, deletes the member again. source: its buffer.
Outcome with_new_member(void* source, const std::function<Outcome()>& body);

/// A subset, deleted at the end.
class Subset {
 public:
  Subset(int blocks, int first, int last, int stride);
  ~Subset();
  Subset(const Subset&) = delete;
  Subset& operator=(const Subset&) = delete;
  operator Fenix_Data_subset() const { return subset_; }  // NOLINT: it stands for it

 private:
  Fenix_Data_subset subset_{};
};

/// A function of the interface with valid arguments, except the ids.
struct Function {
  enum class Needs {
    nothing,  ///< may be called at any time
    init,
    group,   ///< a group on this rank
    member,  ///< and a member in it
    closed   ///< that has no file open
  };
  std::string name;
  Needs needs;
  bool attached;  ///< the group has to have been created since the latest repair or time-out
  std::function<Outcome(int group, int member)> call;
};

/// All functions of checkpoint.h, process.h, data.h, large.h, mlog.h and store.h.
const std::vector<Function>& functions();

void add_process_rows(Rows& rows);
void add_group_rows(Rows& rows);
void add_member_rows(Rows& rows);
void add_attribute_rows(Rows& rows);
void add_subset_rows(Rows& rows);
void add_staging_rows(Rows& rows);
void add_storing_rows(Rows& rows);
void add_committing_rows(Rows& rows);
void add_restoring_rows(Rows& rows);
void add_store_rows(Rows& rows);
/// Checkpoints that do not block, in a program that runs without libfenix_mpi.
void add_rows_without_library(Rows& rows);
/// What holds for all functions: unknown groups and members, open files.
void add_common_rows(Rows& rows);

/// Rows of Fenix_Init; they run before it has been called with success.
Rows init_rows();
/// Each function that needs Fenix_Init, called outside of its use. when: "before Fenix_Init" or "after Fenix_Finalize".
Rows outside_rows(const std::string& when);
/// Rows that end by FENIX_TIMEOUT; they need a program run of their own, where it is short.
Rows timeout_rows();
/// And with it: the program bad_input_checkpoints runs them.
Rows rows_with_library();
/// Calls on a group that has not been created again.
Rows detached_rows();

}  // namespace bad_input
