// SPDX-License-Identifier: BSD-3-Clause
// Staging, storing, committing.
#include <fenix.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "api/c/groups.hpp"
#include "api/c/subsets.hpp"

using namespace fenix_impl;

namespace {

/// Members and elements of a store. check() reports errors later, at the point where the ranks meet, so that all learn
/// of them.
class Wanted {
 public:
  Wanted(const Group& group, int member_id, const Fenix_Data_subset& subset, const char* argument) {
    if (member_id != FENIX_DATA_MEMBER_ALL) {
      one_ = &member_of(group, member_id);
    } else {
      for (const auto& member : group.members()) all_.push_back(member.get());
    }
    try {
      selection_ = selection_of(subset, argument);
    } catch (const Error& error) {
      error_ = error;
    }
  }

  /// Gets the members: one, or all in the order of their creation.
  [[nodiscard]] std::span<Member* const> members() const {
    return one_ != nullptr ? std::span<Member* const>(&one_, 1) : all_;
  }
  [[nodiscard]] const Selection& selection() const { return selection_; }

  void check() const {
    if (error_) throw Error(*error_);
    for (const Member* member : members()) require_closed(*member);
  }

 private:
  Member* one_ = nullptr;
  std::vector<Member*> all_;
  Selection selection_ = Selection::some({});
  std::optional<Error> error_;
};

Selection stageable(const Fenix_Data_subset& subset) {
  Selection selection = selection_of(subset, "subset_specifier");
  if (selection.kind == Selection::Kind::staged) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "subset_specifier is FENIX_DATA_SUBSET_PRESTAGED");
  }
  return selection;
}

/// Measures the time that a call takes, where something depends on it.
class Timed {
 public:
  explicit Timed(const Group& group) : schedule_(runtime().storage().planner().measured_schedule(group)) {
    if (schedule_ != nullptr) begin_ = CommitSchedule::Clock::now();
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() {
    if (schedule_ != nullptr) schedule_->note_work(CommitSchedule::Clock::now() - begin_);
  }

 private:
  CommitSchedule* schedule_;
  CommitSchedule::Clock::time_point begin_;
};

int store(int group_id, int member_id, const Fenix_Data_subset& subset) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const Timed timed(group);
    const Wanted wanted(group, member_id, subset, "subset_specifier");
    group.stores().store(wanted.members(), wanted.selection(), [&] { wanted.check(); });
    return FENIX_SUCCESS;
  });
}

int istore(int group_id, int member_id, const Fenix_Data_subset& subset, Fenix_Request* request) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const Wanted wanted(group, member_id, subset, "subset_specifier");
    const std::uint64_t id = runtime().requests().next_id();
    auto made = group.stores().store_asynchronously(wanted.members(), wanted.selection(), id, [&] {
      require(request, "request");
      wanted.check();
    });
    runtime().requests().add(std::move(made), group_id);
    *request = {id};
    return FENIX_SUCCESS;
  });
}

/// Reports the result of a request that has ended, and removes the request.
int result_of(const Request& request, int group_id) {
  if (request.state() == Request::State::failed) {
    if (runtime().has_group(group_id)) runtime().group(group_id).requests().tell_of_failure(request);
    const Error error(request.error());
    runtime().requests().remove(request.id());
    throw Error(error);
  }
  runtime().requests().remove(request.id());
  if (request.state() == Request::State::cancelled) {
    throw Error(FENIX_ERROR_CANCELLED, "the request was cancelled by a failure, or with its group");
  }
  return FENIX_SUCCESS;
}

/// Waits for a flush, and removes its request.
int end_flush(std::uint64_t request_id, std::uint64_t flush) {
  Storage& storage = runtime().storage();
  while (!storage.flushes().outcome(flush)) Flushing::wait_a_little();
  runtime().requests().remove(request_id);
  storage.flushes().check_result(flush);
  return FENIX_SUCCESS;
}

enum class AfterCommit { nothing, barrier, cleanup };

int commit_group(int group_id, int* time_stamp, AfterCommit after) {
  Group& group = runtime().working_group(group_id);
  int unwanted = 0;
  int& made = time_stamp != nullptr ? *time_stamp : unwanted;
  {
    const Timed timed(group);
    if (after == AfterCommit::barrier) {
      group.commit_on_all(made);
    } else {
      made = group.commit();
    }
  }
  runtime().storage().after_commit(group);
  if (after == AfterCommit::cleanup) group.clean_up();
  return FENIX_SUCCESS;
}

