// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/persistence.hpp"

#include <mpi-ext.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "core/journal/contribution.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kMarks = 0x6D61726B73U;  // in channels of marks

/// The tag of the entry of a rank that has given nothing yet.
constexpr int kTagOfTakers = -999;

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

/// Parameters where there is no journal, and none is awaited. A journal has a separation, which is at least 1.
constexpr JournalParameters kNoJournal{0, 0, 0};

JournalParameters parameters_of(const PersistOptions& held) { return {ring_bytes_for(held.volume), held.copies, 0}; }

/// Whether logged messages have a journal of their own.
bool are_apart(const LogOptions& options) {
  return options.memory || options.copies.value_or(options.held.copies) != options.held.copies;
}

JournalParameters parameters_of_messages(const LogOptions& options) {
  if (!are_apart(options)) return kNoJournal;
  return {ring_bytes_for(options.memory.value_or(options.held.volume)), options.copies.value_or(options.held.copies),
          0};
}

std::uint64_t channel_of(const std::string& key, const std::vector<int>& slots, unsigned order) {
  const std::uint64_t of_key = hash_bytes(std::as_bytes(std::span(key)), order);
  return hash_bytes(std::as_bytes(std::span(slots)), of_key);
}

}  // namespace

// -------------------------------------------------------------------------------------------------------------------- repairs

