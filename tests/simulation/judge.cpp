// SPDX-License-Identifier: BSD-3-Clause
// All that the program tells goes to the ledger, and what that finds wrong ends the schedule.
#include "judge.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "court.hpp"
#include "disk.hpp"
#include "mpi/state.hpp"
#include "spawn.hpp"

namespace fenix_simulation {
namespace {

Court* present_court = nullptr;

}  // namespace

Court::Court(const Workload& its_plan) : plan(its_plan), ledger(its_plan), store(its_plan) { present_court = this; }
Court::~Court() { present_court = nullptr; }
Court& court() { return *present_court; }

bool Court::has_only_died() const {
  const auto& happened = world().happened();
  const bool is_alone = std::all_of(happened.begin(), happened.end(), [](const Happened& each) {
    return world().events()[each.event].what == Event::What::job_dies;
  });
  const auto& all = world().processes();
  return is_alone && finishing != job && disk_faults() == 0 && plan.later_ranks == 0 &&
         std::none_of(all.begin(), all.end(), [this](const Process& each) { return each.job == job && each.exited; });
}

void Court::begin_job(int number) {
  store.end_job(plan.ranks_of(job), has_only_died());
  job = number;
  ledger.begin_job(plan.ranks_of(number), number * kNumbersOfJob);
  faults_before = disk_faults();
}

namespace {

int own_number() { return present_process()->number; }

/// Waits that end by a time-out are none of the promises, also where the program does not hear of them.
void look_for_hidden_wait() {
  const auto& happened = world().happened();
  // Those for a keeper, or for a disk, have limits of their own.
  if (happened.empty() || world().has_stopped_for(1) || court().plan.has_store()) return;
  if (world().now() - happened.back().time > static_cast<Time>(court().plan.timeout) * 750'000'000)
    world().violate("goes on only after a time-out", "P4");
}

bool is_promised() { return disk_faults() == court().faults_before && !court().ledger.has_shrunk(); }

StoreLedger::Promised promised(int group) {
  if (!is_promised()) return StoreLedger::Promised::nothing;
  return court().ledger.may_lose(group) ? StoreLedger::Promised::store : StoreLedger::Promised::memory;
}

int own_rank() { return court().ledger.rank_of(own_number()); }

/// Keepers that die, and ranks that stop for a moment.
bool harms_no_rank(const Happened& happened) {
  constexpr Time kMoment = 500'000'000;
  const Event& event = world().events()[happened.event];
  const bool is_keeper = event.process >= kFirstKeeper && event.process < kNumbersOfJob;
  return event.what == Event::What::stop ? event.later < kMoment : event.what == Event::What::die && is_keeper;
}

/// A commit that only a file system delays takes no longer than the library waits for one flush; so do the ranks that it waits for.
void look_at_delay() {
  constexpr Time kSecond = 1'000'000'000;
  const Workload& plan = court().plan;
  const auto& happened = world().happened();
  if (!plan.has_store() || !std::all_of(happened.begin(), happened.end(), harms_no_rank)) return;
  const Time patience = kSecond * static_cast<Time>(std::min(plan.flush_timeout, plan.timeout / 4));
  const Time length = world().now() - court().begun[own_number()];
  // A flush that another rank has given up may be waited for, if the keeper that was told has died.
  const Time most = disk_faults() > 0 || !happened.empty() ? 2 * patience + kSecond : 2 * kSecond;
  if (length > most) world().violate("a commit has waited for " + std::to_string(length / 1'000'000) + " ms", "P11");
}

void hear(const std::string& complaint, const char* promise) {
  if (!complaint.empty()) world().violate(complaint, promise);
}

template <class Text>
void tell(std::uint64_t what, Text&& text) {
  world().note(what, [&] { return "program: " + text(); });
}

}  // namespace
}  // namespace fenix_simulation

using namespace fenix_simulation;

