// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/derivation.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string_view>

#include "mpi/error_handlers.hpp"
#include "mpi/handles.hpp"
#include "mpi/real.hpp"
#include "mpi/topology.hpp"

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

/// Numbers the calls on one parent, equally on all ranks that take part. members: of MPI_Comm_create_group, otherwise empty.
void number(Derivation& derivation, Derived& parent, const std::vector<int>& members, int tag) {
  std::uint64_t group = 0;
  for (const int rank : members) group = mix(group + 1, static_cast<std::uint64_t>(rank));
  if (!members.empty()) group = mix(group + 1, static_cast<std::uint64_t>(tag));
  const unsigned count = members.empty() ? parent.made++ : parent.made_by_groups[group]++;
  derivation.order = (std::uint64_t{registry().repairs} << 32U) | count;
  derivation.id = mix(mix(derivation.parent + 1, derivation.order), group);
}

/// The result of a constructor on one rank, as it is told to the others.
struct Outcome {
  int leader = -1;  ///< rank in the parent of the first rank of the new communicator; -1: none
  int rank = 0;     ///< of the caller in the new one
};

/// Buffers that live as long as their thread, because the exchange may be left by longjmp.
std::vector<Outcome>& outcomes(int size) {
  static thread_local std::vector<Outcome> all;
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
  static thread_local Topology topology;
  topology = {};
  return topology;
}

void note(const Derivation& derivation, MPI_Comm made, const Topology& topology) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derived* parent = all.find(derivation.parent_name);
  const bool by_group = derivation.constructor == Constructor::create_group;
  if (parent == nullptr || (by_group && made == MPI_COMM_NULL)) return;
  auto derived = std::make_unique<Derived>();
  Construction& construction = derived->construction;
  construction = {derivation.id, derivation.parent, derivation.constructor, derivation.site, derivation.order, {}, {},
                  topology};
  construction.callers = ranks_in(by_group ? made : parent->now, all.root.now);
  if (is_whole(derivation.constructor)) {
    construction.parts = {construction.callers};
  } else {
    construction.parts = parts_of(outcomes(static_cast<int>(construction.callers.size())), construction.callers);
  }
  derived->name = derived->now = made;
  if (made != MPI_COMM_NULL) {
    const std::vector<int> members = ranks_in(made, all.root.now);
    const auto found = std::find(construction.parts.begin(), construction.parts.end(), members);
    derived->part = static_cast<int>(found - construction.parts.begin());
    inherit_handler(*parent, *derived);
  }
  all.derived.push_back(std::move(derived));
}

}  // namespace

Derivation begin_derivation(MPI_Comm parent, Constructor constructor, const void* caller, MPI_Comm* newcomm,
                            MPI_Group group, int tag) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derivation derivation;
  derivation.parent_name = parent;
  derivation.constructor = constructor;
  Derived* found = all.find(parent);
  if (found == nullptr || found->now == MPI_COMM_NULL) return derivation;
  derivation.site = site_of(caller);
  derivation.parent = found->id();
  const std::vector<int> members = group != MPI_GROUP_NULL ? ranks_in(group, all.root.now) : std::vector<int>();
  if (Derived* awaiting = all.find_awaiting(*found, constructor, derivation.site, members)) {
    awaiting->awaits_call = false;
    awaiting->freed = false;
    *newcomm = awaiting->name;
    derivation.done = true;
    return derivation;
  }
  derivation.tracked = true;
  number(derivation, *found, members, tag);
  return derivation;
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
  fault_point("derive.agreed");
  note(derivation, *newcomm, topology);
  return MPI_SUCCESS;
}

}  // namespace fenix_impl
