// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/base/persistent_table.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "mpi/base/libfenix.hpp"

namespace fenix_impl {

constinit std::atomic<const HandleTable<Persistent>*> persistent_comms{nullptr};

namespace {

struct All {
  std::mutex mutex;
  std::vector<std::pair<MPI_Comm, Persistent>> comms;
};

All& all_comms() {
  static auto* instance = new All;
  return *instance;
}

// The old tables stay: threads may be reading them.
void publish(const std::vector<std::pair<MPI_Comm, Persistent>>& comms) {
  persistent_comms.store(comms.empty() ? nullptr : new HandleTable<Persistent>(comms), std::memory_order_release);
}

}  // namespace

void note_persistent(MPI_Comm comm, Persistent kind) {
  All& all = all_comms();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.comms, [comm](const auto& each) { return each.first == comm; });
  all.comms.emplace_back(comm, kind);
  publish(all.comms);
}

void forget_persistent(MPI_Comm comm) {
  if (!is_persistent(comm)) return;
  if (const PersistServices* services = persist_services()) services->close(comm);
  All& all = all_comms();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.comms, [comm](const auto& each) { return each.first == comm; });
  publish(all.comms);
}

}  // namespace fenix_impl
