! SPDX-License-Identifier: BSD-3-Clause
! A program in Fortran for SCR: a file of each rank, an output, and a restart.
program job_fortran
  use mpi
  implicit none
  include 'scrf.h'
  external :: scr_init, scr_finalize, scr_config, scr_have_restart, scr_start_restart, scr_complete_restart, &
              scr_need_checkpoint, scr_start_output, scr_complete_output, scr_route_file, scr_should_exit, &
              scr_get_version, scr_current, scr_delete, scr_drop, scr_start_checkpoint, scr_complete_checkpoint
  character(len=SCR_MAX_FILENAME) :: name, path
  character(len=32) :: own, argument
  character(len=12) :: text
  integer :: rank, ierr, flag, step, last, unit, found, owner

  call get_command_argument(1, argument)
  read (argument, *) last
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call scr_config('SCR_FLUSH=2', text, ierr)
  call expect(ierr == SCR_SUCCESS, 'a parameter')
  call scr_config('SCR_FLUSH', text, ierr)
  call expect(ierr == SCR_SUCCESS .and. text == '2', 'the value of a parameter')
  call scr_get_version(text, ierr)
  call expect(ierr == SCR_SUCCESS .and. text == 'v3.1.0', 'the version')
  call scr_init(ierr)
  call expect(ierr == SCR_SUCCESS, 'scr_init')
  write (own, '(a,i0)') 'value.', rank
  step = -1
  call scr_have_restart(flag, name, ierr)
  call expect(ierr == SCR_SUCCESS, 'scr_have_restart')
  if (flag == 1) then
    read (name(6:), *) step
    call scr_start_restart(path, ierr)
    call expect(ierr == SCR_SUCCESS .and. path == name, 'scr_start_restart')
    call scr_route_file(trim(name)//'/'//own, path, ierr)
    call expect(ierr == SCR_SUCCESS, 'scr_route_file in a restart')
    open (newunit=unit, file=trim(path), status='old', action='read')
    read (unit, *) found, owner
    close (unit)
    call expect(found == step .and. owner == rank, 'the value')
    call scr_complete_restart(1, ierr)
    call expect(ierr == SCR_SUCCESS, 'scr_complete_restart')
  end if
  if (rank == 0) print '(a,i0,a)', 'from ', step, ' in Fortran'
  flush (6)
  do step = step + 1, last
    call scr_need_checkpoint(flag, ierr)
    call expect(ierr == SCR_SUCCESS .and. flag == 1, 'scr_need_checkpoint')
    write (name, '(a,i0)') 'step.', step
    call scr_start_output(name, SCR_FLAG_CHECKPOINT + SCR_FLAG_OUTPUT, ierr)
    call expect(ierr == SCR_SUCCESS, 'scr_start_output')
    call scr_route_file(trim(name)//'/'//own, path, ierr)
    call expect(ierr == SCR_SUCCESS, 'scr_route_file')
    open (newunit=unit, file=trim(path), status='replace', action='write')
    write (unit, '(i0,1x,i0)') step, rank
    close (unit)
    call scr_complete_output(1, ierr)
    call expect(ierr == SCR_SUCCESS, 'scr_complete_output')
    if (rank == 0) print '(a,i0)', 'step ', step
    flush (6)
    call scr_should_exit(flag, ierr)
    call expect(ierr == SCR_SUCCESS .and. flag == 0, 'scr_should_exit')
  end do
  call scr_start_checkpoint(ierr)
  call expect(ierr == SCR_SUCCESS, 'scr_start_checkpoint')
  call scr_complete_checkpoint(0, ierr)
  call expect(ierr == SCR_FAILURE, 'scr_complete_checkpoint of what is not valid')
  write (name, '(a,i0)') 'step.', last
  call scr_current(name, ierr)
  call expect(ierr == SCR_SUCCESS, 'scr_current')
  call scr_delete('step.0', ierr)
  call scr_drop('none', ierr)
  call expect(ierr == SCR_SUCCESS, 'scr_drop of none')
  call scr_finalize(ierr)
  call expect(ierr == SCR_SUCCESS, 'scr_finalize')
  print '(a)', 'FENIX-TEST-OK'
  call MPI_Finalize(ierr)

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    integer :: ignored

    if (holds) return
    print '(2a)', 'FENIX-TEST-FAIL ', what
    flush (6)
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine expect
end program job_fortran
