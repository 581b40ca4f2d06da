! Ranks die and are replaced; what comes back is compared with what was stored, element by element.
! usage: restart [victim step]…   process <victim> of MPI_COMM_WORLD dies in step <step>; FENIX_FAULT may kill others
!
! Arrays of several types and ranks, and a scalar. All values follow from rank and step.
module rounds
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_loc, c_ptr
  use mpi
  use fenix
  implicit none

  integer, parameter :: SPARES = 2, GROUP = 7, GRID = 0, WAVE = 1, COUNTER = 2
  integer, parameter :: STEPS = 12

  integer, target :: role, comm, error
  integer, target :: step
  integer, target :: cells(30, 40)
  complex(8), allocatable, target :: waves(:, :, :)
  integer, target :: repairs = 0
  integer :: comm_in_callback = MPI_COMM_NULL
  integer :: rank, world_rank
  integer :: victims(10), death(10), deaths = 0
  logical :: somebody_dies

  interface
    integer(c_int) function raise(signal) bind(C)
      import :: c_int
      integer(c_int), value :: signal
    end function
  end interface

contains

  subroutine fail(why)
    character(len=*), intent(in) :: why
    integer :: ierr
    print '(3a,i0,2a)', "FENIX-TEST-FAIL ", why, " on rank ", rank, ": ", Fenix_Error_message()
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (.not. holds) call fail(what)
  end subroutine

  !> .false. after a failure. Other errors of Fenix end the test.
  logical function good(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    good = code /= FENIX_ERROR_CANCELLED
    if (good) call check(code >= 0, what)
  end function

  subroutine note_repair(new_comm, mpi_error, callback_data) bind(C)
    integer(c_int), value :: new_comm
    integer(c_int), value :: mpi_error
    type(c_ptr), value :: callback_data
    integer, pointer :: count
    call c_f_pointer(callback_data, count)
    count = count + 1
    comm_in_callback = new_comm
    call check(mpi_error /= MPI_SUCCESS, "callback without an error")
  end subroutine

  !> Number of a cell in a step: no two are the same.
  elemental integer function number(i, j, at_rank, at_step)
    integer, intent(in) :: i, j, at_rank, at_step
    number = ((at_rank*STEPS + at_step)*size(cells, 2) + j)*size(cells, 1) + i
  end function

  subroutine fill()
    integer :: i, j
    do concurrent(j=1:size(cells, 2), i=1:size(cells, 1))
      cells(i, j) = number(i, j, rank, step)
    end do
    waves = cmplx(rank, step, 8)
  end subroutine

  subroutine compare()
    integer :: i, j
    do j = 1, size(cells, 2)
      do i = 1, size(cells, 1)
        call check(cells(i, j) == number(i, j, rank, step), "a wrong cell")
      end do
    end do
    call check(all(waves == cmplx(rank, step, 8)), "a wrong wave")
  end subroutine

  logical function ran()
    ran = .false.
    if (.not. set_up()) return
    do while (step < STEPS)
      step = step + 1
      call fill()
      call die_if_it_is_time()
      if (.not. stored()) return
      if (.not. summed()) return
    end do
    ran = finished()
  end function

  logical function set_up()
    integer :: ierr, flag
    set_up = .false.
    call MPI_Comm_rank(comm, rank, ierr)
    if (repairs > 0) call check(comm == comm_in_callback, "callbacks and Fenix_Init gave different communicators")
    call Fenix_Data_group_create(GROUP, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, [1, 2], flag, ierr)
    if (.not. good(ierr, "group_create")) return
    call check(flag == FENIX_SUCCESS, "snapshots are lost")
    if (.not. know_members()) return
    cells = -1
    waves = -1
    set_up = restored()
  end function

  logical function know_members()
    integer :: ierr
    logical :: known
    know_members = .false.
    call Fenix_Data_member_created(GROUP, GRID, known, ierr)
    call check(ierr == FENIX_SUCCESS, "member_created")
    if (known) then
      call Fenix_Data_member_attr_set(GROUP, GRID, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, cells, known, ierr)
      call check(known, "attr_set")
    else
      call Fenix_Data_member_create(GROUP, GRID, cells, size(cells), MPI_INTEGER, ierr)
    end if
    if (.not. good(ierr, "member_create")) return
    call Fenix_Data_member_created(GROUP, WAVE, known, ierr)
    if (known) then
      call Fenix_Data_member_attr_set(GROUP, WAVE, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, waves, ierr=ierr)
    else
      call Fenix_Data_member_create(GROUP, WAVE, waves, size(waves), MPI_DOUBLE_COMPLEX, ierr)
    end if
    if (.not. good(ierr, "member_create")) return
    call Fenix_Data_member_created(GROUP, COUNTER, known, ierr)
    if (known) then
      call Fenix_Data_member_attr_set(GROUP, COUNTER, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, step, ierr=ierr)
    else
      call Fenix_Data_member_create(GROUP, COUNTER, step, 1, MPI_INTEGER, ierr)
    end if
    know_members = good(ierr, "member_create")
  end function

  logical function restored()
    integer :: ierr
    restored = .false.
    call Fenix_Data_member_restore(GROUP, COUNTER, step, 1, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    if (ierr == FENIX_ERROR_NODATA_FOUND) then
      step = 0
      restored = .true.
      return
    end if
    if (.not. good(ierr, "restore")) return
    call Fenix_Data_member_restore(GROUP, GRID, cells, size(cells), FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    if (.not. good(ierr, "restore")) return
    call Fenix_Data_member_restore(GROUP, WAVE, waves, size(waves), FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    if (.not. good(ierr, "restore")) return
    call compare()
    restored = .true.
  end function

  subroutine die_if_it_is_time()
    integer(c_int), parameter :: SIGKILL = 9
    integer(c_int) :: ignored
    if (any(victims(:deaths) == world_rank .and. death(:deaths) == step)) ignored = raise(SIGKILL)
  end subroutine

  logical function stored()
    integer :: ierr, time_stamp
    stored = .false.
    call Fenix_Data_member_store(GROUP, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL, ierr)
    if (.not. good(ierr, "store")) return
    call Fenix_Data_commit_barrier(GROUP, time_stamp, ierr)
    stored = good(ierr, "commit_barrier")
    if (stored) call check(time_stamp == step - 1, "a wrong time stamp")
  end function

  logical function summed()
    integer :: ierr, mine, all
    mine = step
    call MPI_Allreduce(mine, all, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
    summed = ierr == MPI_SUCCESS
    if (summed) call check(mod(all, step) == 0, "ranks are in different steps")
  end function

  logical function finished()
    integer :: ierr
    if (role /= FENIX_ROLE_INITIAL_RANK) call look_back()
    call Fenix_Finalize(ierr)
    finished = good(ierr, "finalize")
  end function

  !> There was a failure, and this is told.
  subroutine look_back()
    integer, pointer :: failed(:)
    real(8) :: noticed, repaired
    integer :: ierr
    call check(role == FENIX_ROLE_RECOVERED_RANK .or. repairs > 0, "a survivor without callback")
    call Fenix_Process_fail_list(failed, ierr)
    call check(ierr == FENIX_SUCCESS .and. size(failed) > 0, "fail_list")
    if (repairs == 0) return
    call Fenix_Process_repair_times(noticed, repaired, ierr)
    call check(ierr == FENIX_SUCCESS .and. repaired >= noticed .and. noticed > 0, "repair_times")
  end subroutine

  subroutine read_arguments()
    character(len=10) :: text
    integer :: i, length
    call get_environment_variable("FENIX_FAULT", length=length)
    somebody_dies = length > 0 .or. command_argument_count() > 0
    deaths = command_argument_count()/2
    do i = 1, deaths
      call get_command_argument(2*i - 1, text)
      read (text, *) victims(i)
      call get_command_argument(2*i, text)
      read (text, *) death(i)
    end do
  end subroutine
end module rounds

program restart
  use rounds
  implicit none
  integer :: ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, world_rank, ierr)
  call read_arguments()
  allocate (waves(4, 5, 6))
  call Fenix_Init(role, MPI_COMM_WORLD, comm, SPARES, error)
  call check(error == FENIX_SUCCESS, "init")
  call Fenix_Callback_register(note_repair, c_loc(repairs), ierr)
  call check(ierr == FENIX_SUCCESS, "callback_register")
  do while (.not. ran())
    call check(error == FENIX_SUCCESS, "repair")
  end do
  call check(somebody_dies .neqv. role == FENIX_ROLE_INITIAL_RANK, "deaths that should not be, or none")
  print '(a,i0)', "FENIX-TEST-OK rank ", rank
  call MPI_Finalize(ierr)
end program restart
