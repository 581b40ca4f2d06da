// SPDX-License-Identifier: BSD-3-Clause
// The communicators that the program has derived from the resilient one, and how they were made.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "interposition/interposer.hpp"

namespace fenix_impl {

enum class Constructor : std::int64_t {
  dup,
  split,
  split_type,
  create,
  create_group,
  cart,
  cart_sub,
  graph,
  dist_graph
};

/// The topology of a communicator, the same on all its members.
struct Topology {
  std::int64_t kind = MPI_UNDEFINED;  ///< as MPI_Topo_test says
  std::vector<std::int64_t>
      numbers;  ///< cart: dimensions, then periods; graph: index, then edges; dist_graph: of each rank, see topology.cpp
};

/// One call of a constructor, as all members of its parent know it. Ranks are those in the resilient communicator.
struct Construction {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  ///< id of the communicator
  Constructor constructor = Constructor::dup;
  std::uint64_t site = 0;               ///< place in the program
  std::uint64_t order = 0;              ///< among those on its parent
  std::vector<int> callers;             ///< ranks that have called it
  std::vector<std::vector<int>> parts;  ///< members of each communicator that it has made
  Topology topology;
};

/// One call of a constructor that a communicator of MPI has served. When all members have freed it, it serves another call.
struct Life {
  std::uint64_t id = 0;  ///< of the construction
  std::uint64_t parent = 0;
  std::uint64_t site = 0;
  std::uint64_t order = 0;

  bool operator==(const Life&) const = default;
};

/// Mixes a number into a hash.
[[nodiscard]] inline std::uint64_t mix(std::uint64_t hash, std::uint64_t number) {
  hash = (hash ^ number) * 0xFF51AFD7ED558CCDU;
  return hash ^ (hash >> 32U);
}

/// Returns the id of a construction. order: see Life. group: hash of the members and the tag of MPI_Comm_create_group, otherwise 0.
[[nodiscard]] inline std::uint64_t construction_id(std::uint64_t parent, std::uint64_t order, std::uint64_t group) {
  return mix(mix(parent + 1, order), group);
}

/// The calls that a communicator has served.
struct ServedCalls {
  std::uint64_t recipe = 0;    ///< hash of what this rank has called; 0: it serves one call only
  std::vector<Life> lives;     ///< all of them, in their order
  std::size_t begun = 0;       ///< so many of them the program of this process has called
  bool is_freed_here = false;  ///< this rank has freed the latest one that it has called; others may still use it
  bool is_over = false;        ///< all members have freed the latest one

  /// Returns the call of the program that is the next one.
  [[nodiscard]] const Life& next() const { return lives[begun < lives.size() ? begun : lives.size() - 1]; }
};

/// Constructions on a communicator since the latest repair.
struct ConstructionCounts {
  unsigned usual = 0;
  std::map<std::uint64_t, unsigned> of_groups;  ///< by MPI_Comm_create_group, by hash of the members and the tag
};

/// The construction for which MPI has made a communicator.
struct ConstructionSlot {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  ///< that of its parent
};

/// A construction, and the communicator that this rank has of it.
struct Derived {
  /// Returns the id of the communicator: a construction may have made several.
  [[nodiscard]] std::uint64_t id() const { return mix(construction.id, static_cast<std::uint64_t>(part + 2)); }

  /// Whether it waits for another call to serve.
  [[nodiscard]] bool is_idle() const {
    return served.is_over && served.begun == served.lives.size() && (served.is_freed_here || part < 0);
  }
  /// Notes that the program of this process has made the next call that the communicator serves.
  void begin_life();

  Construction construction;
  int part = -1;  ///< part of the construction that this rank belongs to, or -1
  MPI_Comm name = MPI_COMM_NULL;
  MPI_Comm now = MPI_COMM_NULL;
  MPI_Comm next = MPI_COMM_NULL;      ///< made by a repair that is not complete
  MPI_Comm own_name = MPI_COMM_NULL;  ///< the name, if it is a communicator that does nothing else
  bool kept = false;                  ///< in the repair under way
  bool freed = false;                 ///< by the program; it stays because others are derived from it
  bool awaits_call = false;           ///< the program will call its constructor again
  bool is_new = false;                ///< made by a repair, and the program of this process has not had it yet
  ConstructionSlot slot;
  ServedCalls served;  ///< the construction is the latest one that has begun
  int info_keys = 0;   ///< at first
  ConstructionCounts made;
  MPI_Comm handler_keeper = MPI_COMM_NULL;  ///< has the handler for errors that the program has set, if any
};

/// All of them. Every function holds mutex as long as it works; none communicates.
struct Registry {
  std::recursive_mutex mutex;
  const InterposerServices* services = nullptr;
  std::atomic<unsigned> repairs = 0;   ///< may be read without mutex
  std::atomic<unsigned> removals = 0;  ///< of names: MPI may give their handles to others; may be read without mutex
  Derived root;                        ///< the resilient communicator
  std::vector<std::unique_ptr<Derived>> derived;
  std::unordered_set<MPI_Comm> stale;  ///< replaced by repairs
  bool has_cut_duplicates = false;     ///< a repair has come while MPI_Comm_idup may have been under way

  /// Returns the communicator with this name, or null.
  [[nodiscard]] Derived* find(MPI_Comm name);
  /// Returns what this rank has of the communicators that MPI has made for a construction, or null.
  [[nodiscard]] Derived* find_slot(std::uint64_t slot);
  /// Returns the one whose work this communicator does, or null.
  [[nodiscard]] Derived* find_working(MPI_Comm comm);
  /// Returns the first one that awaits this call, or null. members: of MPI_Comm_create_group, otherwise empty.
  [[nodiscard]] Derived* find_awaiting(const Derived& parent, Constructor constructor, std::uint64_t site,
                                       const std::vector<int>& members);
  /// Returns the first one that awaits the next call on its parent, or null: for a program that does all its calls again. group: see
  /// construction_id(). Calls of MPI_Comm_create_group with other members or another tag are not in an order with this one.
  [[nodiscard]] Derived* find_next(const Derived& parent, std::uint64_t group);
  /// Removes one that the program has freed, and those above it that were kept for its sake. Returns the communicators to be freed.
  [[nodiscard]] std::vector<MPI_Comm> remove(Derived& freed);
  /// Writes the table of names anew.
  void publish() const;

 private:
  [[nodiscard]] bool has_children(std::uint64_t id) const;
};

/// Returns the one registry.
Registry& registry();

/// Passes a fault point on to libfenix. Compiled out as those of libfenix are.
#ifdef FENIX_FAULT_INJECTION
void fault_point(const char* name);
#else
inline void fault_point(const char*) {}
#endif

}  // namespace fenix_impl
