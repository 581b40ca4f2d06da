// SPDX-License-Identifier: BSD-3-Clause
#include "halo.hpp"

#include <cstddef>

namespace heat2d {

namespace {

// Shape of a message; the sent and the received one have the same shape.
struct Shape {
  int count;
  MPI_Datatype type;
  int tag;
};

// Sends to one rank and receives from another. MPI_Sendrecv of Open MPI 5.0 crashes after a failure if it has nothing
// to receive, so that MPI_Send is used in this case.
void shift(const double* from, int to_rank, double* to, int from_rank, Shape shape, MPI_Comm comm) {
  const auto [count, type, tag] = shape;
  if (from_rank == MPI_PROC_NULL) {
    MPI_Send(from, count, type, to_rank, tag, comm);
  } else {
    MPI_Sendrecv(from, count, type, to_rank, tag, to, count, type, from_rank, tag, comm, MPI_STATUS_IGNORE);
  }
}

}  // namespace

Halo::Halo(const Block& block) : block_(block) {
  MPI_Type_vector(block.height, 1, block.width + 2, MPI_DOUBLE, &column_);
  MPI_Type_commit(&column_);
}

Halo::~Halo() { MPI_Type_free(&column_); }

void Halo::exchange(double* cells, MPI_Comm comm) const {
  const auto cell = [&](int x, int y) {  // index of a cell; x and y count from the first cell inside the frame
    return cells + static_cast<std::ptrdiff_t>(y + 1) * (block_.width + 2) + x + 1;
  };
  const int w = block_.width;
  const int h = block_.height;
  shift(cell(0, 0), block_.left, cell(w, 0), block_.right, {1, column_, 0}, comm);
  shift(cell(w - 1, 0), block_.right, cell(-1, 0), block_.left, {1, column_, 1}, comm);
  shift(cell(0, 0), block_.above, cell(0, h), block_.below, {w, MPI_DOUBLE, 2}, comm);
  shift(cell(0, h - 1), block_.below, cell(0, -1), block_.above, {w, MPI_DOUBLE, 3}, comm);
}

}  // namespace heat2d
