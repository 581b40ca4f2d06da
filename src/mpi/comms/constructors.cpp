// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of the functions that make communicators. They have no object with a destructor: control may leave by longjmp.
#include "mpi/comms/constructors.hpp"

#include <fenix_mpi/persistent.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/of_thread.hpp"
#include "mpi/base/error_handlers.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/unlogged.hpp"
#include "mpi/comms/attributes.hpp"
#include "mpi/comms/derivation.hpp"
#include "mpi/comms/dist_graph.hpp"
#include "mpi/comms/groups.hpp"
#include "mpi/comms/lives.hpp"
#include "mpi/logged/meeting.hpp"
#include "mpi/logged/sends.hpp"

using namespace fenix_impl;

namespace {

/// Returns what a constructor returns if a repair has made its communicator.
int take_made(const Derivation& derivation, MPI_Comm* newcomm) {
  const bool inherits = derivation.is_new && derivation.constructor == Constructor::dup;
  return inherits ? inherit_attributes(derivation.parent_name, newcomm) : MPI_SUCCESS;
}

/// Returns what a constructor returns if a communicator that was free serves its call.
int take_served(const Derivation& derivation, MPI_Comm* newcomm) {
  fault_point("derive.served");
  return derivation.constructor == Constructor::dup ? inherit_attributes(derivation.parent_name, newcomm) : MPI_SUCCESS;
}

/// Calls a constructor, and then the error handler of the parent if there is an error. Meanwhile the parent has another one, which the new
/// communicator inherits: one that a failure keeps from being completed must not be found and revoked in the repair. Open MPI leaves it
/// behind, and crashes then if scripts/bootstrap has not built it.
template <class Call>
int call_quietly(MPI_Comm parent, MPI_Comm* newcomm, const Call& call) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  real.Comm_get_errhandler(parent, &handler);
  real.Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  const int error = call(parent);
  real.Comm_set_errhandler(parent, handler);
  MPI_Errhandler_free(&handler);
  if (error == MPI_SUCCESS && *newcomm != MPI_COMM_NULL) share_handler(parent, *newcomm);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  if (newcomm != nullptr) *newcomm = MPI_COMM_NULL;
  real.Comm_call_errhandler(parent, error);
  return error;
}

/// Makes a communicator by call, or takes the one that a repair has made.
template <class Call>
int derive(const Derivation& derivation, MPI_Comm* newcomm, const Call& call) {
  if (derivation.done) return take_made(derivation, newcomm);
  if (!derivation.tracked) return call(now(derivation.parent_name));
  fault_point("derive.begin");
  // MPI waits for all members, and some may come to this call only after others have gone on. Groups are not known here.
  if (is_transparent.load(std::memory_order_acquire) && derivation.constructor != Constructor::create_group) {
    std::vector<std::uint64_t>& lives = tell_of_lives(derivation);
    if (const int error = meet(derivation.parent_name, lives); error != MPI_SUCCESS) return error;
    if (serve_again(derivation, lives, newcomm)) return take_served(derivation, newcomm);
  }
  // If a copy function fails, it is to fail when all ranks have the communicator.
  let_mpi_copy_attributes(false);
  const int error = call_quietly(now(derivation.parent_name), newcomm, call);
  let_mpi_copy_attributes(true);
  if (error != MPI_SUCCESS && !tells_of_failure(error)) take_back_number(derivation);
  return end_derivation(derivation, error, newcomm);
}

/// Makes a communicator. In a program without calls of Fenix it goes on after failures. A constructor that one has cut short is called
/// again, or the repair has made its communicator, because it had ended on another rank.
template <class Attempt>
int go_on_deriving(const Attempt& attempt) {
  if (!is_transparent.load(std::memory_order_acquire)) return attempt();
  const RepeatableCall call;
  for (;;) {
    const unsigned repairs = registry().repairs;
    const int error = attempt();
    if (error == MPI_SUCCESS || repairs == registry().repairs) return error;
  }
}

/// Makes a communicator of which nothing else is known, and goes on.
template <class Call>
int derive_and_go_on(ConstructorCall by_program, const Recipe& recipe, const Call& call) {
  by_program.recipe = recipe.hash();
  return go_on_deriving([&] { return derive(begin_derivation(by_program), by_program.newcomm, call); });
}

/// Adds the edges of a rank. Weights may be one of MPI's constants, which are no memory.
Recipe& add_edges(Recipe& recipe, const int* ends, const int* weights, int count) {
  recipe.add(ends, count).add(weights == MPI_UNWEIGHTED ? 1 : weights == MPI_WEIGHTS_EMPTY ? 2 : 3);
  return weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY ? recipe : recipe.add(weights, count);
}

