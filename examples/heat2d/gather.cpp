// SPDX-License-Identifier: BSD-3-Clause
#include "gather.hpp"

#include <algorithm>
#include <cstddef>

namespace heat2d {

namespace {

// Puts the cells of the blocks, which are one after the other in `blocks`, into the plate.
std::vector<double> assemble(const Grid& grid, const std::vector<double>& blocks) {
  std::vector<double> plate(blocks.size());
  const double* from = blocks.data();
  for (int rank = 0; rank < grid.columns * grid.rows; ++rank) {
    const Block block = block_of(grid, rank);
    for (int y = 0; y < block.height; ++y) {
      std::copy_n(from, block.width, plate.begin() + std::ptrdiff_t{block.y0 + y} * grid.width + block.x0);
      from += block.width;
    }
  }
  return plate;
}

}  // namespace

std::vector<double> gather(const Grid& grid, const Field& field, int root, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<int> counts;
  std::vector<int> offsets;
  std::vector<double> blocks;
  if (rank == root) {
    int offset = 0;
    for (int r = 0; r < grid.columns * grid.rows; ++r) {
      const Block block = block_of(grid, r);
      counts.push_back(block.width * block.height);
      offsets.push_back(offset);
      offset += counts.back();
    }
    blocks.resize(static_cast<std::size_t>(offset));
  }
  const std::vector<double> mine = field.inner_cells();
  MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, blocks.data(), counts.data(), offsets.data(),
              MPI_DOUBLE, root, comm);
  return rank == root ? assemble(grid, blocks) : blocks;
}

}  // namespace heat2d
