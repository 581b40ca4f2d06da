// SPDX-License-Identifier: BSD-3-Clause
// The journals of this rank: how they begin, and are attached again after a repair.
#include "messages/persistent/persistent_comms.hpp"

#include <algorithm>
#include <utility>
#include <mpi-ext.h>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "messages/journal/contribution.hpp"

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

void Persistence::detach(bool starts_over) {
  if (journal_) journal_->detach();
  if (message_journal_) message_journal_->detach();
  team_ = {};
  known_flows_.forget();
  forbid_quick_messages();
  note_start_over(starts_over);
}

void Persistence::note_start_over(bool starts_over) {
  starts_over_ = starts_over;
  if (!starts_over) return;
  for (auto& [name, comm] : comms_) comm.is_past = true;
}

void Persistence::take_up(bool falls_back, const std::function<void(const char* why)>& fall_back) {
  TeamFactory::NewTeam made = teams_.make(process_.resilient());
  together(*made.team, [&] {
    take_up_one(made, journal_, awaited_ ? parameters_of(awaited_->held) : kNoJournal);
    take_up_one(made, message_journal_, awaited_ ? parameters_of_messages(*awaited_) : kNoJournal);
    awaited_.reset();
    log_.files().begin(spill_, journal_->slot());
    // The outcomes on which messages depend are lost with a rank, or had no room.
    const bool is_mine_lost = journal_->has_lost_messages() && journal_->is_needed();
    const bool had_no_room = log_.lacks_decisions_of_predecessor(journals());
    const auto losses = made.team->reduce(std::uint64_t{is_mine_lost ? 1U : 0U} | (had_no_room ? 2U : 0U),
                                          [](std::uint64_t& into, std::uint64_t from) { into |= from; });
    if (!falls_back && losses != 0) {
      falls_back = true;
      fall_back((losses & 1U) != 0 ? "what it had decided is lost: no rank is left that has it"
                                   : "its log lacks what it had decided, as there was no room");
    }
    if (falls_back) log_.let_go(journals());
    if (!made.team->all_of(log_.take_up(*made.team, journals(), starts_over_ || falls_back)) && !falls_back) {
      fall_back("files of FENIX_MLOG_SPILL that are needed cannot be read by all ranks");
      log_.let_go(journals());
      (void)log_.take_up(*made.team, journals(), /*goes_back=*/true);
    }
    journal_->forget_loss();
  });
}

// awaited: of a journal that no rank may have yet.
void Persistence::take_up_one(const TeamFactory::NewTeam& made, std::unique_ptr<Journal>& journal,
                              const JournalParameters& awaited) {
  JournalParameters parameters = made.team->reduce(journal ? journal->parameters() : awaited, merge_parameters);
  if (parameters.ring_bytes == 0) return;
  const bool is_first = parameters.separation == kNoJournal.separation;
  if (is_first) parameters.separation = best_separation(made.team->gather(made.team->location()));
  (void)meet(*made.team, Operation::journal_memory, 0, 0, [&] {
    const bool has_less = has_failed_ && !is_first;
    if (!journal) journal = std::make_unique<Journal>(parameters, own_slot(*made.team), has_less);
  });
  attach(*journal, made);
}

void Persistence::clear() {
  comms_.clear();
  logged_comms_.clear();
  known_flows_.forget();
  log_.clear();
  message_journal_.reset();
  journal_.reset();
  team_ = {};
  awaited_.reset();
  has_failed_ = false;
}

int Persistence::own_slot(const Team& team) const {
  return process_.slots().by_rank().at(static_cast<std::size_t>(team.rank()));
}

void Persistence::form_journal(const PersistOptions& options) {
  TeamFactory::NewTeam made = teams_.make(process_.resilient());
  together(*made.team, [&] {
    JournalParameters parameters = made.team->reduce(parameters_of(options), merge_parameters);
    parameters.separation = best_separation(made.team->gather(made.team->location()));
    (void)meet(*made.team, Operation::journal_memory, 0, 0,
               [&] { journal_ = std::make_unique<Journal>(parameters, own_slot(*made.team), false); });
    fault_point("persist.formed");
    attach(*journal_, made);
  });
}

// With the team of the other journal, which writes by it.
void Persistence::form_message_journal(const LogOptions& options) {
  const TeamFactory::NewTeam made = team_.team ? team_ : teams_.make(process_.resilient());
  together(*made.team, [&] {
    JournalParameters parameters = made.team->reduce(parameters_of_messages(options), merge_parameters);
    parameters.separation = journal_->parameters().separation;
    (void)meet(*made.team, Operation::journal_memory, 0, 0,
               [&] { message_journal_ = std::make_unique<Journal>(parameters, own_slot(*made.team), false); });
    fault_point("mlog.formed");
    attach(*message_journal_, made);
  });
}

void Persistence::attach(Journal& journal, const TeamFactory::NewTeam& made) {
  std::vector<int> slots;
  for (const int rank : made.ranks) slots.push_back(process_.slots().by_rank().at(static_cast<std::size_t>(rank)));
  team_ = made;
  journal.attach(*made.team, teams_.choose_path(*made.team), std::move(slots));
  if (journal.parameters().copies > 0 && journal.has_lost_messages()) {
    log().warn(
        "messages of this rank's predecessor on persistent communicators are lost: no rank is left that has them");
  }
}

void Persistence::require_journal() const {
  if (awaited_ && awaited_since_ == process_.repairs()) throw PeerFailure(MPIX_ERR_REVOKED);
  const bool all = !message_journal_ || message_journal_->is_attached();
  if (all && journal_ && journal_->is_attached()) return;
  throw Error(FENIX_ERROR_INVALID_LOGIC_CALL,
              "what was stored on persistent communicators could not be taken up again");
}

}  // namespace fenix_impl
