// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/flushing.hpp"

#include <algorithm>
#include <span>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/simd/hash.hpp"
#include "core/common/meeting.hpp"

namespace fenix_impl {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{1};

// Bits of a rank in the meetings at the end of a flush.
constexpr std::uint64_t kGone = 1;
constexpr std::uint64_t kPending = 2;

std::uint64_t hash_of(const SnapshotChoice& choice, const std::string& label) {
  const std::uint64_t values[] = {static_cast<std::uint64_t>(choice.kind),
                                  static_cast<std::uint64_t>(choice.time_stamp),
                                  hash_bytes(std::as_bytes(std::span(label)))};
  return hash_bytes(std::as_bytes(std::span(values)));
}

Error error_of(const Flushing::Outcome& outcome) {
  const bool is_gone = outcome.code == KeeperCode::gone;
  return {is_gone ? FENIX_ERROR_NODATA_FOUND : FENIX_ERROR_STORE, "the store: " + outcome.text};
}

}  // namespace

void Flushing::begin(std::shared_ptr<KeeperClient> keeper, std::chrono::milliseconds limit) {
  keeper_ = std::move(keeper);
  limit_ = limit;
}

void Flushing::clear() {
  failed_ = {};
  keeper_.reset();
}

void Flushing::begin_generation(Group& group, OfGroup& mine, std::vector<std::uint32_t> writers) {
  const auto self = writers.begin() + group.ranks().rank;
  mine.speaks = std::find(writers.begin(), self, *self) == self;
  mine.writers = std::move(writers);
  mine.automatic = 0;
  mine.is_behind = false;
  if (mine.flushes.empty()) return;
  try {
    keeper_->flushes().abandon({group.parameters().id, 0, group.log().generation().value, {}});
  } catch (const Error& error) {
    log().warn("group {}: {}", group.parameters().id, error.what());
  }
}

// ----------------------------------------------------------------------------------------------------------------- offer

// Notes the slots that the keeper reads from now on.
std::uint64_t Flushing::offer(Group& group, OfGroup& mine, std::uint32_t run, Epoch epoch, const std::string& label) {
  constexpr std::size_t kRemembered = 16;
  const Flush flush = group.store_link().flush();
  const DatasetPlan plan = flush.plan(epoch, label, run, mine.writers);
  const Flush::Offered offered = flush.offer(epoch);
  const std::uint64_t id = keeper_->flushes().flush(plan, offered.offer, offered.regions);
  mine.flushes.emplace_back(plan.name, id);
  if (mine.flushes.size() > kRemembered) mine.flushes.pop_front();
  FlushHold hold;
  if (const LoggedRecord* const logged = group.log().at(epoch)) {
    for (const MemberVersion& version : logged->record.members)
      hold.slots.emplace_back(version.member_id, version.slot);
  }
  hold.is_pending = [this, id] { return !outcome(id).has_value(); };
  hold.patience = limit_;
  group.store_link().hold(std::move(hold));
  return id;
}

// No slot is held for it: as long as it is the latest commit of all ranks, no slot of it is used anew.
void Flushing::keep_latest(Group& group, const OfGroup& mine, std::uint32_t run) {
  const Epoch epoch = group.log().last();
  const Flush flush = group.store_link().flush();
  const Flush::Offered offered = flush.offer(epoch);
  keeper_->flushes().keep(flush.plan(epoch, {}, run, mine.writers), offered.offer, offered.regions);
  fault_point("keep.offered");
}

// One that has been waited for in vain is not waited for again.
void Flushing::flush_latest(Group& group, OfGroup& mine, std::uint32_t run) {
  if (mine.is_behind && mine.automatic != 0 && !outcome(mine.automatic)) return;
  mine.is_behind = false;
  const Deadline deadline(limit_);
  while (mine.automatic != 0 && !outcome(mine.automatic)) {
    group.attachment().team().check();
    mine.is_behind = deadline.passed();
    if (mine.is_behind) return;
    wait_a_little();
  }
  look_at_automatic(group.parameters().id, mine);
  mine.automatic = 0;
  mine.automatic = offer(group, mine, run, group.log().last(), {});
}

void Flushing::look_at_automatic(int group_id, OfGroup& mine) {
  if (mine.automatic == 0) return;
  const auto ended = outcome(mine.automatic);
  const bool is_new = !std::exchange(mine.has_failed, !ended || ended->code != KeeperCode::done);
  if (!mine.has_failed) return;
  log().log(is_new && mine.speaks ? spdlog::level::warn : spdlog::level::info,
            "group {}: a snapshot could not be flushed, and is not in the store: {}", group_id,
            ended ? ended->text : "the file system does not move");
}

