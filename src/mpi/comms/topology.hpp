// SPDX-License-Identifier: BSD-3-Clause
// Topologies of communicators: read from one, given to another one.
#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/base/derived.hpp"

namespace fenix_impl {

/// Reads the topology of a communicator. Collective over comm if it is a distributed graph, otherwise local. Returns the error of MPI.
/// It has no object with a destructor while it communicates: control may leave by longjmp.
int read_topology(MPI_Comm comm, Topology& topology);

/// Makes a communicator with the members of plain, in their order, and a topology. Collective over plain. Returns the error of MPI.
int make_with_topology(MPI_Comm plain, const Topology& topology, MPI_Comm* made);

}  // namespace fenix_impl
