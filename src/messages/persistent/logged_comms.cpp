// SPDX-License-Identifier: BSD-3-Clause
#include "messages/persistent/logged_comms.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace fenix_impl {

void LoggedComms::log_messages(const LogOptions& options) {
  const auto turn = turns_.take();
  if (!journals_.exist()) journals_.form(options.held);
  journals_.require();
  if (options.are_apart() && !journals_.has_own_messages()) journals_.form_messages(options);
  begin_files();
  log_.eviction().note_place(journals_.of_log());
  begin_logging(options);
}

void LoggedComms::log_messages_after_repair(const LogOptions& options) {
  const auto turn = turns_.take();
  journals_.await(options);
  begin_logging(options);
}

void LoggedComms::begin_logging(const LogOptions& options) {
  log_.activate();
  log_.sender().compare_repeated(options.comparing);
  // The name of a communicator that was freed may be that of another one now.
  comms_.clear();
  known_flows_.forget();
  close_fast_path();
}

void LoggedComms::clear() {
  comms_.clear();
  known_flows_.forget();
}

Flow LoggedComms::flow_of(const Partner& partner, MPI_Comm now) {
  const auto turn = turns_.take();
  const Flow flow = look_up_flow(partner, now);
  known_flows_.note(partner, flow);
  return flow;
}

Flow LoggedComms::look_up_flow(const Partner& partner, MPI_Comm now) {
  journals_.require();
  Communicator& comm = comms_[partner.name];
  if (comm.comm_id != partner.comm_id || !comm.slots.are_known(process_)) comm.slots.look_up(process_, now);
  comm.comm_id = partner.comm_id;
  return {partner.comm_id, comm.slots.of(partner.rank), partner.tag};
}

std::optional<Flow> LoggedComms::known_flow_of(const Partner& partner) {
  const auto turn = turns_.take();
  const Flow* const known = known_flows_.find(partner);
  return known != nullptr ? std::optional(*known) : std::nullopt;
}

FastSend LoggedComms::allow_send(const Partner& to) {
  const Flow* const flow = turns_.has_threads() ? nullptr : known_flows_.find(to);
  return flow != nullptr ? log_.sender().allow_send(*flow) : FastSend();
}

FastReceive LoggedComms::allow_receive(const Partner& from) {
  const Flow* const flow = turns_.has_threads() ? nullptr : known_flows_.find(from);
  return flow != nullptr ? log_.replay().allow_receive(*flow) : FastReceive();
}

bool LoggedComms::prepare_send(const Flow& flow) {
  const auto turn = turns_.take();
  log_.writer().write_determinants(journals_.of_log());
  return log_.sender().is_to_be_sent(flow);
}

std::optional<bool> LoggedComms::is_to_be_sent(const Flow& flow) {
  const auto turn = turns_.take();
  if (log_.determinants().has_new()) return std::nullopt;
  return log_.sender().is_to_be_sent(flow);
}

std::optional<StoredMessage> LoggedComms::find_unreceived(MPI_Comm name, MPI_Comm now, std::uint64_t comm_id,
                                                          int source, int tag) {
  const auto turn = turns_.take();
  const Flow from = look_up_flow({name, comm_id, source == MPI_ANY_SOURCE ? 0 : source, tag}, now);
  const auto peer = source == MPI_ANY_SOURCE ? std::nullopt : std::optional(from.peer);
  const auto wanted = tag == MPI_ANY_TAG ? std::nullopt : std::optional(tag);
  const auto found = log_.replay().find_unreceived(journals_.of_log(), comm_id, peer, wanted);
  if (!found) return std::nullopt;
  const auto& [flow, message] = *found;
  const std::vector<int>& slots = comms_.at(name).slots.by_rank();
  const auto rank = std::find(slots.begin(), slots.end(), flow.peer) - slots.begin();
  return StoredMessage{message, static_cast<int>(rank), flow.peer};
}

// A rank that only receives has no message before which they would be written.
void LoggedComms::write_many_determinants() {
  if (!log_.determinants().has_many()) return;
  try {
    log_.writer().write_determinants(journals_.of_log());
  } catch (const PeerFailure&) {
    // No message depends on them yet: they are written after the repair.
  }
}

std::optional<StoredMessage> LoggedComms::logged(const Flow& flow, std::uint64_t number, bool anew) {
  const auto turn = turns_.take();
  const auto message = log_.replay().logged(journals_.of_log(), flow, number, anew);
  if (!message) return std::nullopt;
  return StoredMessage{*message, flow.peer, flow.peer};
}

std::optional<int> LoggedComms::log_late(MPI_Comm name, MPI_Comm now, const SenderLog::Late& message) {
  const auto turn = turns_.take();
  journals_.require();
  if (!log_.sender().log_late(journals_.of_log(), message)) return std::nullopt;
  Communicator& comm = comms_[name];
  if (comm.slots.by_rank().empty() || !comm.slots.are_known(process_)) comm.slots.look_up(process_, now);
  return comm.slots.rank_of(message.flow.peer);
}

}  // namespace fenix_impl
