// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comms/lives.hpp"

#include <algorithm>

#include "base/of_thread.hpp"
#include "mpi/base/derived.hpp"
#include "mpi/base/error_handlers.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/persistent_table.hpp"
#include "mpi/base/real.hpp"
#include "mpi/logged/open_calls.hpp"

namespace fenix_impl {
namespace {

constexpr std::size_t kBits = 64;
/// Number of communicators that one message tells of.
constexpr std::size_t kMostToldOf = 1024;

/// Returns the communicators that were made from a parent, in an order that is the same on all its members.
std::vector<Derived*> made_from(const Derived& parent) {
  std::vector<Derived*> made;
  for (const auto& one : registry().derived) {
    const bool by_group = one->construction.constructor == Constructor::create_group;
    if (one->slot.parent == parent.slot.id && !by_group) made.push_back(one.get());
  }
  std::sort(made.begin(), made.end(), [](const Derived* a, const Derived* b) { return a->slot.id < b->slot.id; });
  if (made.size() > kMostToldOf) made.resize(kMostToldOf);
  return made;
}

/// Whether a message has come that nobody has received.
bool has_message(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  int flag = 0;
  real.Comm_get_errhandler(comm, &handler);
  real.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int error = real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
  real.Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  return error != MPI_SUCCESS || flag != 0;
}

/// Whether this rank has freed a communicator and all that were made from it, and nothing of them is under way.
bool is_free(const Derived& derived) {
  if (derived.served.begun != derived.served.lives.size()) return false;
  if (derived.is_idle() || derived.part < 0) return true;
  if (!derived.served.is_freed_here || derived.own_name != MPI_COMM_NULL) return false;
  if (has_open_calls_on(derived.name) || has_message(derived.now)) return false;
  if (count_info_keys(derived.name) != derived.info_keys) return false;
  const auto& all = registry().derived;
  return std::all_of(all.begin(), all.end(),
                     [&](const auto& other) { return other->construction.parent != derived.id() || is_free(*other); });
}

/// Ends the life of a communicator, and those of all that were made from it.
void end_life(Derived& derived) {
  if (derived.is_idle()) return;
  derived.served.is_over = true;
  for (const auto& other : registry().derived) {
    if (other->construction.parent == derived.id()) end_life(*other);
  }
}

bool is_set(const std::vector<std::uint64_t>& words, std::size_t bit) {
  return (words[bit / kBits] >> (bit % kBits) & 1U) != 0;
}

/// States bring processes back to a place between two calls: nothing serves a second call there.
bool may_serve_again() {
  return persistent_comms.load(std::memory_order_acquire) == nullptr && persist_services()->prepare_send != nullptr;
}

}  // namespace

std::vector<std::uint64_t>& tell_of_lives(const Derivation& call) {
  auto& words = of_thread<std::vector<std::uint64_t>>();
  words.clear();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const Derived* parent = all.find(call.parent_name);
  if (parent == nullptr) return words;
  const auto made = made_from(*parent);
  const std::size_t half = (made.size() + kBits - 1) / kBits;
  words.assign(2 * half, 0);
  if (!may_serve_again()) return words;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const std::uint64_t bit = std::uint64_t{1} << (i % kBits);
    if (is_free(*made[i])) words[i / kBits] |= bit;
    if (call.recipe != 0 && made[i]->served.recipe == call.recipe) words[half + i / kBits] |= bit;
  }
  return words;
}

bool serve_again(const Derivation& call, const std::vector<std::uint64_t>& agreed, MPI_Comm* newcomm) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derived* const parent = all.find(call.parent_name);
  if (parent == nullptr) return false;
  const auto made = made_from(*parent);
  Derived* chosen = nullptr;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!is_set(agreed, i)) continue;
    end_life(*made[i]);
    if (chosen == nullptr && is_set(agreed, agreed.size() / 2 * kBits + i)) chosen = made[i];
  }
  if (chosen == nullptr) return false;
  chosen->served.lives.push_back({call.id, call.parent, call.site, call.order});
  chosen->served.is_over = false;
  chosen->begin_life();
  forget_former_life(*chosen);
  chosen->name = chosen->now;
  all.stale.erase(chosen->now);
  inherit_handler(*parent, *chosen);
  *newcomm = chosen->name;
  return true;
}

void note_freed(MPI_Comm name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derived* const found = all.find(name);
  if (found != nullptr && found != &all.root) found->served.is_freed_here = true;
}

}  // namespace fenix_impl
