! The smallest program for SCR in Fortran that uses the installed package.
program consumer_scr
  use mpi
  implicit none
  include 'scrf.h'
  integer :: ierr, flag, good
  character(len=20) :: name

  call MPI_Init(ierr)
  call scr_init(good)
  call scr_have_restart(flag, name, ierr)
  good = good + ierr + flag
  call scr_start_output('one', SCR_FLAG_CHECKPOINT, ierr)
  good = good + ierr
  call scr_complete_output(1, ierr)
  good = good + ierr
  call scr_finalize(ierr)
  good = good + ierr
  call MPI_Finalize(ierr)
  if (good == SCR_SUCCESS) then
    print '(a)', 'FENIX-TEST-OK a rank for SCR in Fortran'
  else
    print '(a)', 'FENIX-TEST-FAIL a rank for SCR in Fortran'
    stop 1
  end if
end program consumer_scr