int commit(int group_id, int* time_stamp, AfterCommit after) {
  return ready_entry([&]() -> int { return commit_group(group_id, time_stamp, after); });
}

/// The arguments of Fenix_Data_checkpoint.
struct CheckpointArguments {
  int group_id = 0;
  const Fenix_Data_subset& subset;
  int num_storev = 0;
  const int* storev_ids = nullptr;
  int* time_stamp = nullptr;
};

int checkpoint(const CheckpointArguments& arguments, AfterCommit after) {
  return ready_entry([&]() -> int {
    const int num_storev = arguments.num_storev;
    Group& group = runtime().working_group(arguments.group_id);
    if (runtime().region_logs().in_use()) runtime().region_logs().meet_at_checkpoint();
    const Wanted wanted(group, FENIX_DATA_MEMBER_ALL, arguments.subset, "subset");
    group.stores().store_to_commit(wanted.members(), wanted.selection(), [&] {
      if (num_storev < 0 && num_storev != FENIX_STOREV_ALL) {
        throw Error(FENIX_ERROR_INVALID_ARGUMENT, named("num_storev", num_storev) + " is negative");
      }
      if (num_storev > 0) require(arguments.storev_ids, "storev_ids");
      for (int i = 0; i < num_storev; ++i) (void)member_of(group, arguments.storev_ids[i]);
      wanted.check();
    });
    const int code = commit_group(arguments.group_id, arguments.time_stamp, after);
    if (code == FENIX_SUCCESS) runtime().region_logs().note_checkpoint(after == AfterCommit::barrier);
    return code;
  });
}

/// Does it on all ranks, and once more if a failure has cut it short. No rank goes on before all have committed. So if one has gone on, the
/// snapshot is there after the repair, and the others find it.
int checkpoint_inline(const CheckpointArguments& arguments) {
  const Runtime::RepeatedCall repeated;
  for (;;) {
    int next = 0;
    const int repairs = runtime().process().repair().count();
    int code = ready_entry([&]() -> int {
      const Group& group = runtime().attached_group(arguments.group_id);
      next = group.parameters().time_stamp_of(group.log().last().next());
      return FENIX_SUCCESS;
    });
    if (code == FENIX_SUCCESS) code = checkpoint(arguments, AfterCommit::barrier);
    if (code != FENIX_ERROR_CANCELLED || runtime().process().repair().count() == repairs) return code;
    bool is_there = false;
    code = ready_entry([&]() -> int {
      const std::vector<int> stamps = runtime().attached_group(arguments.group_id).snapshots().on_all();
      is_there = std::find(stamps.begin(), stamps.end(), next) != stamps.end();
      return FENIX_SUCCESS;
    });
    if (is_there && arguments.time_stamp != nullptr) *arguments.time_stamp = next;
    if (is_there || (code != FENIX_SUCCESS && code != FENIX_ERROR_CANCELLED)) return code;
  }
}

}  // namespace

