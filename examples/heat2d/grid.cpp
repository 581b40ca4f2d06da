// SPDX-License-Identifier: BSD-3-Clause
#include "grid.hpp"

#include <mpi.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace heat2d {

Grid make_grid(int width, int height, int ranks) {
  int dims[2] = {0, 0};
  MPI_Dims_create(ranks, 2, dims);
  if (width < height) std::swap(dims[0], dims[1]);
  if (dims[0] > width || dims[1] > height) throw std::invalid_argument("the plate has too few cells for so many ranks");
  return {.width = width, .height = height, .columns = dims[0], .rows = dims[1]};
}

namespace {

// Gets the first cell of part i of n. The sizes of the parts differ by at most one.
int part_begin(int cells, int n, int i) { return static_cast<int>(static_cast<long long>(cells) * i / n); }

}  // namespace

Block block_of(const Grid& grid, int rank) {
  const int column = rank % grid.columns;
  const int row = rank / grid.columns;
  const int x0 = part_begin(grid.width, grid.columns, column);
  const int y0 = part_begin(grid.height, grid.rows, row);
  return {
      .x0 = x0,
      .y0 = y0,
      .width = part_begin(grid.width, grid.columns, column + 1) - x0,
      .height = part_begin(grid.height, grid.rows, row + 1) - y0,
      .left = column > 0 ? rank - 1 : MPI_PROC_NULL,
      .right = column + 1 < grid.columns ? rank + 1 : MPI_PROC_NULL,
      .above = row > 0 ? rank - grid.columns : MPI_PROC_NULL,
      .below = row + 1 < grid.rows ? rank + grid.columns : MPI_PROC_NULL,
  };
}

Area overlap(const Block& a, const Block& b) {
  const int x0 = std::max(a.x0, b.x0);
  const int y0 = std::max(a.y0, b.y0);
  const int width = std::min(a.x0 + a.width, b.x0 + b.width) - x0;
  const int height = std::min(a.y0 + a.height, b.y0 + b.height) - y0;
  if (width <= 0 || height <= 0) return {.x0 = x0, .y0 = y0, .width = 0, .height = 0};
  return {.x0 = x0, .y0 = y0, .width = width, .height = height};
}

}  // namespace heat2d
