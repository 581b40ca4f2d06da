// SPDX-License-Identifier: BSD-3-Clause
//
// The temperatures of one block, with a frame of one cell around it. The frame has the cells of the neighbours, or the
// fixed edge of the plate.
#ifndef HEAT2D_FIELD_HPP
#define HEAT2D_FIELD_HPP

#include <cstddef>
#include <vector>

#include "grid.hpp"

namespace heat2d {

class Field {
 public:
  Field(const Grid& grid, const Block& block);

  /// Sets the temperatures of step 0.
  void reset();
  /// Computes step `step` + 1 from step `step`. The frame must hold the neighbours' cells of `step`. The cells move to
  /// another buffer.
  void advance(int step);

  /// Copies the cells that this block has in common with another one. cells points to all cells of the other block,
  /// frame included.
  void take_over(const Block& from, const double* cells);

  const Grid& grid() const { return grid_; }
  const Block& block() const { return block_; }
  /// Gets all cells, frame included, row by row.
  double* cells() { return now_.data(); }
  int cell_count() const { return static_cast<int>(now_.size()); }
  /// Gets the number of cells from one row to the next.
  int pitch() const { return pitch_of(block_); }
  /// Makes a copy of the cells without the frame.
  std::vector<double> inner_cells() const;

 private:
  // Gets the index of a cell. x and y count from the first cell of the block, so that −1 is in the frame.
  std::size_t at(int x, int y) const {
    return static_cast<std::size_t>(y + 1) * static_cast<std::size_t>(pitch()) + static_cast<std::size_t>(x + 1);
  }
  void set_edges(std::vector<double>& cells) const;
  void heat(int step);

  Grid grid_;
  Block block_;
  std::vector<double> now_;
  std::vector<double> next_;
};

}  // namespace heat2d

#endif
