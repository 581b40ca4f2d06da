// SPDX-License-Identifier: BSD-3-Clause
// No function here has an object with a destructor: control may leave by longjmp.
#include "mpi/persistent_collectives.hpp"

#include <algorithm>

namespace fenix_impl {
namespace {

/// The numbers of blocks that a rank gives and gets in an operation with a block for each rank or neighbor.
struct Counts {
  int given = 0;
  int taken = 0;
};

Counts counts_on(MPI_Comm comm) {
  Counts counts;
  real.Comm_size(comm, &counts.given);
  counts.taken = counts.given;
  return counts;
}

Counts counts_of_neighbors(MPI_Comm comm) {
  Counts counts;
  int topology = MPI_UNDEFINED;
  real.Topo_test(comm, &topology);
  if (topology == MPI_DIST_GRAPH) {
    int weighted = 0;
    real.Dist_graph_neighbors_count(comm, &counts.taken, &counts.given, &weighted);
    return counts;
  }
  if (topology == MPI_CART) {
    real.Cartdim_get(comm, &counts.given);
    counts.given *= 2;
  } else if (topology == MPI_GRAPH) {
    int rank = 0;
    real.Comm_rank(comm, &rank);
    real.Graph_neighbors_count(comm, rank, &counts.given);
  }
  counts.taken = counts.given;
  return counts;
}

MPI_Datatype* copy_of(const MPI_Datatype* types, int count) {
  if (types == nullptr) return nullptr;
  auto* copy = new MPI_Datatype[static_cast<std::size_t>(count)];
  std::copy(types, types + count, copy);
  return copy;
}

}  // namespace

TypesOfCall copy_types(const Collective& call) {
  if (call.send.types == nullptr && call.receive.types == nullptr) return {};
  const bool of_neighbors = call.kind == CollectiveKind::neighbor_alltoallw;
  const Counts counts = of_neighbors ? counts_of_neighbors(now(call.comm)) : counts_on(now(call.comm));
  // In place, the types of what is sent do not count.
  const MPI_Datatype* sent = call.send.buffer == MPI_IN_PLACE ? nullptr : call.send.types;
  return {copy_of(sent, counts.given), copy_of(call.receive.types, counts.taken)};
}

int do_collective(const Collective& call, int* executes) {
  return raise_on(call.comm, call_libfenix([&](const PersistServices& libfenix) {
                    return libfenix.collective(call, delivers(call.comm), executes);
                  }));
}

int make_done_request(MPI_Request* request) {
  return real.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

}  // namespace fenix_impl
