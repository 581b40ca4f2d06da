// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/base/outgoing.hpp"

#include <list>
#include <utility>
#include <vector>

#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/real.hpp"

namespace fenix_impl {
namespace {

/// A message on its way, with a copy of its bytes: the program may use its buffer again, as the log has the message.
struct Sent {
  std::vector<std::byte> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

std::list<Sent>& sent_messages() {
  static auto* instance = new std::list<Sent>;
  return *instance;
}

/// Memory of large messages that have arrived, for later ones: new pages cost more than the copy.
std::vector<std::vector<std::byte>>& spare_memory() {
  static auto* instance = new std::vector<std::vector<std::byte>>;
  return *instance;
}

/// Begins to send bytes. Many of them go as one element of a type that is made for them: MPI counts with int.
int start_bytes(const void* bytes, std::size_t count, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  constexpr std::size_t kMostCounted = std::size_t{16} << 20;
  if (count <= kMostCounted) return real.Isend(bytes, static_cast<int>(count), MPI_BYTE, dest, tag, comm, request);
  const std::size_t rest = count % kMostCounted;
  const int lengths[] = {static_cast<int>(count / kMostCounted), static_cast<int>(rest)};
  const MPI_Aint places[] = {0, static_cast<MPI_Aint>(count - rest)};
  MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_BYTE};
  MPI_Datatype all = MPI_DATATYPE_NULL;
  int error = PMPI_Type_contiguous(static_cast<int>(kMostCounted), MPI_BYTE, types);
  if (error != MPI_SUCCESS) return error;
  error = PMPI_Type_create_struct(2, lengths, places, types, &all);
  if (error == MPI_SUCCESS) error = PMPI_Type_commit(&all);
  if (error == MPI_SUCCESS) error = real.Isend(bytes, 1, all, dest, tag, comm, request);
  PMPI_Type_free(types);
  if (all != MPI_DATATYPE_NULL) PMPI_Type_free(&all);
  return error;
}

/// A message that is logged, and is to be sent with the next call.
struct Waiting {
  std::vector<std::byte> bytes;
  int dest = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  unsigned repairs = 0;  ///< so many there had been
};

std::vector<Waiting>& messages_for_later() {
  static auto* instance = new std::vector<Waiting>;
  return *instance;
}

}  // namespace

void forget_those_that_have_arrived() {
  constexpr std::size_t kMostSpare = 8;
  sent_messages().remove_if([](Sent& each) {
    int flag = 0;
    const bool has_arrived = real.Test(&each.request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
    const bool is_kept = each.bytes.capacity() >= kLargeBytes && spare_memory().size() < kMostSpare;
    if (has_arrived && is_kept) spare_memory().push_back(std::move(each.bytes));
    return has_arrived;
  });
}

int start_copy(const Packed& packed, int dest, int tag, MPI_Comm comm) {
  Sent& sent = sent_messages().emplace_back();
  if (packed.bytes >= kLargeBytes && !spare_memory().empty()) {
    sent.bytes = std::move(spare_memory().back());
    spare_memory().pop_back();
  }
  const auto* bytes = static_cast<const std::byte*>(packed.data);
  sent.bytes.assign(bytes, bytes + packed.bytes);
  return start_bytes(sent.bytes.data(), packed.bytes, dest, tag, now(comm), &sent.request);
}

void complete_copies() {
  for (Sent& each : sent_messages()) (void)real.Wait(&each.request, MPI_STATUS_IGNORE);
  sent_messages().clear();
}

void send_later(MPI_Comm comm, int dest, int tag, const void* content, std::size_t bytes) {
  const auto* const from = static_cast<const std::byte*>(content);
  messages_for_later().push_back({{from, from + bytes}, dest, tag, comm, registry().repairs});
}

bool has_messages_for_later() { return !messages_for_later().empty(); }

void start_what_waits() {
  for (const Waiting& each : std::exchange(messages_for_later(), {})) {
    // After a repair its receiver finds it in the log.
    if (each.repairs != registry().repairs) continue;
    (void)start_copy({each.bytes.data(), each.bytes.size()}, each.dest, each.tag, each.comm);
  }
}

}  // namespace fenix_impl
