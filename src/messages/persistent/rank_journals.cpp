// SPDX-License-Identifier: BSD-3-Clause
#include "messages/persistent/rank_journals.hpp"

#include <algorithm>
#include <utility>
#include <mpi-ext.h>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"

namespace fenix_impl {
namespace {

/// Parameters where there is no journal, and none is awaited. A journal has a separation, which is at least 1.
constexpr JournalParameters kNoJournal{0, 0, 0};

void merge_parameters(JournalParameters& all, const JournalParameters& more) {
  all = {std::max(all.ring_bytes, more.ring_bytes), std::max(all.copies, more.copies),
         std::max(all.separation, more.separation)};
}

std::uint64_t ring_bytes_for(std::uint64_t volume) {
  using journal_format::kUnit;
  // Heads, and what is lost at the ends of messages.
  constexpr std::uint64_t kMostVolume = kMostRingBytes / 8;
  const std::uint64_t with_heads =
      std::min(volume, kMostVolume) / kUnit * kUnit + volume / 16 / kUnit * kUnit + 1024 * kUnit;
  return std::min<std::uint64_t>(Ring::bytes_for(with_heads), kMostRingBytes);
}

// The distance at which fewest ranks have a holder on their own node.
std::int32_t best_separation(const std::vector<Location>& where) {
  constexpr std::size_t kMostTried = 128;
  std::size_t best = 1;
  std::size_t fewest = where.size() + 1;
  for (std::size_t separation = 1; separation < std::min(where.size(), kMostTried); ++separation) {
    std::size_t shared = 0;
    for (std::size_t rank = 0; rank < where.size(); ++rank) {
      if (where[rank].node == where[(rank + separation) % where.size()].node) ++shared;
    }
    if (shared < fewest) {
      fewest = shared;
      best = separation;
    }
  }
  return static_cast<std::int32_t>(best);
}

JournalParameters parameters_of(const PersistOptions& held) { return {ring_bytes_for(held.volume), held.copies, 0}; }

JournalParameters parameters_of_messages(const LogOptions& options) {
  if (!options.are_apart()) return kNoJournal;
  return {ring_bytes_for(options.memory.value_or(options.held.volume)), options.copies.value_or(options.held.copies),
          0};
}

}  // namespace

void RankJournals::detach() {
  if (held_) held_->detach();
  if (messages_) messages_->detach();
  team_ = {};
}

void RankJournals::await(const LogOptions& options) {
  awaited_ = options;
  awaited_since_ = process_.repair().count();
}

void RankJournals::reattach(const TeamFactory::NewTeam& made, bool has_failed) {
  reattach_one(made, held_, awaited_ ? parameters_of(awaited_->held) : kNoJournal, has_failed);
  reattach_one(made, messages_, awaited_ ? parameters_of_messages(*awaited_) : kNoJournal, has_failed);
  awaited_.reset();
}

// awaited: of a journal that no rank may have yet.
void RankJournals::reattach_one(const TeamFactory::NewTeam& made, std::unique_ptr<Journal>& journal,
                                const JournalParameters& awaited, bool has_failed) {
  JournalParameters parameters = made.team->reduce(journal ? journal->parameters() : awaited, merge_parameters);
  if (parameters.ring_bytes == 0) return;
  const bool is_first = parameters.separation == kNoJournal.separation;
  if (is_first) parameters.separation = best_separation(made.team->gather(made.team->location()));
  (void)meet(*made.team, Operation::journal_memory, 0, 0, [&] {
    const bool has_less = has_failed && !is_first;
    if (!journal) journal = std::make_unique<Journal>(parameters, own_slot(*made.team), has_less);
  });
  attach(*journal, made);
}

void RankJournals::clear() {
  messages_.reset();
  held_.reset();
  team_ = {};
  awaited_.reset();
}

int RankJournals::own_slot(const Team& team) const {
  return process_.members().slots().by_rank().at(static_cast<std::size_t>(team.rank()));
}

void RankJournals::form(const PersistOptions& options) {
  TeamFactory::NewTeam made = teams_.make(process_.comms().resilient());
  together(*made.team, [&] {
    JournalParameters parameters = made.team->reduce(parameters_of(options), merge_parameters);
    parameters.separation = best_separation(made.team->gather(made.team->location()));
    (void)meet(*made.team, Operation::journal_memory, 0, 0,
               [&] { held_ = std::make_unique<Journal>(parameters, own_slot(*made.team), false); });
    fault_point("persist.formed");
    attach(*held_, made);
  });
}

// With the team of the other journal, which writes by it.
void RankJournals::form_messages(const LogOptions& options) {
  const TeamFactory::NewTeam made = team_.team ? team_ : teams_.make(process_.comms().resilient());
  together(*made.team, [&] {
    JournalParameters parameters = made.team->reduce(parameters_of_messages(options), merge_parameters);
    parameters.separation = held_->parameters().separation;
    (void)meet(*made.team, Operation::journal_memory, 0, 0,
               [&] { messages_ = std::make_unique<Journal>(parameters, own_slot(*made.team), false); });
    fault_point("mlog.formed");
    attach(*messages_, made);
  });
}

void RankJournals::attach(Journal& journal, const TeamFactory::NewTeam& made) {
  std::vector<int> slots;
  for (const int rank : made.ranks)
    slots.push_back(process_.members().slots().by_rank().at(static_cast<std::size_t>(rank)));
  team_ = made;
  journal.attach(*made.team, teams_.choose_path(*made.team), std::move(slots));
  if (journal.parameters().copies > 0 && journal.recovery().has_lost_messages()) {
    log().warn(
        "messages of this rank's predecessor on persistent communicators are lost: no rank is left that has them");
  }
}

void RankJournals::require() const {
  if (awaited_ && awaited_since_ == process_.repair().count()) throw PeerFailure(MPIX_ERR_REVOKED);
  const bool all = !messages_ || messages_->is_attached();
  if (all && held_ && held_->is_attached()) return;
  throw Error(FENIX_ERROR_INVALID_LOGIC_CALL,
              "what was stored on persistent communicators could not be taken up again");
}

}  // namespace fenix_impl
