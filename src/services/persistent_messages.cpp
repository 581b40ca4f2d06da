// SPDX-License-Identifier: BSD-3-Clause
#include "services/persistent_messages.hpp"

#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "messages/options.hpp"
#include "services/logged_messages.hpp"
#include "services/message_arguments.hpp"
#include "services/mpi_entry.hpp"
#include "services/persistent_collectives.hpp"

namespace fenix_impl {
namespace {

int open(MPI_Comm comm, const char* key, MPI_Info info, int* delivers) {
  return mpi_entry([&] {
    if (key == nullptr) throw MpiError(MPI_ERR_ARG, "key is NULL");
    const PersistOptions options = persist_options(info);
    runtime().persistence().comms().open(comm, present(comm), key, options);
    *delivers = options.delivers ? 1 : 0;
  });
}

void close(MPI_Comm comm) {
  const auto call = runtime().gate().begin_call();
  runtime().persistence().comms().close(comm);
}

int store(const SendCall& message) {
  return mpi_entry([&] {
    const MPI_Comm now = present(message.comm);
    if (message.destination == MPI_PROC_NULL) return;
    check_buffer(message.buffer, message.count, message.type);
    check_rank(now, message.destination, "dest");
    check_tag(message.tag);
    MessageTypes types;
    const ElementType& elements = types.of(message.type);
    const Payload payload = payload_of(message.buffer, message.count, elements);
    runtime().persistence().comms().store(message.comm, now, message.destination, message.tag, payload);
  });
}

int receive(const ReceiveCall& receive, bool waits, int* flag, MPI_Status* status) {
  return mpi_entry([&] {
    const MPI_Comm comm = receive.comm;
    const MPI_Comm now = present(comm);
    *flag = 1;
    if (receive.source == MPI_PROC_NULL) return set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    check_buffer(receive.buffer, receive.count, receive.type);
    check_source(now, receive.source, receive.tag);
    MessageTypes types;
    const ElementType& elements = types.of(receive.type);
    const std::uint64_t room = static_cast<std::uint64_t>(receive.count) * elements.bytes();
    PersistentComms& comms = runtime().persistence().comms();
    std::optional<StoredMessage> unreadable;
    const bool received = look_until(waits, comm, [&] {
      for (const Deadline deadline;; deadline.check("a message that stays while it is read")) {
        const auto message = comms.find(comm, now, receive.source, receive.tag);
        if (!message) return false;
        const EntryHead& head = message->entry.head;
        if (head.bytes > room) {
          throw MpiError(MPI_ERR_TRUNCATE, "the message has " + std::to_string(head.bytes) + " bytes, and the buffer " +
                                               std::to_string(room));
        }
        if (take(*message, elements, receive.buffer)) {
          comms.note_received(comm, *message);
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

int probe(const ProbeCall& call, int* flag, MPI_Status* status) {
  return mpi_entry([&] {
    const MPI_Comm now = present(call.comm);
    *flag = 1;
    if (call.source == MPI_PROC_NULL) return set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    check_source(now, call.source, call.tag);
    PersistentComms& comms = runtime().persistence().comms();
    const bool found = look_until(call.waits, call.comm, [&] {
      const auto message = comms.find(call.comm, now, call.source, call.tag);
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
    if (const int error = runtime().process().comms().look_for_failures(); error != MPI_SUCCESS)
      throw PeerFailure(error);
    if (!deadline->passed()) return;
    throw Error(FENIX_ERROR_TIMEOUT, "no message has been stored that the program waits for");
  });
}

bool has_failed() {
  const auto call = runtime().gate().begin_call();
  return runtime().persistence().comms().has_failed();
}

PersistServices all_services() {
  PersistServices services{};
  services.open = open;
  services.close = close;
  services.store = store;
  services.receive = receive;
  services.collective = persist_collective;
  services.probe = probe;
  services.check_wait = check_wait;
  services.has_failed = has_failed;
  add_logged_messages(&services);
  return services;
}

}  // namespace

const PersistServices* persist_services() {
  static const PersistServices kServices = all_services();
  return &kServices;
}

}  // namespace fenix_impl
