// SPDX-License-Identifier: BSD-3-Clause
#include "api/persisting.hpp"

#include <fenix.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "api/persist_calls.hpp"
#include "api/persist_options.hpp"
#include "api/persisted_collectives.hpp"
#include "base/deadline.hpp"
#include "base/scratch.hpp"

namespace fenix_impl {
namespace {

void check_tag(MPI_Comm now, int tag) {
  int* most = nullptr;
  int found = 0;
  if (tag >= 0) {
    check_mpi(MPI_Comm_get_attr(now, MPI_TAG_UB, static_cast<void*>(&most), &found), "MPI_Comm_get_attr");
    if (found == 0 || tag <= *most) return;
  }
  throw MpiError(MPI_ERR_TAG, "tag " + std::to_string(tag) + " is out of range");
}

Payload payload_of(const void* buffer, int count, const ElementType& elements) {
  Payload payload;
  payload.bytes = static_cast<std::size_t>(count) * elements.bytes();
  if (elements.contiguous()) {
    payload.data = {static_cast<const std::byte*>(buffer), payload.bytes};
  } else {
    payload.pack = [buffer, count, &elements](std::span<std::byte> to) {
      elements.pack(buffer, 0, static_cast<std::uint64_t>(count), to.data());
    };
  }
  return payload;
}

int open(MPI_Comm comm, const char* key, MPI_Info info, int* delivers) {
  return mpi_entry([&] {
    if (key == nullptr) throw MpiError(MPI_ERR_ARG, "key is NULL");
    const PersistOptions options = persist_options(info);
    runtime().persistence().open(comm, present(comm), key, options);
    *delivers = options.delivers ? 1 : 0;
  });
}

void close(MPI_Comm comm) {
  const auto call = runtime().begin_call();
  runtime().persistence().close(comm);
}

int store(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {
  return mpi_entry([&] {
    const MPI_Comm now = present(comm);
    if (destination == MPI_PROC_NULL) return;
    check_buffer(buffer, count, type);
    check_rank(now, destination, "dest");
    check_tag(now, tag);
    MessageTypes types;
    const ElementType& elements = types.of(type);
    const Payload payload = payload_of(buffer, count, elements);
    runtime().persistence().store(comm, now, destination, tag, payload);
  });
}

void check_source(MPI_Comm now, int source, int tag) {
  if (source != MPI_ANY_SOURCE) check_rank(now, source, "source");
  if (tag != MPI_ANY_TAG) check_tag(now, tag);
}

// Reads a message into the buffer of the program.
bool take(const StoredMessage& message, const ElementType& elements, void* buffer) {
  const std::size_t bytes = message.entry.head.bytes;
  Persistence& persistence = runtime().persistence();
  if (elements.contiguous() && persistence.stays(message)) {
    return persistence.read(message, {static_cast<std::byte*>(buffer), bytes});
  }
  // Through memory of its own: a message that is replaced meanwhile must not leave half of itself.
  const Scratch scratch(bytes);
  if (!persistence.read(message, scratch.bytes())) return false;
  unpack_part(elements, scratch.bytes(), 0, buffer);
  return true;
}

int receive(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, bool waits, int* flag,
            MPI_Status* status) {
  return mpi_entry([&] {
    const MPI_Comm now = present(comm);
    *flag = 1;
    if (source == MPI_PROC_NULL) return set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    check_buffer(buffer, count, type);
    check_source(now, source, tag);
    MessageTypes types;
    const ElementType& elements = types.of(type);
    const std::uint64_t room = static_cast<std::uint64_t>(count) * elements.bytes();
    Persistence& persistence = runtime().persistence();
    std::optional<StoredMessage> unreadable;
    const bool received = look_until(waits, comm, [&] {
      for (const Deadline deadline;; deadline.check("a message that stays while it is read")) {
        const auto message = persistence.find(comm, now, source, tag);
        if (!message) return false;
        const EntryHead& head = message->entry.head;
        if (head.bytes > room) {
          throw MpiError(MPI_ERR_TRUNCATE, "the message has " + std::to_string(head.bytes) + " bytes, and the buffer " +
                                               std::to_string(room));
        }
        if (take(*message, elements, buffer)) {
          persistence.note_received(comm, *message);
          set_status(status, message->source, head.signature.tag, head.bytes);
          return true;
        }
        // It was replaced meanwhile. If it is still the one that counts, nothing can be read any more.
        if (unreadable && unreadable->source == message->source && unreadable->entry.head == head) {
          throw Error(FENIX_ERROR_NODATA_FOUND, "the message is damaged, and so are its copies");
        }
        unreadable = message;
      }
    });
    *flag = received ? 1 : 0;
  });
}

int probe(int source, int tag, MPI_Comm comm, bool waits, int* flag, MPI_Status* status) {
  return mpi_entry([&] {
    const MPI_Comm now = present(comm);
    *flag = 1;
    if (source == MPI_PROC_NULL) return set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    check_source(now, source, tag);
    Persistence& persistence = runtime().persistence();
    const bool found = look_until(waits, comm, [&] {
      const auto message = persistence.find(comm, now, source, tag);
      if (!message) return false;
      set_status(status, message->source, message->entry.head.signature.tag, message->entry.head.bytes);
      return true;
    });
    *flag = found ? 1 : 0;
  });
}

int check_wait(double since) {
  // since only says which wait it is: the clock of MPI goes on while this process is stopped.
  static thread_local double latest = 0;
  static thread_local std::optional<Deadline> deadline;
  return mpi_entry([&] {
    if (!deadline || since != latest) deadline.emplace();
    latest = since;
    if (const int error = runtime().process().look_for_failures(); error != MPI_SUCCESS) throw PeerFailure(error);
    if (!deadline->passed()) return;
    throw Error(FENIX_ERROR_TIMEOUT, "no message has been stored that the program waits for");
  });
}

/// Returns the flow of messages with another rank. name: of the argument with that rank. Throws MpiError if the rank or the tag is wrong.
MessageLog::Flow flow_with(const Partner& partner, const char* name) {
  Persistence& persistence = runtime().persistence();
  if (const auto known = persistence.known_flow_of(partner)) return *known;
  const MPI_Comm now = present(partner.name);
  check_rank(now, partner.rank, name);
  check_tag(now, partner.tag);
  return persistence.flow_of(partner, now);
}

/// Calls work with the flow of messages with a partner, if it is known: quicker than mpi_entry. work calls nothing of MPI, and can only fail
/// for want of memory. Returns nothing if the flow is not known.
template <class Work>
std::optional<int> known_entry(const Partner& partner, const Work& work) {
  const auto call = runtime().begin_call();
  const auto flow = runtime().persistence().known_flow_of(partner);
  if (!flow) return std::nullopt;
  try {
    work(*flow);
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    (void)report(FENIX_ERROR_NO_MEMORY, "out of memory");
    return MPI_ERR_NO_MEM;
  }
}

void allow_send(int destination, int tag, MPI_Comm comm, std::uint64_t channel, QuickSend* quick) {
  *quick = runtime().persistence().allow_send({comm, channel, destination, tag});
}

void allow_receive(int source, int tag, MPI_Comm comm, std::uint64_t channel, QuickReceive* quick) {
  *quick = runtime().persistence().allow_receive({comm, channel, source, tag});
}

int log_send(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
             std::uint64_t channel, const void** packed, std::size_t* bytes) {
  return mpi_entry([&] {
    check_buffer(buffer, count, type);
    const MessageLog::Flow flow = flow_with({comm, channel, destination, tag}, "dest");
    MessageTypes types;
    const ElementType& elements = types.of(type);
    const Payload payload = payload_of(buffer, count, elements);
    try {
      const auto logged = runtime().persistence().log_send(flow, payload);
      *packed = logged ? logged->data() : nullptr;
      *bytes = logged ? logged->size() : 0;
    } catch (const AnotherHistory& error) {
      end_job(error.what());
    }
  });
}

int receive_logged(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   std::uint64_t channel, std::uint64_t number, int* flag, MPI_Status* status) {
  return mpi_entry([&] {
    check_buffer(buffer, count, type);
    const MessageLog::Flow flow = flow_with({comm, channel, source, tag}, "source");
    Persistence& persistence = runtime().persistence();
    auto message = persistence.logged(flow, number, /*anew=*/false);
    *flag = message ? 1 : 0;
    if (!message) return;
    MessageTypes types;
    const ElementType& elements = types.of(type);
    const std::size_t bytes = message->entry.head.bytes;
    if (bytes > static_cast<std::uint64_t>(count) * elements.bytes()) {
      throw MpiError(MPI_ERR_TRUNCATE, "the message has " + std::to_string(bytes) + " bytes, more than the buffer");
    }
    for (const Deadline deadline; !take(*message, elements, buffer); deadline.check("a logged message")) {
      const StoredMessage before = *message;
      message = persistence.logged(flow, number, /*anew=*/true);
      // Its sender has moved it, or it is damaged in all places.
      const bool is_there =
          message && message->journal == before.journal && message->entry.head.sequence == before.entry.head.sequence;
      if (!message || is_there) {
        throw Error(FENIX_ERROR_NODATA_FOUND, "a logged message is damaged");
      }
    }
    set_status(status, source, tag, bytes);
  });
}

// Otherwise a receiver could store the message with its state, and die together with its sender: that one would send it once more.
bool may_send_first() {
  const auto call = runtime().begin_call();
  return runtime().persistence().has_messages_alone();
}

int prepare_send(int destination, int tag, MPI_Comm comm, std::uint64_t channel, int* is_sent) {
  const Partner to{comm, channel, destination, tag};
  std::optional<bool> known;
  (void)known_entry(to, [&](const MessageLog::Flow& flow) { known = runtime().persistence().is_to_be_sent(flow); });
  if (known) {
    *is_sent = *known ? 1 : 0;
    return MPI_SUCCESS;
  }
  return mpi_entry([&] { *is_sent = runtime().persistence().prepare_send(flow_with(to, "dest")) ? 1 : 0; });
}

int look_whether_repeating(int* is_repeating) {
  return mpi_entry([&] {
    const bool repeats =
        runtime().persistence().with_decisions([](const DecisionLog& decisions) { return decisions.is_repeating(); });
    *is_repeating = repeats ? 1 : 0;
  });
}

int begin_receive(int source, int tag, MPI_Comm comm, std::uint64_t channel, std::uint64_t* number, int* is_logged) {
  const Partner from{comm, channel, source, tag};
  const auto begin = [&](const MessageLog::Flow& flow) {
    const auto begun = runtime().persistence().begin_receive(flow);
    *number = begun.number;
    *is_logged = begun.is_logged ? 1 : 0;
  };
  if (const auto error = known_entry(from, begin)) return *error;
  return mpi_entry([&] { begin(flow_with(from, "source")); });
}

void end_receive(const void* /*buffer*/, MPI_Datatype /*type*/, const MPI_Status* /*status*/, int source, int tag,
                 MPI_Comm comm, std::uint64_t channel, std::uint64_t number) {
  const Partner from{comm, channel, source, tag};
  const auto end = [&](const MessageLog::Flow& flow) { runtime().persistence().end_receive(flow, number); };
  if (!known_entry(from, end)) (void)mpi_entry([&] { end(flow_with(from, "source")); });
}

void take_back(bool is_sent, int peer, int tag, MPI_Comm comm, std::uint64_t channel) {
  (void)mpi_entry([&] { runtime().persistence().take_back(is_sent, flow_with({comm, channel, peer, tag}, "rank")); });
}

int find_logged(int source, int tag, MPI_Comm comm, std::uint64_t channel, int* flag, MPI_Status* status) {
  return mpi_entry([&] {
    const MPI_Comm now = present(comm);
    check_source(now, source, tag);
    const auto message = runtime().persistence().find_unreceived(comm, now, channel, source, tag);
    *flag = message ? 1 : 0;
    if (message) set_status(status, message->source, message->entry.head.signature.tag, message->entry.head.bytes);
  });
}

// ------------------------------------------------------------------------------------------------------------------- decisions

int next_decision(Decision call, bool may_be_negative, int room, int* count, int* outcome) {
  return mpi_entry([&] {
    std::optional<std::vector<int>> forced;
    try {
      forced = runtime().persistence().with_decisions(
          [&](DecisionLog& decisions) { return decisions.next(call, may_be_negative); });
    } catch (const Error& error) {
      end_job(error.what());
    }
    tell_outcome(forced, room, count, outcome);
  });
}

// Messages are in the log: they are the same again.
void note_found(int /*source*/, int /*tag*/, MPI_Comm /*comm*/, std::uint64_t /*channel*/, std::uint64_t /*number*/) {}

int note_decision(Decision call, int count, const int* outcome) {
  return mpi_entry([&] {
    runtime().persistence().with_decisions([&](DecisionLog& decisions) {
      decisions.note(call, {outcome, static_cast<std::size_t>(count)});
    });
  });
}

int next_match(std::uint64_t* receive, int* source, int* tag, int* flag) {
  return mpi_entry([&] {
    const auto match = runtime().persistence().with_decisions([&](DecisionLog& decisions) {
      *receive = decisions.begin_receive();
      return decisions.match_of(*receive);
    });
    *flag = match ? 1 : 0;
    if (match) tell_match(match->source, match->tag, source, tag);
  });
}

int note_match(std::uint64_t receive, int source, int tag) {
  return mpi_entry([&] {
    runtime().persistence().with_decisions([&](DecisionLog& decisions) {
      decisions.note_match(receive, {source, tag});
    });
  });
}

bool has_failed() {
  const auto call = runtime().begin_call();
  return runtime().persistence().has_failed();
}

bool repeats_calls() {
  const auto call = runtime().begin_call();
  return runtime().repeats_calls();
}

void leave_call(int error) { runtime().leave(error); }

constexpr std::atomic<bool> kTrue{true};

constexpr PersistServices kServices = {open,
                                       close,
                                       store,
                                       receive,
                                       persist_collective,
                                       probe,
                                       check_wait,
                                       has_failed,
                                       &generation_of_quick_messages,
                                       allow_send,
                                       allow_receive,
                                       log_send,
                                       may_send_first,
                                       prepare_send,
                                       look_whether_repeating,
                                       begin_receive,
                                       receive_logged,
                                       &kTrue,
                                       end_receive,
                                       take_back,
                                       find_logged,
                                       next_decision,
                                       note_found,
                                       note_decision,
                                       next_match,
                                       note_match,
                                       repeats_calls,
                                       leave_call};

}  // namespace

const PersistServices* persist_services() { return &kServices; }

}  // namespace fenix_impl

using namespace fenix_impl;

extern "C" {

int Fenix_Failure(int* flag) {
  return ready_entry([&]() -> int {
    require(flag, "flag");
    *flag = runtime().persistence().has_failed() ? 1 : 0;
    return FENIX_SUCCESS;
  });
}

}  // extern "C"
