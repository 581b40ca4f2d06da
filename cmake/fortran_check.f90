! Compiles and links only if MPI has the Fortran module mpi for this compiler. Used by scripts/bootstrap.
program fortran_check
  use mpi
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
end program fortran_check
