// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/storage.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <map>
#include <utility>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "core/operations/taking_up.hpp"
#include "recovery/groups/storage/loading.hpp"

namespace fenix_impl {
namespace {

constexpr int kAllSnapshots = -1;

/// The number of the node of each rank, counted in the order of their first ranks.
std::vector<std::uint32_t> nodes_of(std::span<const Location> locations) {
  std::map<std::uint64_t, std::uint32_t> numbers;
  std::vector<std::uint32_t> nodes;
  for (const Location& each : locations) {
    nodes.push_back(numbers.try_emplace(each.node, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  return nodes;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------------- run

void Storage::begin() {
  clear();
  settings_ = StoreSettings::from_environment();
  const CommitSettings commits = CommitSettings::from_environment();
  plans_commits_ = commits.every > 0 || commits.has_times();
  if (!settings_.root.empty()) {
    keeper_ = std::make_shared<KeeperClient>(
        settings_.keeper, Hello{settings_.root, settings_.rate, settings_.seconds, settings_.kept, settings_.lease});
  }
  halting_ = Halting(settings_, keeper_);
  flushing_.begin(keeper_, patience());
}

StoreRun Storage::begin_run() noexcept {
  if (!keeper_ || is_on()) return run_;
  try {
    const RunClient::Begun begun = keeper_->runs().begin([] {});
    run_ = begun.run;
    log().info("store {}: run {}", settings_.root, run_.number);
    if (!begun.warning.empty()) {
      log().warn("FENIX_STORE={}: {}. They can remove datasets; what they put there is not used", settings_.root,
                 begun.warning);
    }
    if (run_.only_reads != 0) {
      log().warn("FENIX_STORE={} takes no new files: datasets can be read, and nothing will be flushed",
                 settings_.root);
    }
  } catch (const std::exception& error) {
    why_off_ = error.what();
    log().error("FENIX_STORE={} cannot be used, and nothing will be flushed: {}", settings_.root, error.what());
  }
  return run_;
}

void Storage::adopt_run(const StoreRun& run) {
  run_.merge(run);
  if (!keeper_ || !is_on()) return;
  try {
    keeper_->connection().join(run_);
  } catch (const std::exception& error) {
    log().warn("the store: {}", error.what());
  }
}

void Storage::require_writing() {
  (void)keeper();
  if (run_.only_reads != 0) {
    throw Error(FENIX_ERROR_STORE, "the store " + settings_.root + " took no new files when the job began");
  }
}

// Nodes may go with the end of the job.
void Storage::finish(bool is_first) noexcept {
  const Deadline deadline(std::chrono::seconds(settings_.seconds));
  try {
    // All ranks have agreed to finish: none of them offers anything more.
    for (auto& [id, mine] : groups_) flushing_.wait_at_end(id, mine.flushes, deadline);
    if (is_on() && keeps_memory()) keeper().memory().forget(run());
    // The program has not come to its end if this job has only written what was left of another one.
    if (is_on() && run_.only_reads == 0 && is_first && !drains()) keeper().runs().finish(run(), [] {});
  } catch (const std::exception& error) {
    log().warn("the store: {}", error.what());
  }
  clear();
}

void Storage::clear() {
  groups_.clear();
  keeping_.clear();
  flushing_.clear();
  listed_.clear();
  keeper_.reset();
  run_ = {};
  why_off_.clear();
  origin_ = 0;
  has_warned_of_refusal_ = has_released_ = false;
  halting_ = {};
  commits_ = 0;
}

KeeperClient& Storage::keeper() {
  if (!keeper_) throw Error(FENIX_ERROR_STORE, "there is no store: FENIX_STORE is not set");
  if (!is_on()) {
    throw Error(FENIX_ERROR_STORE, "the store " + settings_.root + " could not be used when the job began" +
                                       (why_off_.empty() ? "" : ": " + why_off_));
  }
  return *keeper_;
}

// ---------------------------------------------------------------------------------------------------------------- groups

std::chrono::milliseconds Storage::patience() const {
  constexpr int kPart = 4;
  const auto of_others = std::chrono::duration_cast<std::chrono::milliseconds>(Deadline::timeout()) / kPart;
  return std::min<std::chrono::milliseconds>(std::chrono::seconds(settings_.seconds), of_others);
}

Storage::OfGroup& Storage::of(const Group& group) {
  const std::lock_guard lock(mutex_);
  return groups_[group.parameters().id];
}

Storage::OfGroup* Storage::find_of(const Group& group) {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(group.parameters().id);
  return found != groups_.end() ? &found->second : nullptr;
}

// Its snapshots that are kept must not come back in the next job.
void Storage::forget(int group_id, std::uint32_t generation) {
  {
    const std::lock_guard lock(mutex_);
    groups_.erase(group_id);
  }
  try {
    keeping_.forget(keeper_.get(), group_id);
    if (is_on() && keeps_memory()) keeper_->memory().drop_snapshots({group_id, run(), generation, kAllSnapshots});
  } catch (const Error& error) {
    log().warn("group {}: {}", group_id, error.what());
  }
}

void Storage::forget_snapshot(const Group& group, int time_stamp) noexcept {
  if (!is_on() || !keeps_memory()) return;
  try {
    keeper_->memory().drop_snapshots({group.parameters().id, run(), group.log().generation().value, time_stamp});
  } catch (const std::exception& error) {
    log().warn("group {}: {}", group.parameters().id, error.what());
  }
}

std::unique_ptr<Group> Storage::kept_group(int group_id, Team& team) {
  if (!is_on() || settings_.lease == 0 || !settings_.fetches) return {};
  try {
    auto found = GroupKeeping::find(keeper(), group_id, team, run(), patience());
    // A drain is not what the program may die of.
    if (found && drains()) found->parts().kept->tries = 0;
    return found;
  } catch (const Error& error) {
    log().warn("group {}: {}", group_id, error.what());
    return {};
  }
}

GroupKeeping::Found Storage::kept_groups(Team& team) { return GroupKeeping::all(keeper(), team, run(), patience()); }

bool Storage::has_dataset_of_start(Group& group) {
  Team& team = group.attachment().team();
  const OfGroup& mine = of(group);
  char is_there = 0;
  (void)meet(team, Operation::fetch, 0, 0, [&] {
    if (team.rank() != 0 || !mine.begun_with) return;
    is_there = keeper().datasets().is_complete(*mine.begun_with, [&team] { team.check(); }) ? 1 : 0;
  });
  team.broadcast(std::as_writable_bytes(std::span(&is_there, 1)), 0);
  return is_there != 0;
}

StoreOfJob Storage::for_rejoin(int group_id, Team& team) {
  const auto look = [this, group_id, &team](const StoreRun& run) -> StoreOfJob::Newest {
    adopt_run(run);
    const auto found = keeper().datasets().find({group_id, {}, {}, this->run(), 0}, [&team] { team.check(); });
    if (!found.plan) return {};
    return {found.plan->name, found.is_chosen};
  };
  return {run_, look};
}

void Storage::drop_kept(const Group& group, std::uint32_t run) noexcept {
  try {
    const GroupRanks& ranks = group.ranks();
    keeper().memory().drop_group(
        {group.parameters().id, ranks.rank, static_cast<std::uint32_t>(ranks.size), run, ~std::uint32_t{0}});
  } catch (const std::exception& error) {
    log().warn("group {}: {}", group.parameters().id, error.what());
  }
}

// Otherwise it would stay as long as this job lives.
void Storage::release_earlier() noexcept {
  if (has_released_.exchange(true)) return;
  try {
    keeper().memory().release(run());
  } catch (const std::exception& error) {
    log().warn("memory of an earlier job may stay: {}", error.what());
  }
}

// The next job must find on all ranks the memory that counts, before any of them commits to it.
void Storage::keep_memory(Group& group) noexcept {
  OfGroup* const known = find_of(group);
  if (known == nullptr || std::chrono::steady_clock::now() < known->quiet_until) return;
  try {
    keeping_.keep(keeper(), group, run());
  } catch (const std::exception& error) {
    known->quiet_until = std::chrono::steady_clock::now() + std::chrono::seconds(settings_.seconds);
    log().warn("group {}: its memory is not kept: {}", group.parameters().id, error.what());
  }
}

Storage::Resumed Storage::take_up(Group& group, const RejoinResult& formed) {
  OfGroup& mine = of(group);
  const bool awaits = formed.awaits_store;
  // Ranks that take the places of dead ones begin to count anew, so all do.
  mine.schedule = {};
  if (group.parameters().id == FENIX_DATA_GROUP_WORLD_ID) halting_.begin_anew();
  // The job must not begin anew, and write over what is there, only because a file system was slow.
  if (!is_on() && keeper_ && awaits && settings_.fetches) (void)keeper();
  if (!is_on()) return Resumed::no;
  if (mine.generation == Generation{}) mine.every = settings_.every;
  mine.generation = group.log().generation();
  mine.quiet_until = {};
  flushing_.begin_generation(group, mine.flushes,
                             nodes_of(group.attachment().team().gather(group.attachment().team().location())));
  if (settings_.lease == 0 && !drains()) release_earlier();
  Resumed resumed = Resumed::no;
  if (formed.kept_run != 0) {
    resumed = go_on_with_memory(group, formed);
  } else if (awaits && settings_.fetches && !drains()) {
    // Memory of earlier runs would stand beside what is loaded.
    if (keeps_memory()) drop_kept(group, run() - 1);
    group.parts().awaits_store = true;
    resumed = load_newest(group, {}, {});
    group.parts().awaits_store = false;
  }
  // A drain that cannot go on with the memory leaves it as it is.
  if (keeps_memory() && (!drains() || resumed == Resumed::yes)) {
    group.parts().before_record = [this, &group] { keep_memory(group); };
    keep_memory(group);
    group.attachment().team().barrier();
  }
  return resumed;
}

Storage::Resumed Storage::go_on_with_memory(Group& group, const RejoinResult& formed) {
  OfGroup& mine = of(group);
  const GroupParameters& parameters = group.parameters();
  mine.begun_with = DatasetName{parameters.id, parameters.time_stamp_of(group.log().last()), formed.kept_run,
                                formed.kept_generation.value};
  mine.passed_over = {mine.begun_with->text()};
  origin_ = std::max(origin_, formed.kept_run);
  log().info("group {}: goes on from the memory of run {}, time stamp {}", parameters.id, formed.kept_run,
             mine.begun_with->time_stamp);
  fault_point("keep.taken_over");
  return Resumed::yes;
}

Storage::Found Storage::find(Group& group, const std::string& label, const std::vector<std::string>& passed_over) {
  Team& team = group.attachment().team();
  const int id = group.parameters().id;
  std::vector<std::byte> bytes;
  std::string name;
  std::string why;
  char has_unusable = 0;
  if (team.rank() == 0) {
    try {
      const auto found = keeper().datasets().find({id, label, passed_over, run(), run_.only_reads != 0 ? 0U : 1U},
                                                  [&team] { team.check(); });
      if (found.plan) {
        name = found.plan->name.text();
        bytes = encode(*found.plan);
      }
      has_unusable = found.unusable.empty() ? 0 : 1;
      for (const std::string& each : found.unusable) log().warn("group {}: {}", id, each);
    } catch (const Error& error) {
      // Without a look at the store nobody knows what is there: the program must not begin anew, and write over it.
      why = error.what();
    }
  }
  std::vector<char> said(name.begin(), name.end());
  std::vector<char> reason(why.begin(), why.end());
  team.broadcast_list(said, 0);
  team.broadcast_list(bytes, 0);
  team.broadcast_list(reason, 0);
  team.broadcast(std::as_writable_bytes(std::span(&has_unusable, 1)), 0);
  if (!reason.empty()) throw Error(FENIX_ERROR_STORE, std::string(reason.begin(), reason.end()));
  const auto parsed = DatasetName::parse({said.begin(), said.end()});
  return {parsed ? decode_plan(*parsed, bytes) : std::nullopt, has_unusable != 0};
}

Storage::Resumed Storage::load_newest(Group& group, const std::string& label, std::vector<std::string> passed_over) {
  const GroupParameters before = group.parameters();
  bool has_tried = false;
  for (Found found = find(group, label, passed_over);; found = find(group, label, passed_over)) {
    has_tried = has_tried || found.plan || found.has_unusable;
    if (!found.plan) break;
    const DatasetName name = found.plan->name;
    passed_over.push_back(name.text());
    if (!Loading(group, keeper_).run(*found.plan)) continue;
    OfGroup& mine = of(group);
    mine.begun_with = name;
    mine.passed_over = std::move(passed_over);
    origin_ = std::max(origin_, name.run);
    log().info("group {}: goes on from the dataset {}", group.parameters().id, name.text());
    fault_point("fetch.agreed");
    return Resumed::yes;
  }
  if (!has_tried) return Resumed::no;
  group.parts().stored.reset();
  group.parts().parameters.start_time_stamp = before.start_time_stamp;
  Loading(group, keeper_).begin_anew();
  log().log(warning_of_all(group.ranks().rank), "group {}: no dataset of the store could be used",
            group.parameters().id);
  return Resumed::unusable;
}

int Storage::fetch(Group& group, const std::string& label, const Check& check) {
  (void)meet(group.attachment().team(), Operation::fetch, hash_bytes(std::as_bytes(std::span(label))), 0, [&] {
    check();
    (void)keeper();
  });
  return fetch_from(group, label, {});
}

bool Storage::end_restart(Group& group, bool is_good) {
  constexpr std::uint64_t kBad = 1;
  OfGroup& mine = of(group);
  const auto met = meet(group.attachment().team(), Operation::restart_done, 0, is_good ? 0 : kBad, [&] {
    (void)keeper();
    if (mine.begun_with) return;
    throw Error(FENIX_ERROR_INVALID_LOGIC_CALL,
                "the group does not go on from a dataset of the store, or has committed since");
  });
  if (met.bits == 0) return true;
  (void)fetch_from(group, {}, mine.passed_over);
  return false;
}

int Storage::fetch_from(Group& group, const std::string& label, std::vector<std::string> passed_over) {
  OfGroup& mine = of(group);
  mine.begun_with.reset();
  group.parts().awaits_store = true;
  const Resumed resumed = load_newest(group, label, std::move(passed_over));
  group.parts().awaits_store = false;
  if (resumed == Resumed::yes) return mine.begun_with->time_stamp;
  throw Error(FENIX_ERROR_NODATA_FOUND, "the store has no complete dataset of group_id " +
                                            std::to_string(group.parameters().id) +
                                            (label.empty() ? "" : " with the name " + label));
}

// ----------------------------------------------------------------------------------------------------------------- flush

Epoch Storage::agree(Group& group, const SnapshotChoice& choice, const std::string& label, const Check& check) {
  return together(group.attachment().team(), [&] {
    return Flushing::agree(group, choice, label, [&] {
      check();
      require_writing();
    });
  });
}

void Storage::flush(Group& group, const SnapshotChoice& choice, const std::string& label, const Check& check) {
  const Epoch epoch = agree(group, choice, label, check);
  flushing_.flush(group, of(group).flushes, run(), epoch, label);
}

std::uint64_t Storage::begin_flush(Group& group, const SnapshotChoice& choice, const std::string& label,
                                   const Check& check) {
  const Epoch epoch = agree(group, choice, label, check);
  return flushing_.begin_flush(group, of(group).flushes, run(), epoch, label);
}

Flushing::Progress Storage::progress(Group& group, int time_stamp) {
  return flushing_.progress(of(group).flushes, time_stamp);
}

void Storage::set_every(Group& group, int every) { of(group).every = every; }

// All ranks come here after the same commits, so they flush the same snapshots. One that is slow holds the others back, for a while.
void Storage::after_commit(Group& group) noexcept {
  if (!is_on() && !plans_commits_) return;
  OfGroup* const known = find_of(group);
  if (known == nullptr) return;
  OfGroup& mine = *known;
  ++commits_;
  mine.schedule.note_commit();
  if (!is_on()) return;
  try {
    keeper().connection().look();
    warn_of_refusal();
    if (mine.begun_with) {
      keeper().datasets().note_taken(*mine.begun_with);
      mine.begun_with.reset();
    }
    if (std::chrono::steady_clock::now() < mine.quiet_until) return;
    if (keeps_memory()) {
      flushing_.keep_latest(group, mine.flushes, run());
      group.parts().tries_of_memory = 0;
      // Another keeper may be there since the commit began.
      keep_memory(group);
    }
    // By the number of the commit, which is the same on ranks that have taken the places of dead ones.
    if (mine.every == 0 || run_.only_reads != 0 ||
        group.log().last().value % static_cast<std::uint64_t>(mine.every) != 0)
      return;
    flushing_.flush_latest(group, mine.flushes, run());
  } catch (const std::exception& error) {
    // The commit stands. A failure is reported by the next call. A keeper that does not read must not delay each commit.
    mine.quiet_until = std::chrono::steady_clock::now() + std::chrono::seconds(settings_.seconds);
    log().warn("group {}: a snapshot is not flushed: {}", group.parameters().id, error.what());
  }
}

void Storage::warn_of_refusal() {
  const auto why = keeper().connection().refusal();
  if (!why || has_warned_of_refusal_.exchange(true)) return;
  log().warn("FENIX_KEEP: memory of this rank is not kept, and a job that is started again begins with the store: {}",
             *why);
}

// ------------------------------------------------------------------------------------------------------- when, how long

bool Storage::needs_commit(Group& group, const Check& check) {
  OfGroup& mine = of(group);
  const bool is_flushing = mine.flushes.automatic != 0 && !flushing_.outcome(mine.flushes.automatic);
  const bool is_due = mine.schedule.is_due(group.attachment().team(), is_flushing, check);
  return is_due || halting_.is_halting();
}

bool Storage::needs_commit_here(Group& group) { return of(group).schedule.is_due_here() || halting_.is_halting(); }

CommitSchedule* Storage::measured_schedule(const Group& group) {
  if (!plans_commits_) return nullptr;
  OfGroup* const mine = find_of(group);
  return mine != nullptr && mine->schedule.measures() ? &mine->schedule : nullptr;
}

bool Storage::should_halt(Group& world, const Check& check) {
  return halting_.is_due(world.attachment().team(), run(), commits_, check);
}

void Storage::halt(const std::string& reason) {
  HaltConditions conditions;
  (void)keeper();
  conditions.run = run();
  conditions.at = 0;
  conditions.reason = reason;
  keeper_->runs().halt(conditions, [] {});
}

}  // namespace fenix_impl
