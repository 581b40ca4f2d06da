// SPDX-License-Identifier: BSD-3-Clause
//
// The whole plate on one rank.
#ifndef HEAT2D_GATHER_HPP
#define HEAT2D_GATHER_HPP

#include <mpi.h>

#include <vector>

#include "field.hpp"
#include "grid.hpp"

namespace heat2d {

/// Collective. Returns the plate row by row on rank root, nothing on the others.
std::vector<double> gather(const Grid& grid, const Field& field, int root, MPI_Comm comm);

}  // namespace heat2d

#endif
