// SPDX-License-Identifier: BSD-3-Clause
// Packs three complex numbers with gaps behind them. Shows that MPI_Pack takes no notice of the gaps. Knows nothing of Fenix: it tests Open MPI.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o packed_gaps tests/open_mpi/packed_gaps.cpp
//   run:    mpirun -n 1 ./packed_gaps
// Prints 0 1 2 3 4 5; right would be 0 1 3 4 6 7. MPI_CXX_DOUBLE_COMPLEX gives the same.
#include <cstdio>
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double in[9], out[6] = {0};  // three complex numbers, each with a gap of 8 bytes behind it
  for (int i = 0; i < 9; ++i) in[i] = i;
  MPI_Datatype one, three;
  MPI_Type_create_resized(MPI_C_DOUBLE_COMPLEX, 0, 24, &one);
  MPI_Type_contiguous(3, one, &three);
  MPI_Type_commit(&three);
  int position = 0;
  MPI_Pack(in, 1, three, out, sizeof out, &position, MPI_COMM_SELF);
  for (int i = 0; i < 6; ++i) std::printf("%g ", out[i]);
  std::printf("\n");
  MPI_Finalize();
  return 0;
}
