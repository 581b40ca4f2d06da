! Computes the temperature of a rod that is heated at one end. The program survives kill -9. Run 4 ranks and 1 spare:
! mpirun --with-ft ulfm -n 5 build/release/examples/heat1d
!
! Rank 1 kills itself in step 55. The result is the same as without this failure.
module rod
  use mpi
  use fenix
  implicit none

  integer, parameter :: SPARES = 1, GROUP = 0, FIELD = 0, COUNTER = 1
  integer, parameter :: CELLS = 1000, STEPS = 100, STEPS_PER_COMMIT = 10

  ! Fenix writes role, comm and error again after each repair, and reads step and temperature in each store. Therefore
  ! all of them have the attribute target, and live longer than the subroutines.
  integer, target :: role, comm, error
  integer, target :: step
  real(8), target :: temperature(0:CELLS + 1) ! includes a cell of each neighbour
  integer :: rank, ranks

contains

  !> Tells whether a call of Fenix succeeded. .false. after a failure, which has been repaired; other errors end the
  !> program.
  logical function good(code)
    integer, intent(in) :: code
    good = code /= FENIX_ERROR_CANCELLED
    if (code < 0 .and. good) call give_up(Fenix_Error_message())
  end function

  !> Tells whether a call of MPI succeeded. .false. after a failure; at other errors MPI itself ends the program.
  logical function mpi_good(code)
    integer, intent(in) :: code
    mpi_good = code == MPI_SUCCESS
  end function

  subroutine give_up(why)
    character(len=*), intent(in) :: why
    integer :: ierr
    print '(2a)', "heat1d: ", why
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  !> Computes to the end, from the start or after a failure. .false. if another failure has interrupted it.
  logical function computed()
    computed = .false.
    if (.not. set_up()) return
    do while (step < STEPS)
      if (step == 55 .and. rank == 1 .and. role == FENIX_ROLE_INITIAL_RANK) call die()
      if (.not. exchanged()) return
      call advance()
      step = step + 1
      if (mod(step, STEPS_PER_COMMIT) == 0) then
        if (.not. saved()) return
      end if
    end do
    if (.not. reported()) return
    computed = finished()
  end function

  !> Creates group and members, and restores the latest state; sets the initial state if nothing was committed.
  logical function set_up()
    integer :: ierr, found
    set_up = .false.
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, ranks, ierr)
    call Fenix_Data_group_create(GROUP, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, ierr=ierr)
    if (.not. good(ierr)) return
    if (.not. described(FIELD, size(temperature), MPI_DOUBLE_PRECISION)) return
    if (.not. described(COUNTER, 1, MPI_INTEGER)) return

    call Fenix_Data_member_restore(GROUP, FIELD, temperature, size(temperature), FENIX_DATA_SNAPSHOT_LATEST, ierr=found)
    if (found /= FENIX_ERROR_NODATA_FOUND) then
      if (.not. good(found)) return
      call Fenix_Data_member_restore(GROUP, COUNTER, step, 1, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
      if (.not. good(ierr)) return
    else ! no snapshot has been committed yet
      temperature = 0
      if (rank == 0) temperature(0) = 1
      step = 0
    end if
    if (role == FENIX_ROLE_RECOVERED_RANK) print '(2(a,i0))', "rank ", rank, ": a spare took over, at step ", step
    if (role == FENIX_ROLE_SURVIVOR_RANK) print '(2(a,i0))', "rank ", rank, ": survived, goes on at step ", step
    set_up = .true.
  end function

  !> Describes the members. A replacement knows them from its peers, but not their addresses on this rank.
  logical function described(member, length, datatype)
    integer, intent(in) :: member, length, datatype
    integer :: ierr
    logical :: known
    call Fenix_Data_member_created(GROUP, member, known, ierr)
    if (known .and. member == FIELD) then
      call Fenix_Data_member_attr_set(GROUP, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, temperature, ierr=ierr)
    else if (known) then
      call Fenix_Data_member_attr_set(GROUP, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, step, ierr=ierr)
    else if (member == FIELD) then
      call Fenix_Data_member_create(GROUP, member, temperature, length, datatype, ierr)
    else
      call Fenix_Data_member_create(GROUP, member, step, length, datatype, ierr)
    end if
    described = good(ierr)
  end function

  !> Exchanges the cells at the ends with the neighbours.
  logical function exchanged()
    integer :: ierr, left, right
    exchanged = .false.
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    call MPI_Sendrecv(temperature(CELLS), 1, MPI_DOUBLE_PRECISION, right, 0, &
                      temperature(0), 1, MPI_DOUBLE_PRECISION, left, 0, comm, MPI_STATUS_IGNORE, ierr)
    if (.not. mpi_good(ierr)) return
    call MPI_Sendrecv(temperature(1), 1, MPI_DOUBLE_PRECISION, left, 0, &
                      temperature(CELLS + 1), 1, MPI_DOUBLE_PRECISION, right, 0, comm, MPI_STATUS_IGNORE, ierr)
    exchanged = mpi_good(ierr)
  end function

  subroutine advance()
    real(8) :: next(CELLS)
    integer :: i
    do i = 1, CELLS
      next(i) = temperature(i) + 0.4d0*(temperature(i - 1) - 2*temperature(i) + temperature(i + 1))
    end do
    temperature(1:CELLS) = next
  end subroutine

  logical function saved()
    integer :: ierr
    saved = .false.
    call Fenix_Data_member_store(GROUP, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL, ierr)
    if (.not. good(ierr)) return
    call Fenix_Data_commit_barrier(GROUP, ierr=ierr)
    saved = good(ierr)
  end function

  logical function reported()
    real(8) :: mine, all
    integer :: ierr
    mine = sum(temperature(1:CELLS))
    call MPI_Reduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, comm, ierr)
    reported = mpi_good(ierr)
    if (reported .and. rank == 0) print '(a,i0,a,f0.12)', "heat after ", STEPS, " steps: ", all
  end function

  logical function finished()
    integer :: ierr
    call Fenix_Finalize(ierr)
    finished = good(ierr)
  end function

  subroutine die()
    use, intrinsic :: iso_c_binding, only: c_int
    use, intrinsic :: iso_fortran_env, only: output_unit
    integer(c_int), parameter :: SIGKILL = 9
    integer(c_int) :: ignored
    interface
      integer(c_int) function raise(signal) bind(C)
        import :: c_int
        integer(c_int), value :: signal
      end function
    end interface
    print '(2(a,i0))', "rank ", rank, ": dies in step ", step
    flush (output_unit)
    ignored = raise(SIGKILL)
  end subroutine
end module rod

program heat1d
  use rod
  implicit none
  integer :: ierr

  call MPI_Init(ierr)
  ! Spares wait in this call until they take the place of a dead rank. Survivors do not come back here: the call that
  ! met the failure returns an error after the repair.
  call Fenix_Init(role, MPI_COMM_WORLD, comm, SPARES, error)
  if (error < 0) call give_up(Fenix_Error_message())
  do while (.not. computed())
  end do
  call MPI_Finalize(ierr)
end program heat1d
