// SPDX-License-Identifier: BSD-3-Clause
//
// Collects the whole plate on one rank.
#ifndef HEAT2D_GATHER_HPP
#define HEAT2D_GATHER_HPP

#include <mpi.h>

#include <vector>

#include "field.hpp"
#include "grid.hpp"

namespace heat2d {

/// Collects the plate. Returns it row by row on rank root, and an empty result on the others. Collective.
std::vector<double> gather(const Grid& grid, const Field& field, int root, MPI_Comm comm);

}  // namespace heat2d

#endif
