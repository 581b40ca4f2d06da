// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of the functions that make and free communicators. They have no object with a destructor: control may leave by longjmp.
#include "mpi/constructors.hpp"

#include "mpi/attributes.hpp"
#include "mpi/derivation.hpp"
#include "mpi/dist_graph.hpp"
#include "mpi/error_handlers.hpp"
#include "mpi/groups.hpp"
#include "mpi/handles.hpp"
#include "mpi/logged.hpp"
#include "mpi/persistent.hpp"
#include "mpi/real.hpp"
#include "mpi/unlogged.hpp"

using namespace fenix_impl;

namespace {

/// Returns what a constructor returns if a repair has made its communicator.
int take_made(const Derivation& derivation, MPI_Comm* newcomm) {
  const bool inherits = derivation.is_new && derivation.constructor == Constructor::dup;
  return inherits ? inherit_attributes(derivation.parent_name, newcomm) : MPI_SUCCESS;
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
    if (const int error = meet(derivation.parent_name); error != MPI_SUCCESS) return error;
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
  const GoingOn call;
  for (;;) {
    const unsigned repairs = registry().repairs;
    const int error = attempt();
    if (error == MPI_SUCCESS || repairs == registry().repairs) return error;
  }
}

/// Makes a communicator of which nothing else is known, and goes on.
template <class Call>
int derive_and_go_on(MPI_Comm parent, Constructor constructor, const void* caller, MPI_Comm* newcomm,
                     const Call& call) {
  return go_on_deriving([&] { return derive(begin_derivation(parent, constructor, caller, newcomm), newcomm, call); });
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
    error = start_logged_send(nullptr, 0, MPI_BYTE, ranks[0], kTagOfMeetings, comm);
    if (error == MPI_SUCCESS) {
      error = logged_Recv(nullptr, 0, MPI_BYTE, ranks[1], kTagOfMeetings, comm, MPI_STATUS_IGNORE);
    }
  }
  real.Group_free(&all);
  return error;
}

/// Deletes the attributes of a communicator that was derived from the resilient one: MPI does not free it if another one stands for it.
int delete_all_attributes(MPI_Comm comm) {
  Registry& all = registry();
  {
    const std::lock_guard lock(all.mutex);
    const Derived* found = all.find(comm);
    if (found == nullptr || found == &all.root) return MPI_SUCCESS;
  }
  const int error = delete_attributes(comm);
  if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, error);
  return error;
}

/// Forgets a communicator. Returns whether it was one of the registry; then unused has to be freed.
bool forget(MPI_Comm comm, std::vector<MPI_Comm>& unused) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derived* found = all.find(comm);
  // MPI may give the handle to another communicator.
  if (found == nullptr) all.past.erase(comm);
  if (found == nullptr || found == &all.root) return false;
  unused = all.remove(*found);
  return true;
}

/// The same as MPI_Comm_free, while libfenix does not look.
int free_unseen_by_libfenix(MPI_Comm* comm) {
  const InterposerServices* const libfenix = registry().services;
  return libfenix != nullptr ? libfenix->free_unseen(real.Comm_free, comm) : real.Comm_free(comm);
}

int free_derived(MPI_Comm* comm, int (*free)(MPI_Comm*)) {
  static thread_local std::vector<MPI_Comm> unused;
  if (comm != nullptr && *comm == MPI_COMM_WORLD && has_log(MPI_COMM_WORLD)) {
    return refuse_call(*comm, MPI_ERR_COMM, "MPI_COMM_WORLD cannot be freed");
  }
  if (comm != nullptr) forget_persistent(*comm);
  int error = comm != nullptr ? delete_all_attributes(*comm) : MPI_SUCCESS;
  if (error != MPI_SUCCESS) return error;
  if (comm != nullptr && is_logged(*comm)) {
    // A process that takes a dead one's place makes it once more, and its other ranks take part in that no more.
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  if (comm == nullptr || !forget(*comm, unused)) return free(comm);
  for (MPI_Comm& one : unused) {
    const int code = free(&one);
    if (code != MPI_SUCCESS) error = code;
  }
  *comm = MPI_COMM_NULL;
  return error;
}

}  // namespace

