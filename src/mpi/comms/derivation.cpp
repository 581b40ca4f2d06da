// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comms/derivation.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/of_thread.hpp"
#include "interposition/job_end.hpp"
#include "mpi/base/error_handlers.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/persistent_table.hpp"
#include "mpi/base/real.hpp"
#include "mpi/comms/attributes.hpp"
#include "mpi/comms/topology.hpp"

namespace fenix_impl {
namespace {

/// The place of a caller, as the same number in all processes that run the same program.
std::uint64_t site_of(const void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return 0;
  const std::string_view path = info.dli_fname;
  std::uint64_t site = 0;
  for (const char letter : path.substr(path.rfind('/') + 1)) site = mix(site, static_cast<unsigned char>(letter));
  const auto* base = static_cast<const char*>(info.dli_fbase);
  return mix(site, static_cast<std::uint64_t>(static_cast<const char*>(caller) - base));
}

std::vector<int> ranks_in(MPI_Group group, MPI_Group where) {
  int size = 0;
  real.Group_size(group, &size);
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int> ranks(numbers.size());
  real.Group_translate_ranks(group, size, numbers.data(), where, ranks.data());
  return ranks;
}

std::vector<int> ranks_in(MPI_Group group, MPI_Comm where) {
  MPI_Group all = MPI_GROUP_NULL;
  real.Comm_group(where, &all);
  std::vector<int> ranks = ranks_in(group, all);
  real.Group_free(&all);
  return ranks;
}

/// Returns the ranks in one communicator of the members of another one.
std::vector<int> ranks_in(MPI_Comm comm, MPI_Comm where) {
  MPI_Group members = MPI_GROUP_NULL;
  real.Comm_group(comm, &members);
  std::vector<int> ranks = ranks_in(members, where);
  real.Group_free(&members);
  return ranks;
}

/// Returns the number of calls on a parent: all, or those of MPI_Comm_create_group for a group.
unsigned& counter_of(Derived& parent, std::uint64_t group) {
  return group == 0 ? parent.made.usual : parent.made.of_groups[group];
}

/// Returns a hash of the members and the tag of MPI_Comm_create_group. Of other calls, which have no members here, it is 0.
std::uint64_t hash_of_group(const std::vector<int>& members, int tag) {
  std::uint64_t group = 0;
  for (const int rank : members) group = mix(group + 1, static_cast<std::uint64_t>(rank));
  return members.empty() ? 0 : mix(group + 1, static_cast<std::uint64_t>(tag));
}

/// Numbers the calls on one parent, equally on all ranks that take part.
void number(Derivation& derivation, Derived& parent) {
  const unsigned count = counter_of(parent, derivation.group)++;
  derivation.order = (std::uint64_t{registry().repairs.load()} << 32U) | count;
  derivation.id = construction_id(derivation.parent, derivation.order, derivation.group);
}

/// The result of a constructor on one rank, as it is told to the others.
struct Outcome {
  int leader = -1;  ///< rank in the parent of the first rank of the new communicator; -1: none
  int rank = 0;     ///< of the caller in the new one
};

/// Buffers that live as long as their thread, because the exchange may be left by longjmp.
std::vector<Outcome>& outcomes(int size) {
  auto& all = of_thread<std::vector<Outcome>>();
  all.resize(static_cast<std::size_t>(size));
  return all;
}

Outcome own_outcome(MPI_Comm parent, MPI_Comm made) {
  Outcome outcome;
  if (made == MPI_COMM_NULL) return outcome;
  real.Comm_rank(made, &outcome.rank);
  outcome.leader = ranks_in(made, parent).front();
  return outcome;
}

/// Tells all callers who is where. When it returns, every caller has the communicator.
int share_outcome(MPI_Comm parent, MPI_Comm made) {
  int size = 0;
  real.Comm_size(parent, &size);
  const Outcome own = own_outcome(parent, made);
  return real.Allgather(&own, 2, MPI_INT, outcomes(size).data(), 2, MPI_INT, parent);
}

std::vector<std::vector<int>> parts_of(const std::vector<Outcome>& all, const std::vector<int>& callers) {
  std::map<int, std::vector<std::pair<int, int>>> by_leader;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].leader >= 0) by_leader[all[i].leader].emplace_back(all[i].rank, callers[i]);
  }
  std::vector<std::vector<int>> parts;
  for (auto& [leader, members] : by_leader) {
    std::sort(members.begin(), members.end());
    std::vector<int>& part = parts.emplace_back();
    std::transform(members.begin(), members.end(), std::back_inserter(part),
                   [](const auto& member) { return member.second; });
  }
  return parts;
}

