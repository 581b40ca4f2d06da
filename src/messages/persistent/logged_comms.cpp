// SPDX-License-Identifier: BSD-3-Clause
// Messages on ordinary communicators, which are logged.
#include "messages/persistent/persistent_comms.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "core/common/meeting.hpp"
#include "messages/journal/contribution.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kMarks = 0x6D61726B73U;  // in channels of marks

}  // namespace

void Persistence::log_messages(const LogOptions& options) {
  const auto turn = take_turn();
  if (!journal_) form_journal(options.held);
  require_journal();
  if (options.are_apart() && !message_journal_) form_message_journal(options);
  log_.files().begin(spill_, journal_->slot());
  log_.eviction().note_place(journals());
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
  log_.sender().compare_repeated(options.comparing);
  // The name of a communicator that was freed may be that of another one now.
  logged_comms_.clear();
  known_flows_.forget();
  forbid_quick_messages();
}

Flow Persistence::flow_of(const Partner& partner, MPI_Comm now) {
  const auto turn = take_turn();
  const Flow flow = look_up_flow(partner, now);
  known_flows_.note(partner, flow);
  return flow;
}

Flow Persistence::look_up_flow(const Partner& partner, MPI_Comm now) {
  require_journal();
  Communicator& comm = logged_comms_[partner.name];
  if (comm.channel != partner.channel || comm.repairs != process_.repairs()) look_up_ranks(comm, now);
  comm.channel = partner.channel;
  return {partner.channel, comm.slots.at(static_cast<std::size_t>(partner.rank)), partner.tag};
}

std::optional<Flow> Persistence::known_flow_of(const Partner& partner) {
  const auto turn = take_turn();
  const Flow* const known = known_flows_.find(partner);
  return known != nullptr ? std::optional(*known) : std::nullopt;
}

QuickSend Persistence::allow_send(const Partner& to) {
  const Flow* const flow = has_threads_ ? nullptr : known_flows_.find(to);
  return flow != nullptr ? log_.sender().allow_send(*flow) : QuickSend();
}

QuickReceive Persistence::allow_receive(const Partner& from) {
  const Flow* const flow = has_threads_ ? nullptr : known_flows_.find(from);
  return flow != nullptr ? log_.replay().allow_receive(*flow) : QuickReceive();
}

std::optional<std::span<const std::byte>> Persistence::log_send(const Flow& flow, const Payload& payload,
                                                                SenderLog::Sending sending) {
  const auto turn = take_turn();
  return log_.sender().log_send(journals(), flow, payload, sending);
}

std::uint64_t Persistence::latest_sent(const Flow& flow) {
  const auto turn = take_turn();
  return log_.sender().latest_sent(flow);
}

void Persistence::note_taken(const Flow& flow, const StoredMessage& message) {
  const auto turn = take_turn();
  log_.replay().note_taken(journals(), flow, message.entry.head);
}

bool Persistence::was_taken(const Flow& flow, std::uint64_t number) {
  const auto turn = take_turn();
  return log_.sender().was_taken(journals(), flow, number);
}

bool Persistence::prepare_send(const Flow& flow) {
  const auto turn = take_turn();
  log_.writer().write_decisions(journals());
  return log_.sender().is_to_be_sent(flow);
}

std::optional<bool> Persistence::is_to_be_sent(const Flow& flow) {
  const auto turn = take_turn();
  if (log_.decisions().has_new()) return std::nullopt;
  return log_.sender().is_to_be_sent(flow);
}

Replay::Begun Persistence::begin_receive(const Flow& flow) {
  const auto turn = take_turn();
  return log_.replay().begin_receive(flow);
}

void Persistence::end_receive(const Flow& flow, std::uint64_t number) {
  const auto turn = take_turn();
  log_.flows().end_receive(flow, number);
}

void Persistence::take_back(bool is_sent, const Flow& flow) {
  const auto turn = take_turn();
  log_.flows().take_back(flow, is_sent);
}

std::optional<StoredMessage> Persistence::find_unreceived(MPI_Comm name, MPI_Comm now, std::uint64_t channel,
                                                          int source, int tag) {
  const auto turn = take_turn();
  const Flow from = look_up_flow({name, channel, source == MPI_ANY_SOURCE ? 0 : source, tag}, now);
  const auto peer = source == MPI_ANY_SOURCE ? std::nullopt : std::optional(from.peer);
  const auto wanted = tag == MPI_ANY_TAG ? std::nullopt : std::optional(tag);
  const auto found = log_.replay().find_unreceived(journals(), channel, peer, wanted);
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
    log_.writer().write_decisions(journals());
  } catch (const PeerFailure&) {
    // No message depends on them yet: they are written after the repair.
  }
}

std::optional<StoredMessage> Persistence::logged(const Flow& flow, std::uint64_t number, bool anew) {
  const auto turn = take_turn();
  const auto message = log_.replay().logged(journals(), flow, number, anew);
  if (!message) return std::nullopt;
  return StoredMessage{*message, flow.peer, flow.peer};
}

bool Persistence::predecessor_went_on() {
  const auto turn = take_turn();
  return log_.predecessor_went_on();
}

bool Persistence::has_unreceived() {
  const auto turn = take_turn();
  return log_.replay().has_unreceived();
}

std::vector<FlowNumber> Persistence::message_numbers(std::uint64_t channel) {
  const auto turn = take_turn();
  require_journal();
  return log_.numbers().of_channel(journals(), channel);
}

void Persistence::set_message_numbers(std::uint64_t channel, std::span<const FlowNumber> numbers) {
  const auto turn = take_turn();
  log_.numbers().set_channel(channel, numbers);
}

void Persistence::release_messages(std::span<const FlowNumber> numbers, bool only_received) {
  const auto turn = take_turn();
  require_journal();
  log_.collector().release_until(journals(), numbers, only_received);
}

void Persistence::meet_at_checkpoint() {
  const auto turn = take_turn();
  require_journal();
  log_.meet_at_checkpoint(*team_.team, journals());
}

void Persistence::note_checkpoint(bool is_on_all) {
  const auto turn = take_turn();
  log_.gaps().note_checkpoint(is_on_all);
}

bool Persistence::log_is_filling() {
  constexpr double kHalf = 0.5;
  const auto turn = take_turn();
  require_journal();
  return log_.eviction().has_lost_some() || journals().messages.filling() > kHalf;
}

std::vector<SenderLog::Late> Persistence::late_messages(std::uint64_t channel) {
  const auto turn = take_turn();
  require_journal();
  return log_.sender().late_messages(journals(), channel);
}

std::optional<int> Persistence::log_late(MPI_Comm name, MPI_Comm now, const SenderLog::Late& message) {
  const auto turn = take_turn();
  require_journal();
  if (!log_.sender().log_late(journals(), message)) return std::nullopt;
  Communicator& comm = logged_comms_[name];
  if (comm.slots.empty() || comm.repairs != process_.repairs()) look_up_ranks(comm, now);
  const auto found = std::find(comm.slots.begin(), comm.slots.end(), message.flow.peer);
  if (found == comm.slots.end()) return std::nullopt;
  return static_cast<int>(found - comm.slots.begin());
}

void Persistence::store_mark(std::uint64_t channel, std::uint32_t kept, std::span<const std::byte> mark) {
  const auto turn = take_turn();
  require_journal();
  log_.writer().write_decisions(journals());
  log_.writer().append(journals(), {channel ^ kMarks, journal_->slot(), 0}, kept, {mark.size(), mark});
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

}  // namespace fenix_impl