void Persistence::detach(bool starts_over) {
  if (journal_) journal_->detach();
  if (message_journal_) message_journal_->detach();
  team_.reset();
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
    log_.spill_to(spill_, journals());
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
  team_.reset();
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

void Persistence::form_message_journal(const LogOptions& options) {
  TeamFactory::NewTeam made = teams_.make(process_.resilient());
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
  team_ = made.team;
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

// -------------------------------------------------------------------------------------------------------------- communicators

void Persistence::open(MPI_Comm name, MPI_Comm now, const std::string& key, const PersistOptions& options) {
  const auto turn = take_turn();
  Communicator comm;
  comm.key = key;
  comm.options = options;
  look_up_ranks(comm, now);
  if (!journal_) form_journal(options);
  require_journal();
  // A program that has come out of Fenix_Init again gets the same handle.
  comms_.erase(name);
  const auto is_taken = [&](unsigned order) {
    return std::any_of(comms_.begin(), comms_.end(), [&](const auto& each) {
      const Communicator& other = each.second;
      return !other.is_past && other.key == key && other.slots == comm.slots && other.order == order;
    });
  };
  while (is_taken(comm.order)) ++comm.order;
  comm.channel = channel_of(key, comm.slots, comm.order);
  if (!options.folder.empty()) open_file(comm);
  comms_.emplace(name, std::move(comm));
}

// Messages in the journal are newer than the file: then this process is not the first one of its job. Otherwise an earlier job has left
// the file.
void Persistence::open_file(Communicator& comm) {
  comm.file.emplace(comm.options.folder, comm.channel, journal_->slot());
  const auto own = journal_->messages_of(journal_->slot());
  const bool is_known = std::any_of(own.begin(), own.end(),
                                    [&](const Entry& each) { return each.head.signature.channel == comm.channel; });
  comm.has_entries = is_known;
  if (!is_known) {
    for (const FiledMessage& each : comm.file->read()) {
      if (each.head.signature.channel != comm.channel) continue;
      journal_->append(each.head.signature, each.head.depth, {each.payload.size(), each.payload});
      has_failed_ = true;
      comm.has_entries = true;
    }
  }
  replace_file(comm);
}

void Persistence::replace_file(Communicator& comm) {
  comm.file->replace([&](const PersistFile::Write& write) {
    auto own = journal_->messages_of(journal_->slot());
    std::sort(own.begin(), own.end(), [](const Entry& a, const Entry& b) { return a.head.number < b.head.number; });
    for (const Entry& each : own) {
      if (each.head.signature.channel == comm.channel) write(each.head, journal_->own_payload(each));
    }
  });
  comm.bytes_of_messages = comm.file->bytes();
}

void Persistence::file_latest(Communicator& comm) {
  // A file that is twice as long as it was when it was made new is made new again.
  constexpr std::size_t kLeast = std::size_t{1} << 20;
  const Entry& latest = journal_->latest();
  if (comm.file->bytes() > 2 * std::max(comm.bytes_of_messages, kLeast)) {
    replace_file(comm);
  } else {
    comm.file->append(latest.head, journal_->own_payload(latest));
  }
}

void Persistence::close(MPI_Comm name) {
  const auto turn = take_turn();
  comms_.erase(name);
}

bool Persistence::waits(MPI_Comm name) {
  const auto turn = take_turn();
  const auto found = comms_.find(name);
  return found != comms_.end() && found->second.options.waits;
}

void Persistence::look_up_ranks(Communicator& comm, MPI_Comm now) const {
  comm.slots.clear();
  for (const int rank : process_.ranks_of(now)) {
    comm.slots.push_back(process_.slots().by_rank().at(static_cast<std::size_t>(rank)));
  }
  int rank = 0;
  check_mpi(MPI_Comm_rank(now, &rank), "MPI_Comm_rank");
  comm.own_slot = comm.slots.at(static_cast<std::size_t>(rank));
  comm.repairs = process_.repairs();
}

Persistence::Communicator& Persistence::at(MPI_Comm name, MPI_Comm now) {
  const auto found = comms_.find(name);
  if (found == comms_.end()) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "the communicator is not persistent");
  require_journal();
  Communicator& comm = found->second;
  // Ranks may have other numbers after a repair that has shrunk the communicator. The channel stays.
  if (comm.repairs != process_.repairs()) look_up_ranks(comm, now);
  return comm;
}

// ---------------------------------------------------------------------------------------------------- messages that are logged

void Persistence::log_messages(const LogOptions& options) {
  const auto turn = take_turn();
  if (!journal_) form_journal(options.held);
  require_journal();
  if (are_apart(options) && !message_journal_) form_message_journal(options);
  log_.spill_to(spill_, journals());
  log_.note_place(journals());
  begin_logging(options);
}

void Persistence::log_messages_after_repair(const LogOptions& options) {
  const auto turn = take_turn();
  awaited_ = options;
  awaited_since_ = process_.repairs();
  begin_logging(options);
}

void Persistence::begin_logging(const LogOptions& options) {
  log_.activate();
  log_.compare_repeated(options.comparing);
  // The name of a communicator that was freed may be that of another one now.
  logged_comms_.clear();
  known_flows_.forget();
  forbid_quick_messages();
}

MessageLog::Flow Persistence::flow_of(const Partner& partner, MPI_Comm now) {
  const auto turn = take_turn();
  const MessageLog::Flow flow = look_up_flow(partner, now);
  known_flows_.note(partner, flow);
  return flow;
}

MessageLog::Flow Persistence::look_up_flow(const Partner& partner, MPI_Comm now) {
  require_journal();
  Communicator& comm = logged_comms_[partner.name];
  if (comm.channel != partner.channel || comm.repairs != process_.repairs()) look_up_ranks(comm, now);
  comm.channel = partner.channel;
  return {partner.channel, comm.slots.at(static_cast<std::size_t>(partner.rank)), partner.tag};
}

std::optional<MessageLog::Flow> Persistence::known_flow_of(const Partner& partner) {
  const auto turn = take_turn();
  const MessageLog::Flow* const known = known_flows_.find(partner);
  return known != nullptr ? std::optional(*known) : std::nullopt;
}

QuickSend Persistence::allow_send(const Partner& to) {
  const bool may_send_first = !has_threads_ && has_messages_alone();
  const MessageLog::Flow* const flow = may_send_first ? known_flows_.find(to) : nullptr;
  return flow != nullptr ? log_.allow_send(*flow) : QuickSend();
}

QuickReceive Persistence::allow_receive(const Partner& from) {
  const MessageLog::Flow* const flow = has_threads_ ? nullptr : known_flows_.find(from);
  return flow != nullptr ? log_.allow_receive(*flow) : QuickReceive();
}

std::optional<std::span<const std::byte>> Persistence::log_send(const MessageLog::Flow& flow, const Payload& payload) {
  const auto turn = take_turn();
  return log_.log_send(journals(), flow, payload);
}

bool Persistence::prepare_send(const MessageLog::Flow& flow) {
  const auto turn = take_turn();
  log_.write_decisions(journals());
  return log_.is_to_be_sent(flow);
}

std::optional<bool> Persistence::is_to_be_sent(const MessageLog::Flow& flow) {
  const auto turn = take_turn();
  if (log_.decisions().has_new()) return std::nullopt;
  return log_.is_to_be_sent(flow);
}

MessageLog::Begun Persistence::begin_receive(const MessageLog::Flow& flow) {
  const auto turn = take_turn();
  return log_.begin_receive(flow);
}

void Persistence::end_receive(const MessageLog::Flow& flow, std::uint64_t number) {
  const auto turn = take_turn();
  log_.end_receive(flow, number);
}

void Persistence::take_back(bool is_sent, const MessageLog::Flow& flow) {
  const auto turn = take_turn();
  log_.take_back(flow, is_sent);
}

std::optional<StoredMessage> Persistence::find_unreceived(MPI_Comm name, MPI_Comm now, std::uint64_t channel,
                                                          int source, int tag) {
  const auto turn = take_turn();
  const MessageLog::Flow from = look_up_flow({name, channel, source == MPI_ANY_SOURCE ? 0 : source, tag}, now);
  const auto peer = source == MPI_ANY_SOURCE ? std::nullopt : std::optional(from.peer);
  const auto wanted = tag == MPI_ANY_TAG ? std::nullopt : std::optional(tag);
  const auto found = log_.find_unreceived(journals(), channel, peer, wanted);
  if (!found) return std::nullopt;
  const auto& [flow, message] = *found;
  const std::vector<int>& slots = logged_comms_.at(name).slots;
  const auto rank = std::find(slots.begin(), slots.end(), flow.peer) - slots.begin();
  return StoredMessage{message, static_cast<int>(rank), flow.peer};
}

// A rank that only receives has no message before which they would be written.
void Persistence::write_many_decisions() {
  if (!log_.decisions().has_many()) return;
  try {
    log_.write_decisions(journals());
  } catch (const PeerFailure&) {
    // No message depends on them yet: they are written after the repair.
  }
}

std::optional<StoredMessage> Persistence::logged(const MessageLog::Flow& flow, std::uint64_t number, bool anew) {
  const auto turn = take_turn();
  const auto message = log_.logged(journals(), flow, number, anew);
  if (!message) return std::nullopt;
  return StoredMessage{*message, flow.peer, flow.peer};
}

bool Persistence::predecessor_went_on() {
  const auto turn = take_turn();
  return log_.predecessor_went_on();
}

bool Persistence::has_unreceived() {
  const auto turn = take_turn();
  return log_.has_unreceived();
}

// ---------------------------------------------------------------------------------------- regions of messages that are logged

std::vector<MessageLog::Number> Persistence::message_numbers(std::uint64_t channel) {
  const auto turn = take_turn();
  require_journal();
  return log_.numbers_of(journals(), channel);
}

void Persistence::set_message_numbers(std::uint64_t channel, std::span<const MessageLog::Number> numbers) {
  const auto turn = take_turn();
  log_.set_numbers_of(channel, numbers);
}

void Persistence::release_messages(std::span<const MessageLog::Number> numbers, bool only_received) {
  const auto turn = take_turn();
  require_journal();
  log_.release_until(journals(), numbers, only_received);
}

void Persistence::meet_at_checkpoint() {
  const auto turn = take_turn();
  require_journal();
  log_.meet_at_checkpoint(*team_, journals());
}

void Persistence::note_checkpoint(bool is_on_all) {
  const auto turn = take_turn();
  log_.note_checkpoint(is_on_all);
}

bool Persistence::log_is_filling() {
  constexpr double kHalf = 0.5;
  const auto turn = take_turn();
  require_journal();
  return log_.lacks_some() || journals().messages.filling() > kHalf;
}

std::vector<MessageLog::Late> Persistence::late_messages(std::uint64_t channel) {
  const auto turn = take_turn();
  require_journal();
  return log_.late_messages(journals(), channel);
}

std::optional<int> Persistence::log_late(MPI_Comm name, MPI_Comm now, const MessageLog::Late& message) {
  const auto turn = take_turn();
  require_journal();
  if (!log_.log_late(journals(), message)) return std::nullopt;
  Communicator& comm = logged_comms_[name];
  if (comm.slots.empty() || comm.repairs != process_.repairs()) look_up_ranks(comm, now);
  const auto found = std::find(comm.slots.begin(), comm.slots.end(), message.flow.peer);
  if (found == comm.slots.end()) return std::nullopt;
  return static_cast<int>(found - comm.slots.begin());
}

void Persistence::store_mark(std::uint64_t channel, std::uint32_t kept, std::span<const std::byte> mark) {
  const auto turn = take_turn();
  require_journal();
  log_.write_decisions(journals());
  log_.append(journals(), {channel ^ kMarks, journal_->slot(), 0}, kept, {mark.size(), mark});
}

std::vector<std::vector<std::byte>> Persistence::marks(std::uint64_t channel) {
  const auto turn = take_turn();
  require_journal();
  std::vector<std::vector<std::byte>> marks;
  for (const Entry& each : journal_->messages_of(journal_->slot(), {channel ^ kMarks, journal_->slot(), 0})) {
    std::vector<std::byte>& mark = marks.emplace_back(each.head.bytes);
    if (!journal_->read(journal_->slot(), each, mark)) {
      throw Error(FENIX_ERROR_NODATA_FOUND, "the numbers of messages at the begin of a region are damaged");
    }
  }
  return marks;
}

// ------------------------------------------------------------------------------------------------------------------- messages

void Persistence::store(MPI_Comm name, MPI_Comm now, int destination, int tag, const Payload& payload) {
  const auto turn = take_turn();
  Communicator& comm = at(name, now);
  const Signature signature{comm.channel, slot_in(comm, destination), tag};
  if (log_.is_active() && tag >= 0 && signature.destination == journal_->slot()) {
    log_.store_numbers(journals(), signature, comm.options.depth);
  }
  append(comm, signature, payload);
  has_failed_ = false;
  if (log_.is_active() && tag >= 0 && signature.destination == journal_->slot()) log_.note_stored(journals());
}

void Persistence::append(Communicator& comm, const Signature& signature, const Payload& payload) {
  if (log_.is_active()) {
    log_.write_decisions(journals());
    log_.append(journals(), signature, comm.options.depth, payload);
  } else {
    journal_->append(signature, comm.options.depth, payload);
  }
  if (!comm.file) return;
  file_latest(comm);
  comm.has_entries = true;
}

void Persistence::note_taker(MPI_Comm name, MPI_Comm now) {
  const auto turn = take_turn();
  Communicator& comm = at(name, now);
  if (!comm.file || comm.has_entries) return;
  append(comm, {comm.channel, BlockTarget::kEveryRank, kTagOfTakers}, {});
}

int Persistence::slot_in(const Communicator& comm, int rank) {
  return rank == kEveryRank ? BlockTarget::kEveryRank : comm.slots.at(static_cast<std::size_t>(rank));
}

int Persistence::slot(MPI_Comm name, MPI_Comm now, int rank) {
  const auto turn = take_turn();
  return slot_in(at(name, now), rank);
}

std::optional<Entry> Persistence::next_of(const Communicator& comm, int slot, int destination, int tag) const {
  const Signature wanted{comm.channel, destination, tag};
  const std::vector<Entry> all = tag == MPI_ANY_TAG ? journal_->messages_of(slot) : journal_->messages_of(slot, wanted);
  std::optional<Entry> next;
  for (const Entry& each : all) {
    const EntryHead& head = each.head;
    if (head.signature.channel != wanted.channel || head.signature.destination != wanted.destination) continue;
    // A receive does not get contributions to collective operations.
    if (tag == MPI_ANY_TAG && head.signature.tag < 0) continue;
    bool newer_wins = true;
    if (comm.options.depth > 1) {
      const auto last = comm.received.find({slot, head.signature.tag});
      if (comm.options.newest_first) {
        if (last != comm.received.end() && head.number >= last->second) continue;
      } else {
        if (last != comm.received.end() && head.number <= last->second) continue;
        newer_wins = false;
      }
    }
    if (!next || (head.number > next->head.number) == newer_wins) next = each;
  }
  return next;
}

std::optional<StoredMessage> Persistence::find(MPI_Comm name, MPI_Comm now, int source, int tag) {
  const auto turn = take_turn();
  const Communicator& comm = at(name, now);
  const int first = source == MPI_ANY_SOURCE ? 0 : source;
  const int last = source == MPI_ANY_SOURCE ? static_cast<int>(comm.slots.size()) - 1 : source;
  for (int rank = first; rank <= last; ++rank) {
    const int slot = comm.slots.at(static_cast<std::size_t>(rank));
    if (const auto entry = next_of(comm, slot, comm.own_slot, tag))
      return StoredMessage{{*entry, journal_.get(), nullptr}, rank, slot};
  }
  return std::nullopt;
}

std::optional<StoredMessage> Persistence::find_for(MPI_Comm name, MPI_Comm now, int source, int destination, int tag) {
  const auto turn = take_turn();
  const Communicator& comm = at(name, now);
  const int slot = slot_in(comm, source);
  const auto entry = next_of(comm, slot, slot_in(comm, destination), tag);
  return entry ? std::optional(StoredMessage{{*entry, journal_.get(), nullptr}, source, slot}) : std::nullopt;
}

bool Persistence::stays(const StoredMessage& message) {
  const auto turn = take_turn();
  require_journal();
  int level = MPI_THREAD_MULTIPLE;
  MPI_Query_thread(&level);
  return message.source_slot == journal_->slot() && level != MPI_THREAD_MULTIPLE;
}

bool Persistence::read(const StoredMessage& message, std::span<std::byte> to) {
  const auto turn = take_turn();
  require_journal();
  return message.read(message.source_slot, to);
}

void Persistence::note_received(MPI_Comm name, const StoredMessage& message) {
  const auto turn = take_turn();
  const auto found = comms_.find(name);
  if (found == comms_.end()) return;
  if (log_.is_active() && has_failed_ && message.source_slot == journal_->slot()) {
    log_.take_numbers(journals(), message.source_slot, message.entry);
  }
  if (found->second.options.depth == 1) return;
  found->second.received[{message.source_slot, message.entry.head.signature.tag}] = message.entry.head.number;
}

}  // namespace fenix_impl
