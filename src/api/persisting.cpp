// SPDX-License-Identifier: BSD-3-Clause
#include "api/persisting.hpp"

#include <fenix.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/entry.hpp"
#include "api/persist_options.hpp"
#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "rma/element_type.hpp"

namespace fenix_impl {
namespace {

// Types that MPI has by itself are described once: they are never freed.
const ElementType& type_of(MPI_Datatype type, std::optional<ElementType>& made) {
  static thread_local std::unordered_map<MPI_Datatype, ElementType> named;
  const auto known = named.find(type);
  if (known != named.end()) return known->second;
  if (type == MPI_DATATYPE_NULL) throw MpiError(MPI_ERR_TYPE, "datatype is MPI_DATATYPE_NULL");
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  check_mpi(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
  try {
    if (combiner == MPI_COMBINER_NAMED) return named.emplace(type, ElementType(type)).first->second;
    made.emplace(type);
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    throw MpiError(MPI_ERR_TYPE, std::string("datatype: ") + error.what());
  }
  return *made;
}

void check_buffer(const void* buffer, int count) {
  if (count < 0) throw MpiError(MPI_ERR_COUNT, "count " + std::to_string(count) + " is negative");
  if (buffer == nullptr && count > 0) throw MpiError(MPI_ERR_BUFFER, "buffer is NULL");
}

void check_rank(MPI_Comm now, int rank, const char* name) {
  const int size = size_of(now);
  if (rank >= 0 && rank < size) return;
  throw MpiError(MPI_ERR_RANK,
                 std::string(name) + " " + std::to_string(rank) + " is not in [0, " + std::to_string(size) + ")");
}

void check_tag(MPI_Comm now, int tag) {
  int* most = nullptr;
  int found = 0;
  if (tag >= 0) {
    check_mpi(MPI_Comm_get_attr(now, MPI_TAG_UB, static_cast<void*>(&most), &found), "MPI_Comm_get_attr");
    if (found == 0 || tag <= *most) return;
  }
  throw MpiError(MPI_ERR_TAG, "tag " + std::to_string(tag) + " is out of range");
}

void set_status(MPI_Status* status, int source, int tag, std::uint64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  status->MPI_ERROR = MPI_SUCCESS;
  MPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  MPI_Status_set_cancelled(status, 0);
}

// Codes that are not MPI's own become classes of MPI.
int class_of(const Error& error) {
  switch (error.code()) {
    case FENIX_ERROR_NO_MEMORY:
      return MPI_ERR_NO_MEM;
    case FENIX_ERROR_INVALID_ARGUMENT:
      return MPI_ERR_ARG;
    case FENIX_ERROR_INTERN:
      return MPI_ERR_INTERN;
    default:
      return MPI_ERR_OTHER;
  }
}

// As entry(), for functions that return an error of MPI. No object with a destructor may be in the frames around it.
template <class Body>
int mpi_entry(Body&& body) {
  int mpi_error = MPI_SUCCESS;
  Failure failure;
  (void)run_inside(
      [&]() -> int {
        try {
          runtime().require_ready();
          body();
        } catch (const PeerFailure& peer) {
          mpi_error = peer.mpi_error();
          throw;
        } catch (const MpiError& error) {
          mpi_error = error.mpi_error();
          const bool is_vague = mpi_error == MPI_ERR_OTHER || mpi_error == MPI_ERR_INTERN;
          if (is_failure(mpi_error) || is_vague) throw;
          return report(error.code(), error.what(), error.place());
        } catch (const Error& error) {
          mpi_error = class_of(error);
          return report(error.code(), error.what(), error.place());
        } catch (const std::bad_alloc&) {
          mpi_error = MPI_ERR_NO_MEM;
          return report(FENIX_ERROR_NO_MEMORY, "out of memory");
        }
        return FENIX_SUCCESS;
      },
      failure);
  if (failure.mpi_error != MPI_SUCCESS) {
    mpi_error = failure.mpi_error;
    (void)after_failure(failure);
  }
  return mpi_error;
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
    check_buffer(buffer, count);
    check_rank(now, destination, "dest");
    check_tag(now, tag);
    std::optional<ElementType> made;
    const ElementType& elements = type_of(type, made);
    Payload payload;
    payload.bytes = static_cast<std::size_t>(count) * elements.bytes();
    if (elements.contiguous()) {
      payload.data = {static_cast<const std::byte*>(buffer), payload.bytes};
    } else {
      payload.pack = [&](std::span<std::byte> to) {
        elements.pack(buffer, 0, static_cast<std::uint64_t>(count), to.data());
      };
    }
    runtime().persistence().store(comm, now, destination, tag, payload);
  });
}

// Writes as many elements as there are bytes for; the last one may be a part.
void unpack(const ElementType& elements, std::span<const std::byte> bytes, void* buffer) {
  const std::uint64_t whole = bytes.size() / elements.bytes();
  elements.unpack(bytes.data(), 0, whole, buffer);
  const auto rest = bytes.subspan(whole * elements.bytes());
  if (rest.empty()) return;
  std::vector<std::byte> last(elements.bytes());
  elements.pack(buffer, whole, 1, last.data());
  std::copy(rest.begin(), rest.end(), last.begin());
  elements.unpack(last.data(), whole, 1, buffer);
}

// Calls look until it returns true. The message may come from any rank, at any time; a repair ends the wait.
template <class Look>
bool look_until(bool waits, MPI_Comm comm, const Look& look) {
  if (look()) return true;
  if (!waits) return false;
  if (!runtime().persistence().waits(comm)) {
    throw Error(FENIX_ERROR_NODATA_FOUND, "nothing has been stored for this receive, and persist_missing is \"error\"");
  }
  const Deadline deadline;
  const Backoff backoff;
  while (!look()) {
    if (const int error = runtime().process().look_for_failures(); error != MPI_SUCCESS) throw PeerFailure(error);
    deadline.check("a message on a persistent communicator, which nobody has stored");
    backoff.pause();
  }
  return true;
}

void check_source(MPI_Comm now, int source, int tag) {
  if (source != MPI_ANY_SOURCE) check_rank(now, source, "source");
  if (tag != MPI_ANY_TAG) check_tag(now, tag);
}

// Reads a message into the buffer of the program.
bool take(const StoredMessage& message, const ElementType& elements, void* buffer) {
  const std::size_t bytes = message.entry.head.bytes;
  Persistence& persistence = runtime().persistence();
  // Through memory of its own: a message that is replaced meanwhile must not leave half of itself.
  std::vector<std::byte> read(bytes);
  if (!persistence.read(message, read)) return false;
  unpack(elements, read, buffer);
  return true;
}

int receive(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, bool waits, int* flag,
            MPI_Status* status) {
  return mpi_entry([&] {
    const MPI_Comm now = present(comm);
    *flag = 1;
    if (source == MPI_PROC_NULL) return set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    check_buffer(buffer, count);
    check_source(now, source, tag);
    std::optional<ElementType> made;
    const ElementType& elements = type_of(type, made);
    const std::uint64_t room = static_cast<std::uint64_t>(count) * elements.bytes();
    Persistence& persistence = runtime().persistence();
    std::uint64_t unreadable = 0;
    const bool received = look_until(waits, comm, [&] {
      const auto message = persistence.find(comm, now, source, tag);
      if (!message) return false;
      const EntryHead& head = message->entry.head;
      if (head.bytes > room) {
        throw MpiError(MPI_ERR_TRUNCATE, "the message has " + std::to_string(head.bytes) + " bytes, and the buffer " +
                                             std::to_string(room));
      }
      if (!take(*message, elements, buffer)) {
        // If it is still the one that counts, nothing can be read any more.
        if (unreadable == head.sequence) {
          throw Error(FENIX_ERROR_NODATA_FOUND, "the message is damaged, and so are its copies");
        }
        unreadable = head.sequence;
        return false;
      }
      persistence.note_received(comm, *message);
      set_status(status, message->source, head.signature.tag, head.bytes);
      return true;
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
  return mpi_entry([&] {
    if (const int error = runtime().process().look_for_failures(); error != MPI_SUCCESS) throw PeerFailure(error);
    if (std::chrono::duration<double>(MPI_Wtime() - since) < Deadline::timeout()) return;
    throw Error(FENIX_ERROR_TIMEOUT, "no message has been stored that the program waits for");
  });
}

bool has_failed() {
  const auto call = runtime().begin_call();
  return runtime().persistence().has_failed();
}

constexpr PersistServices kServices = {open, close, store, receive, probe, check_wait, has_failed};

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
