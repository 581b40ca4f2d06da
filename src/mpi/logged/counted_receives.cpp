// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/counted_receives.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/fast_path.hpp"
#include "mpi/logged/receive_queue.hpp"
#include "mpi/logged/receive_step.hpp"

namespace fenix_impl {
namespace {

/// Receives that the program has not completed. There are none where calls of several threads may overlap: no lock.
class OpenReceives {
 public:
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] auto& all() { return all_; }
  void add(MPI_Request request, const LoggedReceive& receive) {
    if (unused_.empty()) {
      all_.insert_or_assign(request, receive);
      return;
    }
    Receives::node_type node = std::move(unused_.back());
    unused_.pop_back();
    node.key() = request;
    node.mapped() = receive;
    const auto added = all_.insert(std::move(node));
    if (!added.inserted) added.position->second = receive;
  }
  /// Returns null if there is none.
  [[nodiscard]] LoggedReceive* find(MPI_Request request) {
    if (all_.empty()) return nullptr;
    const auto found = all_.find(request);
    return found != all_.end() ? &found->second : nullptr;
  }
  void remove(MPI_Request request) {
    constexpr std::size_t kMostUnused = 1024;
    if (all_.empty()) return;
    Receives::node_type node = all_.extract(request);
    if (!node.empty() && unused_.size() < kMostUnused) unused_.push_back(std::move(node));
  }
  void clear() { all_.clear(); }

 private:
  using Receives = std::unordered_map<MPI_Request, LoggedReceive>;

  Receives all_;
  std::vector<Receives::node_type> unused_;  // memory for later ones
};

OpenReceives& open_receives() {
  static auto* instance = new OpenReceives;
  return *instance;
}

}  // namespace

bool begin_counted_receive(const LoggedReceive& receive, MPI_Request* request, int* error) {
  if (persist_services()->notes_ends->load(std::memory_order_acquire)) return false;
  if (is_wildcard(receive) || has_unmatched_receives()) return false;
  const FastReceive fast = fast_receive(receive.source, receive.tag, receive.comm);
  const bool is_only_counted = fast.is_allowed && fast.cancellable != nullptr;
  if (!is_only_counted) return false;
  *error =
      real.Irecv(receive.buffer, receive.count, receive.type, receive.source, receive.tag, now(receive.comm), request);
  if (*error != MPI_SUCCESS) return true;
  LoggedReceive begun = receive;
  begun.number = ++*fast.begun;
  begun.receive = ++*fast.cancellable;
  open_receives().add(*request, begun);
  return true;
}

bool has_counted_receives() { return !open_receives().empty(); }

bool uses_type_in_counted_receives(MPI_Datatype type) {
  if (!has_counted_receives()) return false;
  const auto& all = open_receives().all();
  return std::any_of(all.begin(), all.end(), [type](const auto& each) { return each.second.type == type; });
}

bool is_counted_receive(MPI_Request request) { return open_receives().find(request) != nullptr; }

void give_number_back(const LoggedReceive& cancelled) {
  take_back(/*is_sent=*/false, cancelled.source, cancelled.tag, cancelled.comm);
  lower_numbers_behind(cancelled);
  const auto lock = lock_stand_ins();
  for (auto& [request, stand_in] : stand_in_table().requests) {
    const bool is_one = stand_in.kind == StandIn::Kind::logged_receive && stand_in.state == StandIn::State::pending;
    if (is_one && is_later(stand_in.queued.receive, cancelled)) --stand_in.queued.receive.number;
  }
}

int cancel_counted_receive(MPI_Request* request) {
  int error = real.Cancel(request);
  if (error != MPI_SUCCESS) return error;
  // One that is cancelled is complete at once. Otherwise its message is coming, and it counts.
  int is_complete = 0;
  MPI_Status status{};
  error = real.Request_get_status(*request, &is_complete, &status);
  int is_cancelled = 0;
  if (error == MPI_SUCCESS && is_complete != 0) PMPI_Test_cancelled(&status, &is_cancelled);
  if (is_cancelled != 0) give_number_back(*open_receives().find(*request));
  return error;
}

void lower_numbers_behind(const LoggedReceive& cancelled) {
  for (auto& [request, each] : open_receives().all()) {
    if (is_later(each, cancelled)) --each.number;
  }
}

void forget_counted_receive(MPI_Request request) { open_receives().remove(request); }

void forget_counted_receives() { open_receives().clear(); }

void forget_completed_receives(int count, const MPI_Request* before, const MPI_Request* now) {
  OpenReceives& open = open_receives();
  for (int i = 0; i < count && !open.empty(); ++i) {
    if (now[i] != before[i]) open.remove(before[i]);
  }
}

}  // namespace fenix_impl
