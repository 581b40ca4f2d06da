// SPDX-License-Identifier: BSD-3-Clause
#include "core/state/reclaimer.hpp"

#include <chrono>
#include <new>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/lowest_free.hpp"
#include "core/common/waiting.hpp"

namespace fenix_impl {

std::optional<std::uint32_t> Reclaimer::free_slot_for(const Member& member) {
  forget_old();
  used_.clear();
  for (const LoggedRecord& logged : log_.records()) {
    if (const MemberVersion* version = version_in(logged.record, member)) used_.push_back(version->slot);
  }
  const std::uint32_t slots = member.memory.layout().slots();
  const std::size_t needed = used_.size();
  for (const FlushHold& hold : holds_) {
    for (const auto& [member_id, slot] : hold.slots) {
      if (member_id == member.id()) used_.push_back(slot);
    }
  }
  const auto free = lowest_free(slots, used_);
  if (free || used_.size() == needed) return free;
  if (is_holding()) return std::nullopt;
  used_.resize(needed);
  return lowest_free(slots, used_);
}

// Reads the progress of other ranks: nobody may have told this one.
void Reclaimer::ask_others(int most_reads) {
  Control& control = log_.memory().control();
  while (log_.known_on_all() < log_.last() && control.commits.ask(*control.remote, most_reads)) {
  }
}

void Reclaimer::find_commits() {
  try {
    if (attachment_.is_usable()) ask_others(attachment_.ranks().size);
  } catch (const PeerFailure&) {
    // Ignored here: the next operation will report the failure.
  } catch (const std::bad_alloc&) {
    // Nobody has to be asked: others tell what they have heard.
  } catch (const Error& error) {
    fenix_impl::log().debug("group {}: asking for commits: {}", parameters_.id, error.what());
  }
}

// To reach a rank for the first time takes a mapping and memory. Where there is none, the wait goes on: others tell what they have heard,
// and there may be some at the next question.
void Reclaimer::try_to_ask(int most) {
  try {
    ask_others(most);
  } catch (const std::bad_alloc&) {
    // The commit stands: an error of this rank alone would say that it does not.
  } catch (const Error& error) {
    if (error.code() != FENIX_ERROR_NO_MEMORY) throw;
    fenix_impl::log().debug("group {}: asking for commits: {}", parameters_.id, error.what());
  }
}

// Ranks that are in the library pass on what they hear. Ranks that compute do not: their memory is asked after a while.
void Reclaimer::wait_for_others(const char* waited_for, const std::function<bool()>& ready) {
  constexpr std::chrono::milliseconds kBetweenQuestions{1};
  constexpr int kReadsAtOnce = 8;
  if (ready()) return;
  Deadline question(kBetweenQuestions);
  wait_until(attachment_.team(), waited_for, [&] {
    Control& control = log_.memory().control();
    control.commits.pass_on(*control.remote);
    if (question.passed()) {
      // After this the wait goes on: ranks that wait for this one hear of its progress between its questions.
      try_to_ask(kReadsAtOnce);
      question = Deadline(kBetweenQuestions);
    }
    return ready();
  });
}

// Whatever the state of a file system, no store waits for longer than this: then the flush is given up.
bool Reclaimer::is_holding() {
  std::erase_if(holds_, [this](FlushHold& hold) {
    if (!hold.is_pending()) return true;
    if (!hold.deadline) hold.deadline.emplace(hold.patience);
    if (!hold.deadline->passed()) return false;
    fenix_impl::log().warn("group {}: a flush has taken too long, and is given up: its slots are needed",
                           parameters_.id);
    return true;
  });
  return !holds_.empty();
}

void Reclaimer::wait_for_flush() {
  if (holds_.empty()) return;
  wait_until(attachment_.team(), "a flush, before its slot is overwritten", [this] { return !is_holding(); });
}

bool Reclaimer::take_slot(const MemberAccess& access) {
  WorkingSlot& working = access.slot();
  if (working.number()) return true;
  if (parameters_.keeps_all()) {
    working.take(free_slot_for(access.member()));
    return working.number().has_value();
  }
  // Two captures: a std::function of more would take memory in every store.
  wait_for_others("all ranks to commit an earlier snapshot, before a slot is reused", [this, &access] {
    access.slot().take(free_slot_for(access.member()));
    return access.slot().number().has_value();
  });
  return true;
}

}  // namespace fenix_impl