using StartDup = int (*)(MPI_Comm, MPI_Info, MPI_Comm*, MPI_Request*);

/// Begins a duplicate by start, or takes the one that a repair has made.
int duplicate_later(const Derivation& derivation, StartDup start, MPI_Info info, MPI_Comm* newcomm,
                    MPI_Request* request) {
  if (derivation.done) {
    const int error = take_made(derivation, newcomm);
    // A request that is complete.
    return error != MPI_SUCCESS ? error : real.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  }
  if (!derivation.tracked) return start(now(derivation.parent_name), info, newcomm, request);
  fault_point("derive.begin");
  return derive_later(derivation, newcomm, start, info, request);
}

/// Does what MPI_Comm_create does. In Open MPI 5.0.7 ranks take each other for dead after a death in that function.
int split_off(MPI_Comm parent, MPI_Group group, MPI_Comm* newcomm) {
  const int first = 0;
  int key = MPI_UNDEFINED;
  int color = MPI_UNDEFINED;
  int error = real.Group_rank(group, &key);
  if (error == MPI_SUCCESS && key != MPI_UNDEFINED) {
    MPI_Group all = MPI_GROUP_NULL;
    real.Comm_group(parent, &all);
    error = real.Group_translate_ranks(group, 1, &first, all, &color);
    real.Group_free(&all);
  }
  return error == MPI_SUCCESS ? real.Comm_split(parent, color, key, newcomm) : error;
}

/// Returns the hash of a call of MPI_Comm_create; 0 if MPI is to find something wrong.
std::uint64_t recipe_of(MPI_Comm parent, MPI_Group group) {
  auto& ranks = of_thread<std::vector<int>>();
  auto& numbers = of_thread<std::vector<int>>();
  int size = 0;
  if (!has_log(parent) || group == MPI_GROUP_NULL || real.Group_size(group, &size) != MPI_SUCCESS) return 0;
  ranks.assign(static_cast<std::size_t>(size), 0);
  numbers.resize(ranks.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  MPI_Group all = MPI_GROUP_NULL;
  real.Comm_group(now(parent), &all);
  real.Group_translate_ranks(group, size, numbers.data(), all, ranks.data());
  real.Group_free(&all);
  return Recipe(Constructor::create).add(ranks.data(), size).hash();
}

/// The tag of messages by which members of a group meet. MPI's function for all members of a communicator has the one before.
constexpr int kTagOfMeetings = kTagOfCounter + 2;

/// Has the members of a group wait for each other: Open MPI's MPI_Comm_create_group does not end if one has died before. A process that
/// takes a dead one's place does the same again.
int meet_group(MPI_Comm comm, MPI_Group group) {
  int size = 0;
  int rank = MPI_UNDEFINED;
  real.Group_size(group, &size);
  real.Group_rank(group, &rank);
  if (rank == MPI_UNDEFINED) return MPI_SUCCESS;
  MPI_Group all = MPI_GROUP_NULL;
  real.Comm_group(now(comm), &all);
  int error = MPI_SUCCESS;
  for (int distance = 1; distance < size && error == MPI_SUCCESS; distance *= 2) {
    const int ends[2] = {(rank + distance) % size, (rank - distance + size) % size};
    int ranks[2] = {0, 0};
    real.Group_translate_ranks(group, 2, ends, all, ranks);
    error = start_logged_send({nullptr, 0, MPI_BYTE, ranks[0], kTagOfMeetings, comm});
    if (error == MPI_SUCCESS) {
      error = logged_Recv(nullptr, 0, MPI_BYTE, ranks[1], kTagOfMeetings, comm, MPI_STATUS_IGNORE);
    }
  }
  real.Group_free(&all);
  return error;
}

/// Does what MPI_Comm_create_group does. Open MPI 5.0.7 gives the new communicator the topology of the parent, which a part of its ranks cannot
/// have, and which a repair could not make.
int create_of_group(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm* newcomm) {
  MPI_Comm made = MPI_COMM_NULL;
  int kind = MPI_UNDEFINED;
  int error = real.Comm_create_group(parent, group, tag, &made);
  if (error == MPI_SUCCESS && made != MPI_COMM_NULL) error = real.Topo_test(made, &kind);
  if (error == MPI_SUCCESS && kind != MPI_UNDEFINED) {
    const MPI_Comm with_topology = made;
    int rank = 0;
    real.Comm_rank(with_topology, &rank);
    error = real.Comm_split(with_topology, 0, rank, &made);
    // One that a failure has damaged is not freed: its number would be given away.
    MPI_Comm unused = with_topology;
    if (error == MPI_SUCCESS) (void)real.Comm_free(&unused);
  }
  if (error == MPI_SUCCESS) *newcomm = made;
  return error;
}

}  // namespace

