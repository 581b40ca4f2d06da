// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/counted_receives.hpp"

#include <unordered_map>

#include "mpi/derived.hpp"
#include "mpi/logged_receives.hpp"
#include "mpi/persistent.hpp"
#include "mpi/quick_messages.hpp"
#include "mpi/real.hpp"

namespace fenix_impl {
namespace {

/// Receives that the program has not completed. There are none where calls of several threads may overlap: no lock.
using Receives = std::unordered_map<MPI_Request, LoggedReceive>;

Receives& receives() {
  static auto* instance = new Receives;
  return *instance;
}

}  // namespace

bool begin_counted_receive(const LoggedReceive& receive, MPI_Request* request, int* error) {
  if (is_wildcard(receive) || has_unmatched_receives()) return false;
  const QuickReceive quick = quick_receive(receive.source, receive.tag, receive.comm);
  const bool is_only_counted = quick.is_allowed && quick.cancellable != nullptr;
  if (!is_only_counted || persist_services()->notes_ends->load(std::memory_order_acquire)) return false;
  *error =
      real.Irecv(receive.buffer, receive.count, receive.type, receive.source, receive.tag, now(receive.comm), request);
  if (*error != MPI_SUCCESS) return true;
  LoggedReceive& begun = receives()[*request] = receive;
  begun.number = ++*quick.begun;
  begun.receive = ++*quick.cancellable;
  return true;
}

bool has_counted_receives() { return !receives().empty(); }

bool is_counted_receive(MPI_Request request) { return !receives().empty() && receives().count(request) != 0; }

int cancel_counted_receive(MPI_Request* request) {
  int error = real.Cancel(request);
  if (error != MPI_SUCCESS) return error;
  // MPI says only now whether its message has come before.
  int is_complete = 0;
  MPI_Status status{};
  while (error == MPI_SUCCESS && is_complete == 0) error = real.Request_get_status(*request, &is_complete, &status);
  int is_cancelled = 0;
  if (error == MPI_SUCCESS) PMPI_Test_cancelled(&status, &is_cancelled);
  if (is_cancelled != 0) give_number_back(receives().at(*request));
  return error;
}

void lower_numbers_behind(const LoggedReceive& cancelled) {
  for (auto& [request, each] : receives()) {
    if (is_later(each, cancelled)) --each.number;
  }
}

void forget_counted_receive(MPI_Request request) {
  if (!receives().empty()) receives().erase(request);
}

void forget_counted_receives() { receives().clear(); }

void forget_completed_receives(int count, const MPI_Request* before, const MPI_Request* now) {
  if (receives().empty()) return;
  for (int i = 0; i < count; ++i) {
    if (now[i] != before[i]) receives().erase(before[i]);
  }
}

}  // namespace fenix_impl