/// Whether the members of what is made are known without asking the others.
bool is_whole(Constructor constructor) {
  return constructor == Constructor::dup || constructor == Constructor::create_group;
}

Topology& read_buffer() {
  auto& topology = of_thread<Topology>();
  topology = {};
  return topology;
}

/// name: made itself, or a communicator that only names it.
void note(const Derivation& derivation, MPI_Comm made, MPI_Comm name, const Topology& topology) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derived* parent = all.find(derivation.parent_name);
  const bool by_group = derivation.constructor == Constructor::create_group;
  if (parent == nullptr || (by_group && made == MPI_COMM_NULL)) return;
  auto derived = std::make_unique<Derived>();
  Construction& construction = derived->construction;
  construction = {derivation.id, derivation.parent, derivation.constructor, derivation.site, derivation.order, {}, {},
                  topology};
  derived->slot.id = derivation.id;
  derived->slot.parent = parent->slot.id;
  derived->served.recipe = derivation.recipe;
  derived->served.lives = {{derivation.id, derivation.parent, derivation.site, derivation.order}};
  derived->served.begun = 1;
  derived->info_keys = count_info_keys(name);
  construction.callers = ranks_in(by_group ? made : parent->now, all.root.now);
  if (is_whole(derivation.constructor)) {
    construction.parts = {construction.callers};
  } else {
    construction.parts = parts_of(outcomes(static_cast<int>(construction.callers.size())), construction.callers);
  }
  derived->name = name;
  derived->now = made;
  if (name != made) derived->own_name = name;
  if (made != MPI_COMM_NULL) {
    const std::vector<int> members = name == made ? ranks_in(made, all.root.now) : construction.callers;
    const auto found = std::find(construction.parts.begin(), construction.parts.end(), members);
    derived->part = static_cast<int>(found - construction.parts.begin());
    inherit_handler(*parent, *derived);
    all.stale.erase(made);
  }
  all.derived.push_back(std::move(derived));
  if (name != made) all.publish();
}

/// Returns the topology of a communicator of the registry.
const Topology& topology_of(MPI_Comm name) {
  static const Topology none;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const Derived* found = all.find(name);
  return found != nullptr ? found->construction.topology : none;
}

/// Open MPI raises errors of a request of MPI_Comm_idup on MPI_COMM_WORLD. The handler of a parent is to get them.
void catch_errors_of_requests(MPI_Comm parent) {
  MPI_Errhandler present = MPI_ERRHANDLER_NULL;
  real.Comm_get_errhandler(MPI_COMM_WORLD, &present);
  if (present == MPI_ERRORS_ARE_FATAL) share_handler(parent, MPI_COMM_WORLD);
  MPI_Errhandler_free(&present);
}

/// Makes a communicator of this process alone that serves as a name. It has the error handler of another one.
int make_name(MPI_Comm comm, MPI_Comm* name) {
  const int error = real.Comm_split(MPI_COMM_SELF, 0, 0, name);
  if (error == MPI_SUCCESS) share_handler(comm, *name);
  return error;
}

/// Returns what a repair has made for a call, or null. A program without calls of Fenix that stores no state does again all that it had
/// done, in the same order. Ranks may call from different places, and a compiler may have made two places of one.
Derived* find_made(const Derived& parent, const Derivation& call, const std::vector<int>& members) {
  const bool stores_state = persistent_comms.load(std::memory_order_acquire) != nullptr;
  if (!is_transparent.load(std::memory_order_acquire) || stores_state) {
    return registry().find_awaiting(parent, call.constructor, call.site, members);
  }
  Derived* next = registry().find_next(parent, call.group);
  if (next == nullptr) return nullptr;
  const bool is_in_use = next->served.begun > 0 && next->part >= 0 && !next->served.is_freed_here;
  if (next->construction.constructor != call.constructor || is_in_use) {
    int rank = 0;
    real.Comm_rank(registry().root.now, &rank);
    abort_job(JobEnd::differs, rank,
              "a replacement does not do what its predecessor did: it makes another communicator");
  }
  return next;
}

/// Has a communicator that a repair has made serve the next call.
void take_life(Derived& made, std::uint64_t recipe) {
  const bool has_served = made.served.begun > 0;
  made.begin_life();
  made.served.recipe = recipe;
  if (has_served) forget_former_life(made);
  if (made.name == MPI_COMM_NULL) made.name = made.now;
}

}  // namespace