extern "C" {

const Workload* judge_plan() { return &court().plan; }

void judge_resumed(int rank, int ranks, int role) {
  tell(static_cast<std::uint64_t>(rank * 64 + ranks), [&] {
    return "goes on as rank " + std::to_string(rank) + " of " + std::to_string(ranks) + ", role " +
           std::to_string(role);
  });
  look_for_hidden_wait();
  hear(court().ledger.resumed(own_number(), rank, ranks), "P3");
}

void judge_refused(int code) {
  tell(static_cast<std::uint64_t>(-code), [&] { return "Fenix_Init has failed: " + std::to_string(code); });
  if (world().happened().empty())
    world().violate("Fenix_Init has failed without a death: " + std::to_string(code), "P3");
  ++court().refusals;
}

int judge_job() { return court().job; }

void judge_begins_commit(int group, int step, std::int64_t attempt) {
  court().ledger.begins_commit(group, own_rank(), step);
  court().begun[own_number()] = world().now();
  court().store.begins_commit(group, step, attempt);
}

void judge_committed(int group, int step, std::int64_t attempt, int barrier) {
  tell(static_cast<std::uint64_t>(step * 8 + group), [&] {
    return "has committed step " + std::to_string(step) + " of group " + std::to_string(group) +
           (barrier != 0 ? ", as all" : "");
  });
  court().ledger.committed(group, own_rank(), step, barrier != 0);
  court().store.committed(group, own_rank(), step, attempt, barrier != 0);
  look_at_delay();
}

void judge_created(int group, int flag) { hear(court().ledger.created(group, own_rank(), flag), "P1"); }

void judge_restored(int group, int step, std::int64_t attempt) {
  tell(static_cast<std::uint64_t>(step + 1) * 8 + static_cast<std::uint64_t>(group),
       [&] { return "has restored step " + std::to_string(step) + " of group " + std::to_string(group); });
  hear(court().ledger.restored(group, own_rank(), step), "P1");
  // Without, the program has looked for snapshots of another number of ranks.
  if (step >= 0) hear(court().store.restored(group, step, attempt, promised(group)), "P10");
}

void judge_read_old(int group, int step, std::int64_t attempt) {
  tell(static_cast<std::uint64_t>(step + 1) * 8 + static_cast<std::uint64_t>(group),
       [&] { return "has read the old step " + std::to_string(step) + " of group " + std::to_string(group); });
  hear(court().ledger.read_old(group, own_rank(), step), "P1");
  hear(court().store.restored(group, step, attempt, promised(group)), "P10");
}

void judge_in_store(int group, int step, std::int64_t attempt, int by_name) {
  tell(static_cast<std::uint64_t>(step) * 8 + static_cast<std::uint64_t>(group),
       [&] { return "step " + std::to_string(step) + " of group " + std::to_string(group) + " is in the store"; });
  court().store.told(group, step, attempt, by_name != 0);
}

int judge_fetches(int group, int step, std::int64_t attempt) {
  const int chosen = court().store.step_to_fetch(group, step, attempt);
  if (chosen >= 0) court().ledger.goes_back(group);
  return chosen;
}

void judge_fetched(int group, int wanted, int step, std::int64_t attempt) {
  tell(static_cast<std::uint64_t>(step + 1) * 8 + static_cast<std::uint64_t>(group),
       [&] { return "has fetched step " + std::to_string(step) + " of group " + std::to_string(group); });
  if (is_promised()) hear(court().store.fetched(group, wanted, step, attempt), "P10");
}

void judge_store_fails(const char* call, int code, const char* text) {
  tell(static_cast<std::uint64_t>(-code), [&] { return std::string(call) + " fails: " + text; });
  if (disk_faults() > 0 || !world().happened().empty()) return;
  world().violate(std::string(call) + ": " + text, "P10");
}

void judge_lost(int group, int member, int step, int is_old) {
  if (is_old != 0 ? court().ledger.may_lose_old(group) : court().ledger.may_lose(group)) return;
  if (court().plan.has_store() && !is_promised()) return;
  world().violate("rank " + std::to_string(own_rank()) + ": member " + std::to_string(member) + " of group " +
                      std::to_string(group) + " is not to be had at step " + std::to_string(step),
                  "P1");
}

void judge_bare(int group, int step) {
  if (court().ledger.is_bare(group, own_rank())) return;
  world().violate("rank " + std::to_string(own_rank()) + " has nothing of group " + std::to_string(group) +
                      ", of which others have step " + std::to_string(step),
                  "P2");
}

void judge_flush_begins() { court().begun[own_number()] = world().now(); }

// Ranks are told that another one offers nothing any more, and do not wait for the limit of flushes.
void judge_flush_ends() {
  const Time limit = static_cast<Time>(court().plan.flush_timeout) * 750'000'000;
  if (disk_faults() > 0 || world().has_stopped_for(limit / 4) || court().plan.flush_timeout < 60) return;
  if (world().now() - court().begun[own_number()] > limit)
    world().violate("a flush waits for a rank that has given it up", "P4");
}

void judge_agreed(int group, int step) {
  mpi::land_late_words();
  hear(court().ledger.agreed(group, own_rank(), step), "P2");
}

void judge_waited(const char* call) {
  // A connection that breaks beside a rank that is silent for so long counts as lost (src/rma/fabric/network.cpp).
  constexpr Time kPatienceOfNetwork = 5'000'000'000;
  const Time half = static_cast<Time>(court().plan.timeout) * 500'000'000;
  if (world().has_stopped_for(std::min(half, kPatienceOfNetwork))) world().give_up("a rank is silent");
  // A wait for a rank that waits for the disk is one for the disk, too; for a fetch that may be FENIX_FLUSH_TIMEOUT, which is longer.
  if (disk_faults() > court().faults_before && world().surroundings().disk_hangs > 0)
    world().give_up("the disk is silent");
  world().violate("rank " + std::to_string(own_rank()) + ": " + call + " has waited for longer than FENIX_TIMEOUT");
}

void judge_deletes(int group, int step, int older) {
  tell(static_cast<std::uint64_t>(step) * 8 + static_cast<std::uint64_t>(group),
       [&] { return "deletes step " + std::to_string(step) + " of group " + std::to_string(group); });
  court().ledger.deletes(group, step, older);
}

void judge_deleted(int group, int step) { court().ledger.deleted(group, own_rank(), step); }

void judge_finishes() { court().finishing = court().job; }

void judge_done(int /*code*/) {
  tell(5, [] { return std::string("is done"); });
  look_for_hidden_wait();
  ++court().done;
}

void judge_gives_up() {
  world().give_up("the store does not answer");
  __builtin_unreachable();
}

void judge_broken(const char* promise, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  world().violate(text, promise);
  __builtin_unreachable();
}
}
