// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/base/derived.hpp"

#include <algorithm>

#include "mpi/base/handles.hpp"

namespace fenix_impl {

Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

#ifdef FENIX_FAULT_INJECTION
void fault_point(const char* name) {
  if (registry().services != nullptr) registry().services->fault_point(name);
}
#endif

void Derived::begin_life() {
  const Life& life = served.next();
  if (served.begun > 0) made = {};
  served.begun = std::min(served.begun + 1, served.lives.size());
  construction.id = life.id;
  construction.parent = life.parent;
  construction.site = life.site;
  construction.order = life.order;
  awaits_call = served.begun < served.lives.size();
  freed = served.is_freed_here = false;
}

Derived* Registry::find(MPI_Comm name) {
  if (name == MPI_COMM_NULL) return nullptr;
  if (root.name == name) return &root;
  for (const auto& one : derived) {
    if (one->name == name && !one->freed && !one->is_idle()) return one.get();
  }
  return nullptr;
}

Derived* Registry::find_slot(std::uint64_t slot) {
  for (const auto& one : derived) {
    if (one->slot.id == slot) return one.get();
  }
  return nullptr;
}

Derived* Registry::find_working(MPI_Comm comm) {
  if (root.now == comm) return &root;
  for (const auto& one : derived) {
    if (one->now == comm) return one.get();
  }
  return nullptr;
}

Derived* Registry::find_awaiting(const Derived& parent, Constructor constructor, std::uint64_t site,
                                 const std::vector<int>& members) {
  for (const auto& one : derived) {
    const Construction& made = one->construction;
    if (!one->awaits_call || one->served.next().parent != parent.id()) continue;
    if (made.constructor != constructor || one->served.next().site != site) continue;
    if (members.empty() || made.callers == members) return one.get();
  }
  return nullptr;
}

Derived* Registry::find_next(const Derived& parent, std::uint64_t group) {
  Derived* first = nullptr;
  for (const auto& one : derived) {
    const Life& next = one->served.next();
    if (!one->awaits_call || next.parent != parent.id()) continue;
    if (next.id != construction_id(next.parent, next.order, group)) continue;
    if (first == nullptr || next.order < first->served.next().order) first = one.get();
  }
  return first;
}

bool Registry::has_children(std::uint64_t id) const {
  return std::any_of(derived.begin(), derived.end(),
                     [&](const auto& one) { return one->construction.parent == id && one->part >= 0; });
}

std::vector<MPI_Comm> Registry::remove(Derived& freed) {
  std::vector<MPI_Comm> unused;
  freed.freed = true;
  ++removals;
  for (Derived* one = &freed; one != nullptr && one->freed && !has_children(one->id());) {
    for (const MPI_Comm comm : {one->now, one->handler_keeper, one->own_name}) {
      if (comm != MPI_COMM_NULL) unused.push_back(comm);
    }
    const std::uint64_t parent = one->construction.parent;
    std::erase_if(derived, [&](const auto& other) { return other.get() == one; });
    const auto above =
        std::find_if(derived.begin(), derived.end(), [&](const auto& other) { return other->id() == parent; });
    one = above != derived.end() ? above->get() : nullptr;
  }
  // MPI may give their handles to other communicators.
  if (unused.size() > 1) publish();
  return unused;
}

void Registry::publish() const {
  std::vector<std::pair<MPI_Comm, MPI_Comm>> moved;
  const auto add = [&](const Derived& one) {
    if (one.name != MPI_COMM_NULL && one.name != one.now) moved.emplace_back(one.name, one.now);
    // Handlers of the program are called with this one.
    if (one.handler_keeper != MPI_COMM_NULL) moved.emplace_back(one.handler_keeper, one.now);
  };
  // A spare has no resilient communicator yet.
  if (root.now != MPI_COMM_NULL) add(root);
  for (const auto& one : derived) add(*one);
  publish_moved(moved);
}

}  // namespace fenix_impl
