// SPDX-License-Identifier: BSD-3-Clause
#include "services/logged_messages.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "interposition/job_end.hpp"
#include "recovery/process/comm_functions.hpp"
#include "services/message_arguments.hpp"
#include "services/mpi_entry.hpp"

namespace fenix_impl {
namespace {

LoggedComms& logged_comms() { return runtime().persistence().logged(); }

/// Returns the flow of messages with another rank. name: of the argument with that rank. Throws MpiError if the rank or the tag is wrong.
Flow flow_with(const Partner& partner, const char* name) {
  if (const auto known = logged_comms().known_flow_of(partner)) return *known;
  const MPI_Comm now = present(partner.name);
  check_rank(now, partner.rank, name);
  check_tag(partner.tag);
  return logged_comms().flow_of(partner, now);
}

/// Calls work with the flow of messages with a partner, if it is known: quicker than mpi_entry. work calls nothing of MPI, and can only fail
/// for want of memory. Returns nothing if the flow is not known.
template <class Work>
std::optional<int> known_entry(const Partner& partner, const Work& work) {
  const auto call = runtime().gate().begin_call();
  const auto flow = logged_comms().known_flow_of(partner);
  if (!flow) return std::nullopt;
  try {
    work(*flow);
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    (void)report(FENIX_ERROR_NO_MEMORY, "out of memory");
    return MPI_ERR_NO_MEM;
  }
}

void allow_send(const Partner& to, FastSend* fast) { *fast = logged_comms().allow_send(to); }

void allow_receive(const Partner& from, FastReceive* fast) { *fast = logged_comms().allow_receive(from); }

std::uint64_t latest_sent(const Flow& flow) {
  return logged_comms().with_log([&](MessageLog& log, const RankJournals&) { return log.sender().latest_sent(flow); });
}

int log_send(const SendCall& message, std::uint64_t comm_id, Packed* packed) {
  return mpi_entry([&] {
    check_buffer(message.buffer, message.count, message.type);
    const Flow flow = flow_with(partner_of(message, comm_id), "dest");
    MessageTypes types;
    const ElementType& elements = types.of(message.type);
    const Payload payload = payload_of(message.buffer, message.count, elements);
    try {
      using Sending = SenderLog::Sending;
      const Sending sending = packed->is_synchronous ? Sending::synchronous : Sending::usual;
      const auto logged = logged_comms().with_log([&](MessageLog& log, const RankJournals& journals) {
        return log.sender().log_send(journals.of_log(), flow, payload, sending);
      });
      packed->data = logged ? logged->data() : nullptr;
      packed->bytes = logged ? logged->size() : 0;
      packed->number = packed->is_synchronous ? latest_sent(flow) : 0;
    } catch (const AnotherHistory& error) {
      end_job(error.what());
    }
  });
}

bool log_fast(const FastSend& partner, const SendCall& message, Packed* packed) {
  const bool has_buffer = message.count == 0 || (message.count > 0 && message.buffer != nullptr);
  const ElementType* const elements = has_buffer ? MessageTypes::known(message.type) : nullptr;
  if (elements == nullptr) return false;
  const auto call = runtime().gate().begin_call();
  const auto logged = logged_comms().log_fast(partner, payload_of(message.buffer, message.count, *elements));
  if (!logged) return false;
  packed->data = logged->data();
  packed->bytes = logged->size();
  return true;
}

/// Does the same as mpi_entry for a call that reads a log. A program that knows nothing of Fenix could not go on without a message that it has
/// received before: where the log lacks it, or has it damaged, the job ends.
template <class Body>
int reading_entry(Body&& body) {
  return mpi_entry([&] {
    try {
      body();
    } catch (const MpiError&) {
      throw;
    } catch (const Error& error) {
      const bool is_lost = error.code() == FENIX_ERROR_NODATA_FOUND;
      if (!is_lost || interposer() == nullptr || !interposer()->must_go_on()) throw;
      abort_job(JobEnd::begins_again, rank_in(runtime().process().comms().resilient()),
                std::string(error.what()) + ": the job has to begin again");
    }
  });
}

int receive_logged(const ReceiveCall& receive, std::uint64_t comm_id, std::uint64_t number, int* flag,
                   MPI_Status* status) {
  return reading_entry([&] {
    check_buffer(receive.buffer, receive.count, receive.type);
    const Flow flow = flow_with(partner_of(receive, comm_id), "source");
    auto message = logged_comms().logged(flow, number, /*anew=*/false);
    *flag = message ? 1 : 0;
    if (!message) return;
    logged_comms().with_log([&](MessageLog& log, const RankJournals& journals) {
      log.replay().note_taken(journals.of_log(), flow, message->entry.head);
    });
    MessageTypes types;
    const ElementType& elements = types.of(receive.type);
    const std::size_t bytes = message->entry.head.bytes;
    const std::uint64_t room = static_cast<std::uint64_t>(receive.count) * elements.bytes();
    // The status tells whose message it is, and how long, also of one that is too long.
    set_status(status, receive.source, receive.tag, bytes);
    if (bytes > room) {
      throw MpiError(MPI_ERR_TRUNCATE, "the message has " + std::to_string(bytes) + " bytes, more than the buffer");
    }
    for (const Deadline deadline; !take(*message, elements, receive.buffer); deadline.check("a logged message")) {
      const StoredMessage before = *message;
      message = logged_comms().logged(flow, number, /*anew=*/true);
      // Its sender has moved it, or it is damaged in all places.
      const bool is_there =
          message && message->journal == before.journal && message->entry.head.sequence == before.entry.head.sequence;
      if (!message || is_there) {
        throw Error(FENIX_ERROR_NODATA_FOUND, "a logged message is damaged");
      }
    }
  });
}

int look_whether_taken(const Partner& to, std::uint64_t number, int* flag) {
  return mpi_entry([&] {
    const Flow flow = flow_with(to, "dest");
    const bool was_taken = logged_comms().with_log([&](MessageLog& log, const RankJournals& journals) {
      return log.sender().was_taken(journals.of_log(), flow, number);
    });
    *flag = was_taken ? 1 : 0;
    if (*flag != 0) return;
    if (const int error = runtime().process().comms().look_for_failures(); error != MPI_SUCCESS)
      throw PeerFailure(error);
  });
}

// Otherwise a receiver could store the message with its state, and die together with its sender: that one would send it once more.
bool may_send_first() {
  const auto call = runtime().gate().begin_call();
  return runtime().persistence().journals().have_messages_alone();
}

int prepare_send(const Partner& to, int* is_sent) {
  std::optional<bool> known;
  (void)known_entry(to, [&](const Flow& flow) { known = logged_comms().is_to_be_sent(flow); });
  if (known) {
    *is_sent = *known ? 1 : 0;
    return MPI_SUCCESS;
  }
  return mpi_entry([&] { *is_sent = logged_comms().prepare_send(flow_with(to, "dest")) ? 1 : 0; });
}

int look_whether_repeating(int* is_repeating) {
  return mpi_entry([&] {
    const bool repeats = logged_comms().with_determinants(
        [](const DeterminantLog& determinants) { return determinants.is_repeating(); });
    *is_repeating = repeats ? 1 : 0;
  });
}

int begin_receive(const Partner& from, std::uint64_t* number, int* is_logged) {
  const auto begin = [&](const Flow& flow) {
    const auto begun =
        logged_comms().with_log([&](MessageLog& log, const RankJournals&) { return log.replay().begin_receive(flow); });
    *number = begun.number;
    *is_logged = begun.is_logged ? 1 : 0;
  };
  if (const auto error = known_entry(from, begin)) return *error;
  return mpi_entry([&] { begin(flow_with(from, "source")); });
}

void end_receive(const ReceiveCall& receive, std::uint64_t comm_id, std::uint64_t number,
                 const MPI_Status* /*status*/) {
  const Partner from = partner_of(receive, comm_id);
  const auto end = [&](const Flow& flow) {
    logged_comms().with_log([&](MessageLog& log, const RankJournals&) { log.flows().end_receive(flow, number); });
  };
  if (!known_entry(from, end)) (void)mpi_entry([&] { end(flow_with(from, "source")); });
}

void take_back(bool is_sent, const Partner& peer) {
  (void)mpi_entry([&] {
    const Flow flow = flow_with(peer, "rank");
    logged_comms().with_log([&](MessageLog& log, const RankJournals&) { log.flows().take_back(flow, is_sent); });
  });
}

int find_logged(const Partner& from, int* flag, MPI_Status* status) {
  return reading_entry([&] {
    const MPI_Comm now = present(from.name);
    check_source(now, from.rank, from.tag);
    const auto message = logged_comms().find_unreceived(from.name, now, from.comm_id, from.rank, from.tag);
    *flag = message ? 1 : 0;
    if (message) set_status(status, message->source, message->entry.head.signature.tag, message->entry.head.bytes);
  });
}

// ------------------------------------------------------------------------------------------------------------------- determinants

int next_determinant(DeterminantKind call, bool may_be_negative, int room, int* count, int* outcome) {
  return mpi_entry([&] {
    std::optional<std::vector<int>> forced;
    try {
      forced = logged_comms().with_determinants(
          [&](DeterminantLog& determinants) { return determinants.next(call, may_be_negative); });
    } catch (const Error& error) {
      end_job(error.what());
    }
    tell_outcome(forced, room, count, outcome);
  });
}

// Messages are in the log: they are the same again.
void note_found(const Partner& /*from*/, std::uint64_t /*number*/) {}

int note_determinant(DeterminantKind call, int count, const int* outcome) {
  return mpi_entry([&] {
    logged_comms().with_determinants([&](DeterminantLog& determinants) {
      determinants.note(call, {outcome, static_cast<std::size_t>(count)});
    });
  });
}

int next_match(std::uint64_t* receive, int* source, int* tag, int* flag) {
  return mpi_entry([&] {
    const auto match = logged_comms().with_determinants([&](DeterminantLog& determinants) {
      *receive = determinants.begin_receive();
      return determinants.match_of(*receive);
    });
    *flag = match ? 1 : 0;
    if (match) tell_match(match->source, match->tag, source, tag);
  });
}

int note_match(std::uint64_t receive, int source, int tag) {
  return mpi_entry([&] {
    logged_comms().with_determinants([&](DeterminantLog& determinants) {
      determinants.note_match(receive, {source, tag});
    });
  });
}

bool repeats_calls() {
  const auto call = runtime().gate().begin_call();
  return runtime().policy().repeats_calls();
}

void leave_call(int error) { runtime().continuation().leave(error); }

constexpr std::atomic<bool> kTrue{true};

}  // namespace

void add_logged_messages(PersistServices* services) {
  services->fast_path_generation = &generation_of_fast_path;
  services->allow_send = allow_send;
  services->allow_receive = allow_receive;
  services->log_send = log_send;
  services->log_fast = log_fast;
  services->look_whether_taken = look_whether_taken;
  services->may_send_first = may_send_first;
  services->prepare_send = prepare_send;
  services->look_whether_repeating = look_whether_repeating;
  services->begin_receive = begin_receive;
  services->receive_logged = receive_logged;
  services->notes_ends = &kTrue;
  services->end_receive = end_receive;
  services->take_back = take_back;
  services->find_logged = find_logged;
  services->next_determinant = next_determinant;
  services->note_found = note_found;
  services->note_determinant = note_determinant;
  services->next_match = next_match;
  services->note_match = note_match;
  services->repeats_calls = repeats_calls;
  services->leave_call = leave_call;
}

}  // namespace fenix_impl