namespace fenix_impl {

int duplicate(MPI_Comm comm, const void* caller, MPI_Comm* newcomm) {
  return derive_and_go_on(comm, Constructor::dup, caller, newcomm,
                          [=](MPI_Comm parent) { return real.Comm_dup(parent, newcomm); });
}

}  // namespace fenix_impl

#define FENIX_CALLER __builtin_return_address(0)

extern "C" {

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) { return duplicate(comm, FENIX_CALLER, newcomm); }

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return derive_and_go_on(comm, Constructor::dup, FENIX_CALLER, newcomm,
                          [=](MPI_Comm parent) { return real.Comm_dup_with_info(parent, info, newcomm); });
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  if (refuses_unlogged(comm)) return refuse_unlogged(comm, "MPI_Comm_idup");
  note_unlogged("MPI_Comm_idup");
  const auto start = [](MPI_Comm parent, MPI_Info, MPI_Comm* made, MPI_Request* begun) {
    return real.Comm_idup(parent, made, begun);
  };
  return duplicate_later(begin_derivation(comm, Constructor::dup, FENIX_CALLER, newcomm), start, MPI_INFO_NULL, newcomm,
                         request);
}

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  if (refuses_unlogged(comm)) return refuse_unlogged(comm, "MPI_Comm_idup_with_info");
  note_unlogged("MPI_Comm_idup_with_info");
  return duplicate_later(begin_derivation(comm, Constructor::dup, FENIX_CALLER, newcomm), real.Comm_idup_with_info,
                         info, newcomm, request);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return derive_and_go_on(comm, Constructor::split, FENIX_CALLER, newcomm,
                          [=](MPI_Comm parent) { return real.Comm_split(parent, color, key, newcomm); });
}

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  return derive_and_go_on(comm, Constructor::split_type, FENIX_CALLER, newcomm, [=](MPI_Comm parent) {
    return real.Comm_split_type(parent, split_type, key, info, newcomm);
  });
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  const void* const caller = FENIX_CALLER;
  return go_on_deriving([=] {
    const MPI_Group members = current(group);
    const Derivation derivation = begin_derivation(comm, Constructor::create, caller, newcomm);
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
    const int error = derive(begin_derivation(comm, Constructor::create_group, caller, newcomm, members, tag), newcomm,
                             [=](MPI_Comm parent) { return real.Comm_create_group(parent, members, tag, newcomm); });
    release(members, group);
    return error;
  });
}

int PMPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* newcomm) {
  return derive_and_go_on(comm, Constructor::cart, FENIX_CALLER, newcomm, [=](MPI_Comm parent) {
    return real.Cart_create(parent, ndims, dims, periods, reorder, newcomm);
  });
}

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  return derive_and_go_on(comm, Constructor::cart_sub, FENIX_CALLER, newcomm,
                          [=](MPI_Comm parent) { return real.Cart_sub(parent, remain_dims, newcomm); });
}

int PMPI_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm* newcomm) {
  return derive_and_go_on(comm, Constructor::graph, FENIX_CALLER, newcomm, [=](MPI_Comm parent) {
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
  return derive_and_go_on(comm, Constructor::dist_graph, caller, newcomm, [=](MPI_Comm parent) {
    const int failed = logs ? MPI_SUCCESS : share_edges(edges, parent, /*logs=*/false);
    return failed != MPI_SUCCESS ? failed : make_of_shared_edges(parent, info, reorder, newcomm);
  });
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int sourceweights[],
                                    int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                    int reorder, MPI_Comm* newcomm) {
  return derive_and_go_on(comm, Constructor::dist_graph, FENIX_CALLER, newcomm, [=](MPI_Comm parent) {
    return real.Dist_graph_create_adjacent(parent, indegree, sources, sourceweights, outdegree, destinations,
                                           destweights, info, reorder, newcomm);
  });
}

int PMPI_Comm_free(MPI_Comm* comm) { return free_derived(comm, free_unseen_by_libfenix); }

int PMPI_Comm_disconnect(MPI_Comm* comm) { return free_derived(comm, real.Comm_disconnect); }

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
decltype(PMPI_Comm_free) MPI_Comm_free __attribute__((weak, alias("PMPI_Comm_free")));
decltype(PMPI_Comm_disconnect) MPI_Comm_disconnect __attribute__((weak, alias("PMPI_Comm_disconnect")));
decltype(PMPI_Abort) MPI_Abort __attribute__((weak, alias("PMPI_Abort")));
}
