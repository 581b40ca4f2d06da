// SPDX-License-Identifier: BSD-3-Clause
#include "services/counted_messages.hpp"

#include <mpi-ext.h>

#include <optional>
#include <string>
#include <vector>

#include "services/mpi_entry.hpp"
#include "services/persistent_messages.hpp"

namespace fenix_impl {
namespace {

Checkpoints& checkpoints() { return runtime().checkpoints(); }

/// Does the same as mpi_entry. A call that a repair has cut short, and that comes here once more, ends with an error that tells of it.
template <class Body>
int counting_entry(Body&& body) {
  return checkpoints().is_active() ? mpi_entry(body) : MPIX_ERR_REVOKED;
}

/// The bytes of a message whose type has gaps, until the next one.
std::vector<std::byte>& packed_message() {
  static auto* instance = new std::vector<std::byte>;
  return *instance;
}

void allow_send(const Partner& to, FastSend* fast) { *fast = checkpoints().allow_send(to); }

void allow_receive(const Partner& from, FastReceive* fast) { *fast = checkpoints().allow_receive(from); }

// A message that is sent goes from the program's buffer, if it can.
int count_send(const SendCall& message, std::uint64_t comm_id, Packed* packed) {
  return counting_entry([&] {
    check_buffer(message.buffer, message.count, message.type);
    check_rank(present(message.comm), message.destination, "dest");
    if (message.tag < 0) throw MpiError(MPI_ERR_TAG, "tag " + std::to_string(message.tag) + " is out of range");
    MessageTypes types;
    const ElementType& elements = types.of(message.type);
    packed->data = nullptr;
    if (!checkpoints().count_send(partner_of(message, comm_id))) return;
    packed->bytes = static_cast<std::size_t>(message.count) * elements.bytes();
    packed->data = message.buffer;
    if (packed->bytes > 0 && elements.contiguous()) return;
    // Also a message without bytes has to be somewhere.
    packed_message().resize(packed->bytes + 1);
    elements.pack(message.buffer, 0, static_cast<std::uint64_t>(message.count), packed_message().data());
    packed->data = packed_message().data();
  });
}

int begin_receive(const Partner& from, std::uint64_t* number, int* is_logged) {
  return counting_entry([&] {
    check_rank(present(from.name), from.rank, "source");
    if (from.tag < 0) throw MpiError(MPI_ERR_TAG, "tag " + std::to_string(from.tag) + " is out of range");
    *number = checkpoints().begin_receive(from);
    *is_logged = checkpoints().replay().has_logged() ? 1 : 0;
  });
}

std::vector<std::byte> bytes_of(const void* buffer, MPI_Datatype type, const MPI_Status& status) {
  MessageTypes types;
  const ElementType& elements = types.of(type);
  MPI_Count bytes = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  const std::uint64_t size = elements.bytes();
  const std::uint64_t count = size > 0 ? (static_cast<std::uint64_t>(bytes) + size - 1) / size : 0;
  std::vector<std::byte> packed(count * size);
  elements.pack(buffer, 0, count, packed.data());
  // The last element may be a part.
  packed.resize(static_cast<std::size_t>(bytes));
  return packed;
}

void end_receive(const ReceiveCall& receive, std::uint64_t comm_id, std::uint64_t number, const MPI_Status* status) {
  (void)counting_entry([&] {
    checkpoints().end_receive(partner_of(receive, comm_id), number,
                              [&] { return bytes_of(receive.buffer, receive.type, *status); });
  });
}

void take_back(bool is_sent, const Partner& peer) {
  (void)counting_entry([&] { checkpoints().take_back(peer, is_sent); });
}

int receive_logged(const ReceiveCall& receive, std::uint64_t comm_id, std::uint64_t number, int* flag,
                   MPI_Status* status) {
  return counting_entry([&] {
    const LateMessage* const message = checkpoints().replay().logged(partner_of(receive, comm_id), number);
    *flag = message != nullptr ? 1 : 0;
    if (message == nullptr) return;
    check_buffer(receive.buffer, receive.count, receive.type);
    MessageTypes types;
    const ElementType& elements = types.of(receive.type);
    if (message->bytes.size() > static_cast<std::uint64_t>(receive.count) * elements.bytes()) {
      throw MpiError(MPI_ERR_TRUNCATE,
                     "the message has " + std::to_string(message->bytes.size()) + " bytes, more than the buffer");
    }
    unpack_part(elements, message->bytes, 0, receive.buffer);
    set_status(status, receive.source, receive.tag, message->bytes.size());
  });
}

int find_logged(const Partner& from, int* flag, MPI_Status* status) {
  return counting_entry([&] {
    const LateMessage* const message = checkpoints().replay().find(from);
    *flag = message != nullptr ? 1 : 0;
    if (message != nullptr) set_status(status, message->flow.source, message->flow.tag, message->bytes.size());
  });
}

int next_determinant(DeterminantKind call, bool may_be_negative, int room, int* count, int* outcome) {
  return counting_entry([&] {
    std::optional<std::vector<int>> forced;
    try {
      forced = checkpoints().next(call, may_be_negative);
    } catch (const Error& error) {
      end_job(error.what());
    }
    tell_outcome(forced, room, count, outcome);
  });
}

void note_found(const Partner& from, std::uint64_t number) {
  (void)counting_entry([&] { checkpoints().note_found(from, number); });
}

int note_determinant(DeterminantKind call, int count, const int* outcome) {
  return counting_entry([&] { checkpoints().note(call, {outcome, static_cast<std::size_t>(count)}); });
}

int next_match(std::uint64_t* receive, int* source, int* tag, int* flag) {
  return counting_entry([&] {
    *receive = checkpoints().counts().begin_match();
    const auto match = checkpoints().replay().match_of(*receive);
    *flag = match ? 1 : 0;
    if (match) tell_match(match->source, match->tag, source, tag);
  });
}

int note_match(std::uint64_t receive, int source, int tag) {
  return counting_entry([&] { checkpoints().note_match(receive, source, tag); });
}

// A rank that waits here must not delay the others.
int check_wait(double since) {
  const int error = counting_entry([] { checkpoints().progress(); });
  return error != MPI_SUCCESS ? error : persist_services()->check_wait(since);
}

PersistServices with_counts() {
  PersistServices services = *persist_services();
  services.check_wait = check_wait;
  services.allow_send = allow_send;
  services.allow_receive = allow_receive;
  services.log_send = count_send;
  services.prepare_send = nullptr;  // what is sent is not copied
  services.notes_ends = &checkpoints().line().notes_ends();
  services.begin_receive = begin_receive;
  services.receive_logged = receive_logged;
  services.end_receive = end_receive;
  services.take_back = take_back;
  services.find_logged = find_logged;
  services.next_determinant = next_determinant;
  services.note_found = note_found;
  services.note_determinant = note_determinant;
  services.next_match = next_match;
  services.note_match = note_match;
  return services;
}

}  // namespace

const PersistServices* counting_services() {
  static const PersistServices services = with_counts();
  return &services;
}

}  // namespace fenix_impl