extern "C" {

const Fenix_Request FENIX_REQUEST_NULL = {0};

int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier) {
  return ready_entry([&]() -> int {
    Group& group = runtime().attached_group(group_id);
    group.staging().stage(closed_member_of(group, member_id), stageable(subset_specifier));
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_stage_inplace(int group_id, int member_id, void* buf, const Fenix_Data_subset subset_specifier) {
  return ready_entry([&]() -> int {
    Group& group = runtime().attached_group(group_id);
    Member& member = closed_member_of(group, member_id);
    require(buf, "buf");
    const bool is_own = group.staging().is_staging_area(member, buf);
    group.staging().stage_from(member, buf, stageable(subset_specifier));
    if (!is_own) std::free(buf);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_stage_memory(int group_id, int member_id, void** memory) {
  return ready_entry([&]() -> int {
    Group& group = runtime().attached_group(group_id);
    Member& member = closed_member_of(group, member_id);
    require(memory, "memory");
    *memory = group.staging().staging_area(member).data();
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_stage_begin(int group_id, int member_id, FILE** file) {
  return ready_entry([&]() -> int {
    Group& group = runtime().attached_group(group_id);
    Member& member = closed_member_of(group, member_id);
    require(file, "file");
    *file = group.staging().open(member);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_stage_end(int group_id, int member_id) {
  return ready_entry([&]() -> int {
    close_if_ended(group_id, member_id, FileUse::staging);
    Group& group = runtime().attached_group(group_id);
    Member& member = member_of(group, member_id);
    if (!member.is_staging_file()) {
      throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, named("member_id", member_id) + " is not open for staging");
    }
    group.staging().close(member);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier) {
  return store(group_id, member_id, subset_specifier);
}

int Fenix_Data_member_storev(int group_id, int member_id, const Fenix_Data_subset subset_specifier) {
  return store(group_id, member_id, subset_specifier);
}

int Fenix_Data_member_istore(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                             Fenix_Request* request) {
  return istore(group_id, member_id, subset_specifier, request);
}

int Fenix_Data_member_istorev(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                              Fenix_Request* request) {
  return istore(group_id, member_id, subset_specifier, request);
}

int Fenix_Data_wait(Fenix_Request request) {
  return ready_entry([&]() -> int {
    const auto found = runtime().requests().find(request.impl);
    if (found.flush != 0) return end_flush(request.impl, found.flush);
    if (!found.request) return FENIX_SUCCESS;
    if (found.request->pending()) runtime().attached_group(found.group_id).requests().wait_for(*found.request);
    return result_of(*found.request, found.group_id);
  });
}

int Fenix_Data_test(Fenix_Request request, int* flag) {
  return ready_entry([&]() -> int {
    require(flag, "flag");
    *flag = 1;
    const auto found = runtime().requests().find(request.impl);
    if (found.flush != 0) {
      *flag = runtime().storage().flushes().outcome(found.flush) ? 1 : 0;
      return *flag != 0 ? end_flush(request.impl, found.flush) : FENIX_SUCCESS;
    }
    if (!found.request) return FENIX_SUCCESS;
    if (found.request->pending() && !runtime().attached_group(found.group_id).requests().is_finished(*found.request)) {
      *flag = 0;
      return FENIX_SUCCESS;
    }
    return result_of(*found.request, found.group_id);
  });
}

int Fenix_Data_commit(int group_id, int* time_stamp) { return commit(group_id, time_stamp, AfterCommit::nothing); }

int Fenix_Data_commit_barrier(int group_id, int* time_stamp) {
  return commit(group_id, time_stamp, AfterCommit::barrier);
}

int Fenix_Data_commit_cleanup(int group_id, int* time_stamp) {
  return commit(group_id, time_stamp, AfterCommit::cleanup);
}

int Fenix_Data_cleanup(int group_id) {
  return ready_entry([&]() -> int {
    runtime().working_group(group_id).clean_up();
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_barrier(int group_id) {
  return ready_entry([&]() -> int {
    runtime().make_consistent(group_id);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_checkpoint(int group_id, const Fenix_Data_subset subset, int num_storev, int* storev_ids,
                          int* time_stamp) {
  const CheckpointArguments arguments{group_id, subset, num_storev, storev_ids, time_stamp};
  if (!runtime().policy().repeats_calls()) return checkpoint(arguments, AfterCommit::nothing);
  return checkpoint_inline(arguments);
}

int Fenix_Data_checkpointv(int group_id, const Fenix_Data_subset subset, int* time_stamp) {
  return Fenix_Data_checkpoint(group_id, subset, FENIX_STOREV_ALL, nullptr, time_stamp);
}

int Fenix_Data_snapshot_delete(int group_id, int time_stamp) {
  return ready_entry([&]() -> int {
    Group& group = runtime().attached_group(group_id);
    // As in the current Fenix: −1 comes about by mistake, and what is deleted is gone for good.
    if (time_stamp == FENIX_DATA_SNAPSHOT_LATEST) {
      throw Error(FENIX_ERROR_INVALID_TIMESTAMP, named("time_stamp", time_stamp) + " is negative");
    }
    group.delete_snapshot(choice_of(time_stamp));
    runtime().storage().lease().forget_snapshot(group, time_stamp);
    return FENIX_SUCCESS;
  });
}

}  // extern "C"