namespace fenix_impl {

int duplicate(MPI_Comm comm, const void* caller, MPI_Comm* newcomm) {
  return derive_and_go_on({comm, Constructor::dup, caller, newcomm}, Recipe(Constructor::dup),
                          [=](MPI_Comm parent) { return real.Comm_dup(parent, newcomm); });
}

}  // namespace fenix_impl

#define FENIX_CALLER __builtin_return_address(0)

extern "C" {

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) { return duplicate(comm, FENIX_CALLER, newcomm); }

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return derive_and_go_on({comm, Constructor::dup, FENIX_CALLER, newcomm}, Recipe(Constructor::dup).add(info),
                          [=](MPI_Comm parent) { return real.Comm_dup_with_info(parent, info, newcomm); });
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  if (refuses_unlogged(comm)) return refuse_unlogged(comm, "MPI_Comm_idup");
  note_unlogged("MPI_Comm_idup");
  const auto start = [](MPI_Comm parent, MPI_Info, MPI_Comm* made, MPI_Request* begun) {
    return real.Comm_idup(parent, made, begun);
  };
  return duplicate_later(begin_derivation({comm, Constructor::dup, FENIX_CALLER, newcomm}), start, MPI_INFO_NULL,
                         newcomm, request);
}

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  if (refuses_unlogged(comm)) return refuse_unlogged(comm, "MPI_Comm_idup_with_info");
  note_unlogged("MPI_Comm_idup_with_info");
  return duplicate_later(begin_derivation({comm, Constructor::dup, FENIX_CALLER, newcomm}), real.Comm_idup_with_info,
                         info, newcomm, request);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  const Recipe recipe = Recipe(Constructor::split).add(static_cast<unsigned>(color)).add(static_cast<unsigned>(key));
  return derive_and_go_on({comm, Constructor::split, FENIX_CALLER, newcomm}, recipe,
                          [=](MPI_Comm parent) { return real.Comm_split(parent, color, key, newcomm); });
}

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  const Recipe recipe =
      Recipe(Constructor::split_type).add(static_cast<unsigned>(split_type)).add(static_cast<unsigned>(key)).add(info);
  return derive_and_go_on({comm, Constructor::split_type, FENIX_CALLER, newcomm}, recipe, [=](MPI_Comm parent) {
    return real.Comm_split_type(parent, split_type, key, info, newcomm);
  });
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  const void* const caller = FENIX_CALLER;
  return go_on_deriving([=] {
    const MPI_Group members = current(group);
    const Derivation derivation =
        begin_derivation({comm, Constructor::create, caller, newcomm, recipe_of(comm, members)});
    const int error = derive(derivation, newcomm, [=](MPI_Comm parent) {
      const bool is_valid = members != MPI_GROUP_NULL && newcomm != nullptr;
      return derivation.tracked && is_valid ? split_off(parent, members, newcomm)
                                            : real.Comm_create(parent, members, newcomm);
    });
    release(members, group);
    return error;
  });
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  const void* const caller = FENIX_CALLER;
  if (is_logged(comm) && group != MPI_GROUP_NULL && newcomm != nullptr) {
    const MPI_Group members = current(group);
    const int error = left(meet_group(comm, members));
    release(members, group);
    if (error != MPI_SUCCESS) return error;
  }
  return go_on_deriving([=] {
    const MPI_Group members = current(group);
    const Derivation derivation = begin_derivation({comm, Constructor::create_group, caller, newcomm, 0, members, tag});
    const int error = derive(derivation, newcomm, [=](MPI_Comm parent) {
      return derivation.tracked && newcomm != nullptr ? create_of_group(parent, members, tag, newcomm)
                                                      : real.Comm_create_group(parent, members, tag, newcomm);
    });
    release(members, group);
    return error;
  });
}

int PMPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* newcomm) {
  Recipe recipe(Constructor::cart);
  recipe.add(dims, ndims).add(periods, ndims).add(reorder != 0);
  return derive_and_go_on({comm, Constructor::cart, FENIX_CALLER, newcomm}, recipe, [=](MPI_Comm parent) {
    return real.Cart_create(parent, ndims, dims, periods, reorder, newcomm);
  });
}

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  int ndims = 0;
  if (has_log(comm)) real.Cartdim_get(now(comm), &ndims);
  const Recipe recipe = Recipe(Constructor::cart_sub).add(remain_dims, ndims);
  return derive_and_go_on({comm, Constructor::cart_sub, FENIX_CALLER, newcomm}, recipe,
                          [=](MPI_Comm parent) { return real.Cart_sub(parent, remain_dims, newcomm); });
}

