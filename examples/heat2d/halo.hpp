// SPDX-License-Identifier: BSD-3-Clause
//
// Exchange of the outermost cells with the neighbours.
#ifndef HEAT2D_HALO_HPP
#define HEAT2D_HALO_HPP

#include <mpi.h>

#include "grid.hpp"

namespace heat2d {

class Halo {
 public:
  explicit Halo(const Block& block);
  ~Halo();
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  /// Fills the frame of a field. cells points to all of its cells.
  void exchange(double* cells, MPI_Comm comm) const;

 private:
  Block block_;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
};

}  // namespace heat2d

#endif
