// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comms/rebuilding.hpp"

#include <mpi-ext.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <new>
#include <set>
#include <utility>

#include "mpi/base/derived.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/unlogged.hpp"
#include "mpi/comms/construction_codec.hpp"
#include "mpi/comms/gathering.hpp"
#include "mpi/comms/groups.hpp"
#include "mpi/comms/topology.hpp"

namespace fenix_impl {
namespace {

using Words = std::vector<std::int64_t>;

/// An error of MPI in a repair. No error handler is called there, so it may be thrown.
struct RebuildError {
  int mpi_error;
};

void check(int mpi_error) {
  if (mpi_error != MPI_SUCCESS) throw RebuildError{mpi_error};
}

/// The repair that is under way, until it is adopted.
struct Rebuild {
  MPI_Comm resilient = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  unsigned repairs = 0;         ///< before this one
  std::vector<int> former;      ///< by new rank
  std::vector<bool> recovered;  ///< by new rank
  std::vector<int> next;        ///< new rank by former one, or -1
  std::vector<std::map<std::uint64_t, std::int64_t>>
      stages;                    ///< by new rank: of each slot that it knows, see stage_of()
  std::set<std::uint64_t> kept;  ///< slots that are made anew, those of other ranks too
};

Rebuild& under_way() {
  static auto* rebuild = new Rebuild;
  return *rebuild;
}

void begin(Rebuild& rebuild, MPI_Comm resilient, const int* former, const bool* recovered) {
  rebuild.resilient = resilient;
  check(real.Comm_rank(resilient, &rebuild.rank));
  check(real.Comm_size(resilient, &rebuild.size));
  rebuild.former.assign(former, former + rebuild.size);
  rebuild.recovered.assign(recovered, recovered + rebuild.size);
  const int last = *std::max_element(former, former + rebuild.size);
  rebuild.next.assign(static_cast<std::size_t>(last) + 1, -1);
  for (int rank = 0; rank < rebuild.size; ++rank) rebuild.next[static_cast<std::size_t>(former[rank])] = rank;
}

int next_of(const Rebuild& rebuild, int former) {
  const auto at = static_cast<std::size_t>(former);
  return at < rebuild.next.size() ? rebuild.next[at] : -1;
}

/// Gives every rank what each rank has.
std::vector<Words> gather_all(const Rebuild& rebuild, const Words& own) {
  Gathering<Words::value_type> gathering;
  gathering.set_own(own);
  check(gathering.run(rebuild.resilient));
  std::vector<Words> all;
  for (std::size_t rank = 0; rank < gathering.size(); ++rank) {
    const auto one = gathering.of(rank);
    all.emplace_back(one.begin(), one.end());
  }
  return all;
}

/// Returns how far communicators have come: the more calls they have served, the greater it is.
std::int64_t stage_of(const Derived& derived) {
  return 2 * static_cast<std::int64_t>(derived.served.lives.size()) + (derived.served.is_over ? 1 : 0);
}

/// Learns which constructions each rank knows, and how many repairs there have been: a spare has not taken part in earlier ones.
void exchange_stages(Rebuild& rebuild) {
  Words own = {static_cast<std::int64_t>(registry().repairs.load())};
  for (const auto& one : registry().derived) {
    own.push_back(static_cast<std::int64_t>(one->slot.id));
    own.push_back(stage_of(*one));
  }
  rebuild.stages.clear();
  rebuild.repairs = 0;
  for (const Words& words : gather_all(rebuild, own)) {
    rebuild.repairs = std::max(rebuild.repairs, static_cast<unsigned>(words.front()));
    auto& stages = rebuild.stages.emplace_back();
    for (std::size_t at = 1; at < words.size(); at += 2) stages[static_cast<std::uint64_t>(words[at])] = words[at + 1];
  }
}

/// Returns the surviving callers of a constructor.
std::vector<int> survivors_of(const Rebuild& rebuild, const Construction& construction) {
  std::vector<int> survivors;
  for (const int caller : construction.callers) {
    const int rank = next_of(rebuild, caller);
    if (rank >= 0 && !rebuild.recovered[static_cast<std::size_t>(rank)]) survivors.push_back(rank);
  }
  return survivors;
}

/// Whether new processes have taken the places of callers.
bool has_recovered(const Rebuild& rebuild, const Construction& construction) {
  return std::any_of(construction.callers.begin(), construction.callers.end(), [&](int caller) {
    const int rank = next_of(rebuild, caller);
    return rank >= 0 && rebuild.recovered[static_cast<std::size_t>(rank)];
  });
}

/// Returns the surviving callers that have completed a constructor, and have come the furthest since.
std::vector<int> knowing(const Rebuild& rebuild, const Derived& derived) {
  std::vector<int> ranks = survivors_of(rebuild, derived.construction);
  const auto stage = [&](int rank) {
    const auto& stages = rebuild.stages[static_cast<std::size_t>(rank)];
    const auto found = stages.find(derived.slot.id);
    return found != stages.end() ? found->second : 0;
  };
  std::int64_t furthest = 1;
  for (const int rank : ranks) furthest = std::max(furthest, stage(rank));
  std::erase_if(ranks, [&](int rank) { return stage(rank) != furthest; });
  return ranks;
}

/// Marks what is kept: constructions that all their surviving callers have completed, and none has freed. In a program without calls of
/// Fenix, one is enough: it does not call the constructor again, and the others take what the repair has made.
void choose(const Rebuild& rebuild) {
  const bool one_is_enough = is_transparent.load(std::memory_order_acquire);
  for (const auto& one : registry().derived) {
    const bool all = knowing(rebuild, *one).size() == survivors_of(rebuild, one->construction).size();
    one->kept = all || one_is_enough;
  }
}

/// Returns the slots that are kept, then the constructions of which others have to know: those that the first surviving caller that
/// has completed them tells of.
Words words_to_tell(const Rebuild& rebuild) {
  Words ids = {0};
  Words constructions;
  for (const auto& one : registry().derived) {
    const auto survivors = survivors_of(rebuild, one->construction);
    const auto know = knowing(rebuild, *one);
    const bool tells = !know.empty() && *std::min_element(know.begin(), know.end()) == rebuild.rank;
    if (!one->kept || !tells) continue;
    ++ids.front();
    ids.push_back(static_cast<std::int64_t>(one->slot.id));
    const bool some_lack = know.size() != survivors.size() || has_recovered(rebuild, one->construction);
    if (some_lack) encode(*one, constructions);
  }
  ids.insert(ids.end(), constructions.begin(), constructions.end());
  return ids;
}

/// Takes over a construction that the predecessor of this process had called, or this process itself, which a failure has cut short.
void inherit(int former, std::unique_ptr<Derived> derived) {
  const Construction& construction = derived->construction;
  if (Derived* known = registry().find_slot(derived->slot.id)) {
    if (stage_of(*known) >= stage_of(*derived)) return;
    // The others had agreed that this one is free, and gone on with it.
    known->served.lives = std::move(derived->served.lives);
    known->served.is_over = derived->served.is_over;
    known->awaits_call = known->is_new = known->served.begun < known->served.lives.size();
    return;
  }
  if (std::count(construction.callers.begin(), construction.callers.end(), former) == 0) return;
  const auto found = std::find_if(construction.parts.begin(), construction.parts.end(),
                                  [&](const auto& part) { return std::count(part.begin(), part.end(), former) > 0; });
  if (found != construction.parts.end()) derived->part = static_cast<int>(found - construction.parts.begin());
  derived->kept = derived->awaits_call = derived->is_new = true;
  registry().derived.push_back(std::move(derived));
}

/// Tells all ranks what is kept, and what they took part in, or their predecessors, and do not know of.
void tell(Rebuild& rebuild) {
  auto& derived = registry().derived;
  const std::vector<Words> told = gather_all(rebuild, words_to_tell(rebuild));
  const auto me = static_cast<std::size_t>(rebuild.rank);
  const bool is_new = rebuild.recovered[me];
  if (is_new) derived.clear();
  rebuild.kept.clear();
  for (const Words& words : told) {
    const auto ids = static_cast<std::size_t>(words.front());
    for (std::size_t i = 1; i <= ids; ++i) rebuild.kept.insert(static_cast<std::uint64_t>(words[i]));
    for (std::size_t at = ids + 1; at < words.size();) {
      auto one = std::make_unique<Derived>();
      at = decode(words, at, *one);
      inherit(rebuild.former[me], std::move(one));
    }
  }
  if (!is_new) return;
  std::sort(derived.begin(), derived.end(),
            [](const auto& a, const auto& b) { return a->served.next().order < b->served.next().order; });
}

std::vector<int> renumbered(const Rebuild& rebuild, const std::vector<int>& ranks) {
  std::vector<int> result;
  for (const int rank : ranks) {
    if (next_of(rebuild, rank) >= 0) result.push_back(next_of(rebuild, rank));
  }
  return result;
}

/// Makes the communicator of this rank. A topology does not outlive the loss of a member without successor.
void make(const Rebuild& rebuild, Derived& derived) {
  const auto& former = derived.construction.parts.at(static_cast<std::size_t>(derived.part));
  const std::vector<int> members = renumbered(rebuild, former);
  const auto key = std::find(members.begin(), members.end(), rebuild.rank) - members.begin();
  MPI_Comm plain = MPI_COMM_NULL;
  check(real.Comm_split(rebuild.resilient, derived.part, static_cast<int>(key), &plain));
  derived.next = plain;
  if (derived.construction.topology.kind == MPI_UNDEFINED || members.size() != former.size()) return;
  check(make_with_topology(plain, derived.construction.topology, &derived.next));
  check(real.Comm_free(&plain));
}

/// Makes all that is kept, in an order that is the same on all ranks. Every rank takes part in each split: MPI_Comm_create_group would
/// do without the others, but does not end in Open MPI 5.0.7 if a member dies.
void make_all(const Rebuild& rebuild) {
  for (const std::uint64_t slot : rebuild.kept) {
    Derived* derived = registry().find_slot(slot);
    MPI_Comm none = MPI_COMM_NULL;
    if (derived != nullptr && derived->part >= 0) {
      make(rebuild, *derived);
    } else {
      check(real.Comm_split(rebuild.resilient, MPI_UNDEFINED, 0, &none));
    }
  }
}

/// Frees the other ranks that wait for this one.
void give_up(const Rebuild& rebuild) {
  for (const auto& one : registry().derived) {
    if (one->next != MPI_COMM_NULL) real.MPIX_Comm_revoke(one->next);
  }
  real.MPIX_Comm_revoke(rebuild.resilient);
}

void renumber(const Rebuild& rebuild, Construction& construction) {
  construction.callers = renumbered(rebuild, construction.callers);
  for (auto& part : construction.parts) {
    const std::size_t before = part.size();
    part = renumbered(rebuild, part);
    if (part.size() != before) construction.topology = {};
  }
}

void adopt_one(const Rebuild& rebuild, Derived& derived, MPI_Errhandler handler) {
  Registry& all = registry();
  if (derived.now != MPI_COMM_NULL) all.stale.insert(derived.now);
  if (derived.own_name != MPI_COMM_NULL) all.has_cut_duplicates = true;
  derived.now = derived.kept ? std::exchange(derived.next, MPI_COMM_NULL) : MPI_COMM_NULL;
  if (derived.name == MPI_COMM_NULL) derived.name = derived.now;
  if (derived.now != MPI_COMM_NULL) {
    // Open MPI frees a duplicate that a failure has kept MPI_Comm_idup from completing: its handle may come again.
    all.stale.erase(derived.now);
    real.Comm_set_errhandler(derived.now, handler);
  }
  derived.made = {};
  if (derived.kept) {
    renumber(rebuild, derived.construction);
    if (all.services->survivors_start_over()) {
      derived.awaits_call = true;
      derived.served.begun = 0;
    }
  }
}

}  // namespace

int rebuild_derived(MPI_Comm resilient, const int* former, const bool* recovered) {
  end_job_with_unlogged_calls();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Rebuild& rebuild = under_way();
  try {
    begin(rebuild, resilient, former, recovered);
    for (const auto& one : all.derived) one->next = MPI_COMM_NULL;
    exchange_stages(rebuild);
    choose(rebuild);
    fault_point("derive.told");
    tell(rebuild);
    make_all(rebuild);
    fault_point("derive.rebuilt");
    return MPI_SUCCESS;
  } catch (const RebuildError& error) {
    give_up(rebuild);
    return error.mpi_error;
  } catch (const std::bad_alloc&) {
    give_up(rebuild);
    return MPI_ERR_NO_MEM;
  } catch (const std::exception&) {
    give_up(rebuild);
    return MPI_ERR_OTHER;
  }
}

void adopt_derived(MPI_Comm resilient, MPI_Errhandler handler) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const Rebuild& rebuild = under_way();
  Derived& root = all.root;
  if (root.now != MPI_COMM_NULL) {
    all.stale.insert(root.now);
    note_succession(root.now, resilient, rebuild.next);
  }
  root.now = resilient;
  if (root.name == MPI_COMM_NULL) root.name = resilient;
  root.made = {};
  for (const auto& one : all.derived) adopt_one(rebuild, *one, handler);
  // Others have no members any more. Their names stay invalid until the program frees them.
  ++all.removals;
  std::erase_if(all.derived, [](const auto& one) { return !one->kept && (one->name == MPI_COMM_NULL || one->freed); });
  all.repairs = rebuild.repairs + 1;
  all.publish();
}

}  // namespace fenix_impl
