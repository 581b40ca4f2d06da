// SPDX-License-Identifier: BSD-3-Clause
//
// Which cells of the plate a rank computes, and who computes the cells next to them.
#ifndef HEAT2D_GRID_HPP
#define HEAT2D_GRID_HPP

namespace heat2d {

/// The plate, and the ranks that share it: columns × rows of them, numbered row by row.
struct Grid {
  int width;
  int height;
  int columns;
  int rows;
};

/// One rank's part of the plate. Neighbours are ranks, or MPI_PROC_NULL at the edges of the plate.
struct Block {
  int x0;
  int y0;
  int width;
  int height;
  int left;
  int right;
  int above;
  int below;
};

/// Throws std::invalid_argument if there are more ranks in a direction than cells.
Grid make_grid(int width, int height, int ranks);

Block block_of(const Grid& grid, int rank);

}  // namespace heat2d

#endif
