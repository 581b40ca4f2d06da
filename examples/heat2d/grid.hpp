// SPDX-License-Identifier: BSD-3-Clause
//
// Distribution of the cells of the plate over the ranks.
#ifndef HEAT2D_GRID_HPP
#define HEAT2D_GRID_HPP

namespace heat2d {

/// The plate, and the ranks that share it: columns × rows ranks, numbered row by row.
struct Grid {
  int width;
  int height;
  int columns;
  int rows;
};

/// Part of the plate that one rank computes. Neighbours are ranks, or MPI_PROC_NULL at the edges of the plate.
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

/// Divides the plate among the ranks. Throws std::invalid_argument if there are more ranks than cells in a direction.
Grid make_grid(int width, int height, int ranks);

Block block_of(const Grid& grid, int rank);

/// Part of the plate without neighbours. Its width and height are 0 if it is empty.
struct Area {
  int x0;
  int y0;
  int width;
  int height;
};

/// Gets the cells that two blocks have in common.
Area overlap(const Block& a, const Block& b);

/// Gets the number of cells from one row to the next, where a block has a frame of one cell.
inline int pitch_of(const Block& block) { return block.width + 2; }
inline int cells_with_frame(const Block& block) { return pitch_of(block) * (block.height + 2); }

}  // namespace heat2d

#endif
