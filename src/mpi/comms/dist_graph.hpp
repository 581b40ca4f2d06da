// SPDX-License-Identifier: BSD-3-Clause
// MPI_Dist_graph_create by MPI_Dist_graph_create_adjacent: the function of Open MPI 5.0.7 waits without an end if a rank dies in it.
// No function here has an object with a destructor while it communicates: control may leave by longjmp.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// The edges that a rank gives to MPI_Dist_graph_create.
struct GivenEdges {
  int count = 0;  ///< of sources
  const int* sources = nullptr;
  const int* degrees = nullptr;
  const int* destinations = nullptr;
  const int* weights = nullptr;
};

/// Whether MPI takes such edges on a communicator of this size.
bool are_valid(const GivenEdges& edges, int size);
/// Tells each rank which edges begin and end there. logs: by messages that are logged. Collective over comm. Returns the error of MPI.
int share_edges(const GivenEdges& edges, MPI_Comm comm, bool logs);
/// Makes a communicator of the edges of which share_edges() has told this thread. Collective over parent.
int make_of_shared_edges(MPI_Comm parent, MPI_Info info, int reorder, MPI_Comm* newcomm);

}  // namespace fenix_impl