Derivation begin_derivation(const ConstructorCall& call) {
  // A call before may have been left by longjmp.
  let_mpi_copy_attributes(true);
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derivation derivation;
  derivation.parent_name = call.parent;
  derivation.constructor = call.constructor;
  // MPI is to say what is wrong.
  derivation.recipe = call.newcomm != nullptr ? call.recipe : 0;
  Derived* found = all.find(call.parent);
  if (found == nullptr || found->now == MPI_COMM_NULL) return derivation;
  derivation.site = site_of(call.caller);
  derivation.parent = found->id();
  const std::vector<int> members =
      call.group != MPI_GROUP_NULL ? ranks_in(call.group, all.root.now) : std::vector<int>();
  derivation.group = hash_of_group(members, call.tag);
  if (Derived* awaiting = find_made(*found, derivation, members)) {
    take_life(*awaiting, call.recipe);
    *call.newcomm = awaiting->name;
    derivation.done = true;
    derivation.is_new = std::exchange(awaiting->is_new, awaiting->awaits_call);
    if (derivation.is_new) inherit_handler(*found, *awaiting);
    return derivation;
  }
  derivation.tracked = true;
  number(derivation, *found);
  return derivation;
}

void take_back_number(const Derivation& derivation) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derived* parent = all.find(derivation.parent_name);
  // A repair begins the numbers anew.
  if (parent != nullptr && derivation.order >> 32U == all.repairs) --counter_of(*parent, derivation.group);
}

int inherit_attributes(MPI_Comm parent, MPI_Comm* newcomm) {
  const int error = copy_attributes(parent, *newcomm);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  // The other ranks have it, so it is not freed.
  *newcomm = MPI_COMM_NULL;
  PMPI_Comm_call_errhandler(parent, error);
  return error;
}

int derive_later(const Derivation& derivation, MPI_Comm* newcomm,
                 int (*start)(MPI_Comm, MPI_Info, MPI_Comm*, MPI_Request*), MPI_Info info, MPI_Request* request) {
  const MPI_Comm parent = now(derivation.parent_name);
  MPI_Comm name = MPI_COMM_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  int error = make_name(parent, &name);
  if (error != MPI_SUCCESS) return error;
  catch_errors_of_requests(parent);
  let_mpi_copy_attributes(false);
  // Open MPI has the handle at once.
  error = start(parent, info, &made, request);
  let_mpi_copy_attributes(true);
  if (error != MPI_SUCCESS) return error;
  *newcomm = name;
  fault_point("derive.made");
  error = inherit_attributes(derivation.parent_name, newcomm);
  if (error == MPI_SUCCESS) note(derivation, made, name, topology_of(derivation.parent_name));
  return error;
}

int end_derivation(const Derivation& derivation, int error, MPI_Comm* newcomm) {
  if (!derivation.tracked || error != MPI_SUCCESS) return error;
  fault_point("derive.made");
  Topology& topology = read_buffer();
  if (!is_whole(derivation.constructor)) error = share_outcome(now(derivation.parent_name), *newcomm);
  if (error == MPI_SUCCESS && *newcomm != MPI_COMM_NULL) error = read_topology(*newcomm, topology);
  if (error != MPI_SUCCESS) {
    *newcomm = MPI_COMM_NULL;
    return error;
  }
  if (derivation.constructor == Constructor::dup) {
    error = inherit_attributes(derivation.parent_name, newcomm);
    if (error != MPI_SUCCESS) return error;
  }
  fault_point("derive.agreed");
  note(derivation, *newcomm, *newcomm, topology);
  return MPI_SUCCESS;
}

int count_info_keys(MPI_Comm comm) {
  MPI_Info info = MPI_INFO_NULL;
  int keys = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_get_info(comm, &info) != MPI_SUCCESS) return 0;
  PMPI_Info_get_nkeys(info, &keys);
  PMPI_Info_free(&info);
  return keys;
}

void forget_former_life(Derived& derived) {
  // Its handle has another number now.
  ++registry().removals;
  if (derived.name != MPI_COMM_NULL) PMPI_Comm_set_name(derived.name, "");
  if (derived.handler_keeper == MPI_COMM_NULL) return;
  MPI_Comm keeper = derived.handler_keeper;
  derived.handler_keeper = MPI_COMM_NULL;
  registry().publish();
  (void)real.Comm_free(&keeper);
}

}  // namespace fenix_impl