// --------------------------------------------------------------------------------------------------------------- together

Epoch Flushing::agree(Group& group, const SnapshotChoice& choice, const std::string& label, const Check& check) {
  return group.store_link().agree_on_snapshot(choice, hash_of(choice, label), check);
}

// The ranks meet again and again until the slowest node has written: no meeting waits for a file system.
void Flushing::flush(Group& group, OfGroup& mine, std::uint32_t run, Epoch epoch, const std::string& label) {
  constexpr int kMostAttempts = 2;
  Team& team = group.attachment().team();
  for (int attempt = 1;; ++attempt) {
    std::optional<std::uint64_t> id;
    std::optional<Error> error;
    try {
      id = offer(group, mine, run, epoch, label);
    } catch (const MpiError&) {
      throw;
    } catch (const Error& refused) {
      error = refused;
    }
    // Data that does not match its hashes can be mended from other ranks; that takes all of them.
    const bool can_mend = attempt < kMostAttempts;
    MeetingValues met;
    do {
      const auto ended = id ? wait_for_outcome(team, *id) : std::nullopt;
      if (ended && ended->code != KeeperCode::done) error = error_of(*ended);
      fault_point("flush.waited");
      const bool is_gone = error && error->code() == FENIX_ERROR_NODATA_FOUND;
      const std::uint64_t bits = is_gone ? kGone : error || ended ? 0 : kPending;
      met = meet(team, Operation::flushed, 0, bits, [&] {
        if (error && !(is_gone && can_mend)) throw Error(*error);
      });
    } while ((met.bits & kPending) != 0);
    if (met.bits == 0) return;
    const Verified verified = group.verify_all();
    log().info("group {}: {} versions mended before a flush, {} lost", group.parameters().id, verified.mended,
               verified.lost);
  }
}

std::uint64_t Flushing::begin_flush(Group& group, OfGroup& mine, std::uint32_t run, Epoch epoch,
                                    const std::string& label) {
  std::uint64_t id = 0;
  (void)meet(group.attachment().team(), Operation::flushed, 0, 0, [&] { id = offer(group, mine, run, epoch, label); });
  return id;
}

// --------------------------------------------------------------------------------------------------------------- outcomes

std::optional<Flushing::Outcome> Flushing::outcome(std::uint64_t flush) {
  const std::lock_guard lock(mutex_);
  if (!keeper_) return Outcome{KeeperCode::failed, "the use of Fenix has ended"};
  if (!keeper_->flushes().knows(flush)) return failed_.outcome(flush);
  auto ended = keeper_->flushes().outcome(flush);
  if (ended && ended->code != KeeperCode::done) failed_.note(flush, *ended);
  return ended;
}

std::optional<Flushing::Outcome> Flushing::wait_for_outcome(Team& team, std::uint64_t flush) {
  for (const Deadline deadline(limit_); !deadline.passed(); wait_a_little()) {
    if (auto ended = outcome(flush)) return ended;
    team.check();
  }
  return std::nullopt;
}

// Another keeper may have taken the work over, which has not been told that nothing more is offered.
void Flushing::wait_at_end(int group_id, OfGroup& mine, const Deadline& deadline) {
  constexpr std::chrono::milliseconds kBetweenTellings{100};
  for (const auto& [name, flush] : mine.flushes) {
    for (Deadline tell{std::chrono::milliseconds(0)}; !outcome(flush) && !deadline.passed(); wait_a_little()) {
      if (!tell.passed()) continue;
      keeper_->flushes().abandon({0, 1, 0, {}});
      tell = Deadline(kBetweenTellings);
    }
  }
  look_at_automatic(group_id, mine);
}

void Flushing::check_result(std::uint64_t flush) {
  const auto ended = outcome(flush);
  if (ended && ended->code != KeeperCode::done) throw Error(error_of(*ended));
}

void Flushing::wait_a_little() { std::this_thread::sleep_for(kBetweenLooks); }

Flushing::Progress Flushing::progress(const OfGroup& mine, int time_stamp) {
  const auto found = std::find_if(mine.flushes.rbegin(), mine.flushes.rend(),
                                  [time_stamp](const auto& each) { return each.first.time_stamp == time_stamp; });
  if (found == mine.flushes.rend()) return {};
  const auto& [name, id] = *found;
  const auto ended = outcome(id);
  Progress progress{State::writing, keeper_->flushes().written(id)};
  if (ended && ended->code != KeeperCode::done) progress.state = State::failed;
  if (ended && ended->code == KeeperCode::done) {
    progress.state = keeper_->datasets().is_complete(name, [] {}) ? State::complete : State::written;
  }
  return progress;
}

}  // namespace fenix_impl
