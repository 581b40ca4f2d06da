// SPDX-License-Identifier: BSD-3-Clause
// Programs, and what their calls are on each rank: with all arguments, and what they have to give.
#pragma once

#include <fenix.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orders/model.hpp"
#include "orders/picked.hpp"

namespace fenix_orders {

enum class Op {
  fill,
  store,
  istore,
  prestaged,
  stage,
  stage_inplace,
  stage_memory,
  old_memory,
  stage_file,
  wait,
  commit,
  restore,
  lrestore,
  restore_from,
  load_file,
  query,
  attribute,
  set_count,
  set_buffer,
  define,
  allocate,
  create_member,
  delete_member,
  delete_snapshot,
  barrier,
  cleanup,
  create_group,
  delete_group,
  set_policy,
  set_in_place,
  verify,
  kill,
  bad_store,
  checkpoint,
  store_all,
  istore_all,
  repair,
  kOps
};

/// A call of all ranks, or of some. Its arguments come from its seed and from what there is when it is made, so that a
/// program remains one when calls are taken out.
struct Call {
  Op op = Op::fill;
  int group = 0;
  int member = 0;
  std::uint64_t seed = 0;
};

struct Program {
  std::uint64_t seed = 0;
  int ranks = 1;
  std::vector<Call> calls;
};

/// Contents that a rank really has.
struct Real {
  int rank = 0;
  MPI_Comm comm = MPI_COMM_WORLD;               ///< of the groups
  std::map<int, std::vector<std::byte>> owned;  ///< buffers, by number
  std::map<int, std::byte*> buffers;            ///< the same, and those of the library
  std::map<int, void*> lent;
  std::map<int, Fenix_Request> requests;
  std::map<std::pair<int, int>, std::unique_ptr<std::pair<const Kind*, int>>> contexts;  ///< of serializers
};

/// Does a step on a rank. Returns the difference from what was expected.
using Work = std::function<std::string(Real&)>;

struct Step {
  std::string text;
  Work work;
  bool commits = false;
};

/// The work of all ranks up to the next deaths.
struct Phase {
  std::vector<std::vector<Step>> steps;  ///< by rank
  std::vector<int> dying;                ///< after it
  /// By rank: where the steps begin in which others may meet the deaths. Empty: all ranks do all steps first.
  std::vector<std::size_t> open_from;
  /// By rank: the step that a dying one does not do any more.
  std::vector<std::size_t> dies_before;
  /// The group whose commits are cut short by the deaths; or, if its time stamps are here, to be looked at after the phase.
  int cut_group = kNone;
  /// The newest time stamp, kNone if there is none, after 0, 1, … of these commits.
  std::vector<int> stamps;
};

/// Converts a program into phases by executing it on the model.
class Planner {
 public:
  Planner(const Program& program, bool describes, int most_deaths = 1000);
  /// Returns false if there is none.
  bool next(Phase& phase);
  /// Says how many of the commits that deaths have cut short are there. Otherwise, all are.
  void tell(int commits);

 private:
  void apply(const Call& call);

  // Calls that need a member: false if it cannot be made.
  void fill(Group& group, Member& member);
  void store(Group& group, Member& member, bool asynchronous, bool prestaged);
  void bad_store(Group& group, Member& member);
  void stage(Group& group, Member& member);
  void stage_inplace(Group& group, Member& member);
  void stage_memory(Group& group, Member& member);
  void old_memory(Group& group, Member& member);
  void stage_file(Group& group, Member& member);
  void restore(Group& group, Member& member, Op op);
  void repair(Group& group, Member& member);
  void load_file(Group& group, Member& member);
  void attribute(Group& group, Member& member);
  void set_count(Group& group, Member& member);
  void set_buffer(Group& group, Member& member);
  void define(Group& group, int id, bool only_new);
  void allocate(Group& group, int id);
  void delete_member(Group& group, Member& member);
  void wait();
  void commit(Group& group);
  void checkpoint(Group& group);
  void store_all(Group& group, bool asynchronous);
  void query(Group& group);
  void delete_snapshot(Group& group);
  void barrier(Group& group);
  void cleanup(Group& group);
  void create_group(int id);
  void delete_group(Group& group);
  void set_policy(Group& group);
  void set_in_place(Group& group);
  void verify(Group& group);
  void kill();
  [[nodiscard]] bool loses_knowledge() const;
  void store_while_dying(Group& group);
  void cut_short(Phase& phase);
  void create_again();
  void take_up();
  void take_up(Group& group, Member& member);
  void take_up_allocated(Group& group, Member& member, int rank);
  void check_buffers();

  // Parts of them.
  int new_buffer(int rank, const Group& group, const Member& member, int kind);
  void need_buffer(Group& group, Member& member, int rank);
  void finish_requests(int group, std::optional<int> member);
  void wait_for(Asked& asked, bool tests);
  void set_attribute(int rank, const Group& group, Member& member, int buffer);
  void commit_on_all(Group& group, int form);
  Picked picked_of_all(const Group& group, Random& random, bool prestaged);
  void store_each(Group& group, int rank, const Picked& picked, bool asynchronous);
  [[nodiscard]] Policy some_policy();

  /// text() is called only if somebody wants to read the program.
  template <class Text>
  void add(int rank, Text&& text, Work work) {
    phase_->steps[static_cast<std::size_t>(rank)].push_back({describes_ ? text() : std::string(), std::move(work)});
  }
  [[nodiscard]] Random random_of(int rank) const { return Random(call_->seed, static_cast<std::uint64_t>(rank) + 1); }

  const Program& program_;
  bool describes_;
  int deaths_left_;
  std::size_t at_ = 0;
  bool needs_rejoin_ = false;
  bool is_created_again_ = false;
  int cut_group_ = kNone;
  std::vector<Group> outcomes_;         ///< of the group after 0, 1, … of its commits
  std::vector<std::size_t> open_from_;  ///< by rank
  Phase* phase_ = nullptr;
  const Call* call_ = nullptr;
  Random random_{0};
  Model model_;
  std::vector<int> dying_;
};

/// Returns a program that has its seed.
Program program_of(std::uint64_t seed);

/// Result of a program.
struct Verdict {
  std::string difference;  ///< empty: none
  int steps = 0;
};
Verdict execute(const Program& program);
std::string text_of(const Program& program);

// --------------------------------------------------------------------------------------------- for the work of steps

/// Says if a code is another one than expected.
std::string expect_code(const char* call, int code, int expected);

/// Calls a function, or its twin with large counts.
template <class Small, class Large, class... Arguments>
int either(bool large, Small* small, Large* twin, Arguments... arguments) {
  return large ? twin(arguments...) : small(arguments...);
}

inline MPI_Datatype type_of(int kind) { return kinds()[static_cast<std::size_t>(kind)].type; }
inline std::string number(int value) { return std::to_string(value); }

}  // namespace fenix_orders
