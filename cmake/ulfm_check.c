/* Compiles and links only with Open MPI >= 5 that has ULFM. Used by CMake and by scripts/bootstrap. */
#include <mpi.h>

#if !defined(OMPI_MAJOR_VERSION) || OMPI_MAJOR_VERSION < 5
#error "not Open MPI 5 or later"
#endif

#include <mpi-ext.h>

#if !defined(OMPI_HAVE_MPI_EXT_FTMPI) || !OMPI_HAVE_MPI_EXT_FTMPI
#error "Open MPI without ULFM"
#endif

int main(void) {
  MPI_Comm shrunk = MPI_COMM_NULL;
  return MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk);
}
