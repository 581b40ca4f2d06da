// SPDX-License-Identifier: BSD-3-Clause
// A call of a collective function of MPI, in one form for all of them.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Collective operations. The numbers are stored, and keep their meaning for ever.
enum class CollectiveKind : int {
  barrier = 1,
  bcast = 2,
  gather = 3,
  gatherv = 4,
  scatter = 5,
  scatterv = 6,
  allgather = 7,
  allgatherv = 8,
  alltoall = 9,
  alltoallv = 10,
  alltoallw = 11,
  reduce = 12,
  allreduce = 13,
  scan = 14,
  exscan = 15,
  reduce_scatter = 16,
  reduce_scatter_block = 17,
  neighbor_allgather = 18,
  neighbor_allgatherv = 19,
  neighbor_alltoall = 20,
  neighbor_alltoallv = 21,
  neighbor_alltoallw = 22,
};

/// A buffer, and the blocks in it, as the program gives them. Fields that the function does not have are 0 or null.
struct BlocksOfCall {
  void* buffer = nullptr;
  int count = 0;  ///< of each block, if counts is null
  const int* counts = nullptr;
  const int* displacements = nullptr;            ///< in elements, or in bytes if types is not null
  const MPI_Aint* byte_displacements = nullptr;  ///< of the functions that have them in this type
  MPI_Datatype type = MPI_DATATYPE_NULL;         ///< of each block, if types is null
  const MPI_Datatype* types = nullptr;
};

/// A call. A function with one buffer has it on both sides, and so has a reduction its counts and its type.
struct Collective {
  CollectiveKind kind = CollectiveKind::barrier;
  BlocksOfCall send{};
  BlocksOfCall receive{};
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;  ///< the handle that the program has
};

}  // namespace fenix_impl