int PMPI_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm* newcomm) {
  // MPI is to say what is wrong.
  const bool has_edges = nnodes > 0 && index != nullptr && index[0] >= 0 && std::is_sorted(index, index + nnodes);
  const int edge_count = has_edges ? index[nnodes - 1] : 0;
  Recipe recipe(Constructor::graph);
  recipe.add(index, nnodes).add(edges, edge_count).add(reorder != 0);
  return derive_and_go_on({comm, Constructor::graph, FENIX_CALLER, newcomm}, recipe, [=](MPI_Comm parent) {
    return real.Graph_create(parent, nnodes, index, edges, reorder, newcomm);
  });
}

int PMPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
                           const int weights[], MPI_Info info, int reorder, MPI_Comm* newcomm) {
  const void* const caller = FENIX_CALLER;
  const GivenEdges edges{n, sources, degrees, destinations, weights};
  int size = 0;
  if (!has_log(comm) || newcomm == nullptr || real.Comm_size(now(comm), &size) != MPI_SUCCESS ||
      !are_valid(edges, size)) {
    return real.Dist_graph_create(now(comm), n, sources, degrees, destinations, weights, info, reorder, newcomm);
  }
  // Also where a repair has made the communicator: its predecessor has sent and received these messages.
  const bool logs = is_logged(comm);
  const int error = logs ? left(share_edges(edges, comm, /*logs=*/true)) : MPI_SUCCESS;
  if (error != MPI_SUCCESS) return error;
  int edge_count = 0;
  for (int i = 0; i < n; ++i) edge_count += degrees[i];
  Recipe recipe(Constructor::dist_graph);
  add_edges(recipe.add(sources, n).add(degrees, n).add(reorder != 0).add(info), destinations, weights, edge_count);
  return derive_and_go_on({comm, Constructor::dist_graph, caller, newcomm}, recipe, [=](MPI_Comm parent) {
    const int failed = logs ? MPI_SUCCESS : share_edges(edges, parent, /*logs=*/false);
    return failed != MPI_SUCCESS ? failed : make_of_shared_edges(parent, info, reorder, newcomm);
  });
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int sourceweights[],
                                    int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                    int reorder, MPI_Comm* newcomm) {
  Recipe recipe(Constructor::dist_graph);
  add_edges(recipe.add(reorder != 0).add(info), sources, sourceweights, indegree);
  add_edges(recipe, destinations, destweights, outdegree);
  return derive_and_go_on({comm, Constructor::dist_graph, FENIX_CALLER, newcomm}, recipe, [=](MPI_Comm parent) {
    return real.Dist_graph_create_adjacent(parent, indegree, sources, sourceweights, outdegree, destinations,
                                           destweights, info, reorder, newcomm);
  });
}

// The processes of the job, not only those of the resilient communicator.
int PMPI_Abort(MPI_Comm comm, int errorcode) { return real.Abort(comm, errorcode); }

decltype(PMPI_Comm_dup) MPI_Comm_dup __attribute__((weak, alias("PMPI_Comm_dup")));
decltype(PMPI_Comm_dup_with_info) MPI_Comm_dup_with_info __attribute__((weak, alias("PMPI_Comm_dup_with_info")));
decltype(PMPI_Comm_idup) MPI_Comm_idup __attribute__((weak, alias("PMPI_Comm_idup")));
decltype(PMPI_Comm_idup_with_info) MPI_Comm_idup_with_info __attribute__((weak, alias("PMPI_Comm_idup_with_info")));
decltype(PMPI_Comm_split) MPI_Comm_split __attribute__((weak, alias("PMPI_Comm_split")));
decltype(PMPI_Comm_split_type) MPI_Comm_split_type __attribute__((weak, alias("PMPI_Comm_split_type")));
decltype(PMPI_Comm_create) MPI_Comm_create __attribute__((weak, alias("PMPI_Comm_create")));
decltype(PMPI_Comm_create_group) MPI_Comm_create_group __attribute__((weak, alias("PMPI_Comm_create_group")));
decltype(PMPI_Cart_create) MPI_Cart_create __attribute__((weak, alias("PMPI_Cart_create")));
decltype(PMPI_Cart_sub) MPI_Cart_sub __attribute__((weak, alias("PMPI_Cart_sub")));
decltype(PMPI_Graph_create) MPI_Graph_create __attribute__((weak, alias("PMPI_Graph_create")));
decltype(PMPI_Dist_graph_create) MPI_Dist_graph_create __attribute__((weak, alias("PMPI_Dist_graph_create")));
decltype(PMPI_Dist_graph_create_adjacent) MPI_Dist_graph_create_adjacent
    __attribute__((weak, alias("PMPI_Dist_graph_create_adjacent")));
decltype(PMPI_Abort) MPI_Abort __attribute__((weak, alias("PMPI_Abort")));
}
