// SPDX-License-Identifier: BSD-3-Clause
// All that the program tells the judge. These functions are of the simulator; the program is a simulated process.
#pragma once

#include "workload.hpp"

extern "C" {
/// Returns the work of the schedule.
const fenix_simulation::Workload* judge_plan();
/// The program has control, as this rank of so many.
void judge_resumed(int rank, int ranks, int role);
void judge_refused(int code);
/// Returns the number of the job, from 0 on.
int judge_job();
void judge_begins_commit(int group, int step, std::int64_t attempt);
/// A commit has returned. barrier: all ranks have it.
void judge_committed(int group, int step, std::int64_t attempt, int barrier);
/// The flag of a group that was created.
void judge_created(int group, int flag);
/// All that a rank got back. step −1: nothing.
void judge_restored(int group, int step, std::int64_t attempt);
/// All that the ranks have read of a snapshot of another number of ranks. step −1: nothing.
void judge_read_old(int group, int step, std::int64_t attempt);
/// A snapshot is in the store, as the library tells.
void judge_in_store(int group, int step, std::int64_t attempt, int by_name);
/// Returns the step whose dataset is to be fetched after a commit, or −1.
int judge_fetches(int group, int step, std::int64_t attempt);
/// All that has come of it. step −1: nothing was found.
void judge_fetched(int group, int wanted, int step, std::int64_t attempt);
/// The store could not be used. Ends the schedule if it has to be usable; comes back if the program goes on without.
void judge_store_fails(const char* call, int code, const char* text);
/// A member of a snapshot is not to be had. Ends the schedule if it has to be. is_old: the snapshot is from before the communicator shrank.
void judge_lost(int group, int member, int step, int is_old);
/// A rank has nothing of a group, of which others have a step.
void judge_bare(int group, int step);
/// A flush has begun, and ended.
void judge_flush_begins();
void judge_flush_ends();
/// All ranks have compared what they got.
void judge_agreed(int group, int step);
/// A call has waited for longer than others may take: for a rank that the schedule has stopped. Ends the schedule in any case.
void judge_waited(const char* call);
/// The rank is about to delete the snapshot of a step. older: the step of the next older one, or −1.
void judge_deletes(int group, int step, int older);
void judge_deleted(int group, int step);
/// The program comes to its end: what is in memory goes.
void judge_finishes();
void judge_done(int code);
/// The program gives up, as nobody knows what is in the store. Ends the schedule.
[[noreturn]] void judge_gives_up();
/// A promise is broken as this process sees it.
[[noreturn]] void judge_broken(const char* promise, const char* format, ...);
}
