! The smallest Fortran program that uses the installed package.
program consumer
  use mpi
  use fenix
  implicit none
  integer, target :: role, comm, error
  integer :: ierr
  logical :: before, after

  call MPI_Init(ierr)
  call Fenix_Initialized(before, ierr)
  call Fenix_Init(role, MPI_COMM_WORLD, comm, 0, error)
  call Fenix_Initialized(after, ierr)
  call MPI_Barrier(comm, ierr)
  call Fenix_Finalize(ierr)
  call MPI_Finalize(ierr)
  if (.not. before .and. after .and. error == FENIX_SUCCESS .and. role == FENIX_ROLE_INITIAL_RANK) then
    print '(a)', "FENIX-TEST-OK a rank in Fortran"
  else
    print '(a)', "FENIX-TEST-FAIL in Fortran"
  end if
end program consumer
