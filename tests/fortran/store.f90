! SPDX-License-Identifier: BSD-3-Clause
! The store from Fortran. Without FENIX_STORE, functions say that there is none. With it, two uses of Fenix follow each other, as two
! jobs would: the second one goes on from what the first one has flushed. The program makes the folder.
module store_cases
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi
  use fenix
  implicit none

  integer, parameter :: GROUP = 7, MEMBER = 0, ELEMENTS = 300
  ! A process may poll so often before it gives up, each time for a millisecond and more.
  integer, parameter :: MOST_LOOKS = 20000
  integer, target :: role, comm, error
  integer, target :: field(ELEMENTS)
  integer :: rank
  character(len=1000) :: folder

  interface
    integer(c_int) function usleep(microseconds) bind(C)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    integer :: ierr
    if (holds) return
    print '(4a)', "FENIX-TEST-FAIL ", what, ": ", Fenix_Error_message()
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  subroutine success(ierr, what)
    integer, intent(in) :: ierr
    character(len=*), intent(in) :: what
    call check(ierr == FENIX_SUCCESS, what)
  end subroutine

  subroutine no_store(ierr, what)
    integer, intent(in) :: ierr
    character(len=*), intent(in) :: what
    call check(ierr == FENIX_ERROR_STORE, what//" without a store")
  end subroutine

  subroutine begin(wanted)
    integer, intent(in) :: wanted
    integer :: run, origin, ierr
    call Fenix_Init(role, MPI_COMM_WORLD, comm, 0, error)
    call success(error, "Fenix_Init")
    call MPI_Comm_rank(comm, rank, ierr)
    origin = -1
    call Fenix_Process_get_run(run, origin, ierr)
    call success(ierr, "get_run")
    call check(run == wanted .and. origin == 0, "the run")
    run = -1
    call Fenix_Process_get_run(run, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. run == wanted, "get_run without origin")
  end subroutine

  subroutine create(wanted)
    integer, intent(in) :: wanted
    integer :: flag, ierr
    call Fenix_Data_group_create(GROUP, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, flag=flag, ierr=ierr)
    call success(ierr, "group_create")
    call check(flag == wanted, "flag of group_create")
    call Fenix_Data_member_define(GROUP, MEMBER, field, ELEMENTS, MPI_INTEGER, ierr)
    call success(ierr, "member_define")
  end subroutine

  elemental integer function number(i, round)
    integer, intent(in) :: i, round
    number = round*10000 + i
  end function

  subroutine commit(wanted)
    integer, intent(in) :: wanted
    integer :: i, time_stamp, ierr
    field = [(100000*rank + number(i, wanted), i=1, ELEMENTS)]
    call Fenix_Data_member_store(GROUP, MEMBER, FENIX_DATA_SUBSET_FULL, ierr)
    call success(ierr, "store")
    call Fenix_Data_commit_barrier(GROUP, time_stamp, ierr)
    call success(ierr, "commit_barrier")
    call check(time_stamp == wanted, "the time stamp")
  end subroutine

  subroutine expect_snapshot(wanted)
    integer, intent(in) :: wanted
    integer :: i, ierr
    field = -1
    call Fenix_Data_member_restore(GROUP, MEMBER, field, ELEMENTS, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call success(ierr, "restore")
    call check(all(field == [(100000*rank + number(i, wanted), i=1, ELEMENTS)]), "what a restore finds")
  end subroutine

  subroutine without_store()
    type(Fenix_Request) :: request
    character(len=FENIX_DATASET_NAME_MAX) :: name
    integer :: state, datasets, ierr
    logical :: flag
    call begin(0)
    call create(FENIX_SUCCESS)
    call commit(0)
    call Fenix_Data_flush(GROUP, FENIX_DATA_SNAPSHOT_LATEST, "name", ierr)
    call no_store(ierr, "flush")
    call Fenix_Data_iflush(GROUP, 0, request=request, ierr=ierr)
    call no_store(ierr, "iflush")
    call Fenix_Data_flush_state(GROUP, 0, state, ierr=ierr)
    call no_store(ierr, "flush_state")
    call Fenix_Data_group_set_flush(GROUP, 1, ierr)
    call no_store(ierr, "group_set_flush")
    call Fenix_Data_fetch(GROUP, ierr=ierr)
    call no_store(ierr, "fetch")
    call Fenix_Data_restart_done(GROUP, .true., ierr)
    call no_store(ierr, "restart_done")
    call Fenix_Data_get_number_of_datasets(datasets, ierr)
    call no_store(ierr, "get_number_of_datasets")
    call Fenix_Data_get_dataset_at_position(0, name, complete=flag, ierr=ierr)
    call check(ierr == FENIX_ERROR_INVALID_POSITION .and. name == " " .and. .not. flag, "a dataset without a store")
    call Fenix_Data_dataset_delete("name", ierr)
    call no_store(ierr, "dataset_delete")
    call Fenix_Data_dataset_set_current("name", ierr)
    call no_store(ierr, "dataset_set_current")
    call Fenix_Process_halt("a reason", ierr)
    call no_store(ierr, "halt")
    call Fenix_Data_need_commit(GROUP, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag, "need_commit without a store")
    call Fenix_Process_should_halt(flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag, "should_halt without a store")
    call Fenix_Finalize(ierr)
    call success(ierr, "Fenix_Finalize")
  end subroutine

  subroutine wait_until_complete(time_stamp)
    integer, intent(in) :: time_stamp
    integer(MPI_COUNT_KIND) :: bytes
    integer :: look, state, ierr
    do look = 1, MOST_LOOKS
      bytes = -1
      call Fenix_Data_flush_state(GROUP, time_stamp, state, bytes, ierr)
      call success(ierr, "flush_state")
      call check(bytes == 0 .or. state == FENIX_FLUSH_WRITING, "bytes of a flush")
      if (state == FENIX_FLUSH_COMPLETE) exit
      ierr = usleep(1000_c_int)
    end do
    call check(state == FENIX_FLUSH_COMPLETE, "a flush that does not become complete")
    call MPI_Barrier(comm, ierr)
  end subroutine

  !> FENIX_COMMIT_EVERY is 2.
  subroutine flushes()
    type(Fenix_Request) :: request
    integer :: state, ierr
    logical :: flag
    call Fenix_Data_need_commit(GROUP, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag, "need_commit, at first")
    call Fenix_Data_need_commit(GROUP, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag, "need_commit")
    call commit(0)
    ! Blanks at the end do not count.
    call Fenix_Data_flush(GROUP, FENIX_DATA_SNAPSHOT_LATEST, "begin   ", ierr)
    call success(ierr, "flush")
    call wait_until_complete(0)
    call Fenix_Data_flush(GROUP, FENIX_DATA_SNAPSHOT_LATEST, "two words", ierr)
    call check(ierr == FENIX_ERROR_INVALID_ARGUMENT, "a name with a blank")
    call Fenix_Data_iflush(GROUP, 0, "two words", request, ierr)
    call check(ierr == FENIX_ERROR_INVALID_ARGUMENT, "a name with a blank for iflush")
    call commit(1)
    call Fenix_Data_flush_state(GROUP, 1, state, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. state == FENIX_FLUSH_NONE, "state before a flush")
    call Fenix_Data_iflush(GROUP, 1, request=request, ierr=ierr)
    call success(ierr, "iflush")
    call Fenix_Data_wait(request, ierr)
    call success(ierr, "wait")
    call wait_until_complete(1)
    call Fenix_Data_group_set_flush(GROUP, 1, ierr)
    call success(ierr, "group_set_flush")
    call commit(2)
    call wait_until_complete(2)
    call Fenix_Data_group_set_flush(GROUP, 0, ierr)
    call success(ierr, "group_set_flush, none")
  end subroutine

  subroutine lists()
    character(len=FENIX_DATASET_NAME_MAX) :: name, label, last
    character(len=3) :: beginning
    integer :: datasets, ierr
    logical :: complete
    call Fenix_Data_get_number_of_datasets(datasets, ierr)
    call check(ierr == FENIX_SUCCESS .and. datasets == 3, "number of datasets")
    label = "x"
    complete = .false.
    call Fenix_Data_get_dataset_at_position(0, name, label, complete, ierr)
    call success(ierr, "get_dataset_at_position")
    call check(index(name, "7.2.1.") == 1 .and. label == " " .and. complete, "the newest dataset")
    call Fenix_Data_get_dataset_at_position(2, last, label, ierr=ierr)
    call check(index(last, "7.0.1.") == 1 .and. label == "begin", "the oldest dataset")
    call Fenix_Data_get_dataset_at_position(2, beginning, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. beginning == "7.0", "the first letters of a name")
    call Fenix_Data_get_dataset_at_position(3, name, ierr=ierr)
    call check(ierr == FENIX_ERROR_INVALID_POSITION, "a position behind the last one")
    call MPI_Barrier(comm, ierr)
    if (rank == 0) then
      call Fenix_Data_get_dataset_at_position(0, name, ierr=ierr)
      call Fenix_Data_dataset_delete(name, ierr)
      call success(ierr, "dataset_delete")
      call Fenix_Data_dataset_delete(name, ierr)
      call check(ierr == FENIX_ERROR_NODATA_FOUND, "deletion of a dataset that is not there")
      call Fenix_Data_dataset_set_current(last, ierr)
      call success(ierr, "dataset_set_current")
    end if
    call MPI_Barrier(comm, ierr)
    call Fenix_Data_get_number_of_datasets(datasets, ierr)
    call check(ierr == FENIX_SUCCESS .and. datasets == 2, "number of datasets after a deletion")
  end subroutine

  subroutine halts()
    integer :: look, ierr
    logical :: flag
    call Fenix_Process_should_halt(flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag, "should_halt before halt")
    call MPI_Barrier(comm, ierr)
    if (rank == 0) then
      call Fenix_Process_halt("two lines"//new_line("a")//"are refused", ierr)
      call check(ierr == FENIX_ERROR_INVALID_ARGUMENT, "a reason of two lines")
      call Fenix_Process_halt("enough is computed", ierr)
      call success(ierr, "halt")
      call Fenix_Process_halt(ierr=ierr)
      call success(ierr, "halt without a reason")
    end if
    call MPI_Barrier(comm, ierr)
    do look = 1, MOST_LOOKS
      call Fenix_Process_should_halt(flag, ierr)
      call success(ierr, "should_halt")
      if (flag) exit
      ierr = usleep(1000_c_int)
    end do
    call check(flag, "should_halt never says .true.")
  end subroutine

  subroutine first_use()
    integer :: ierr
    call begin(1)
    call create(FENIX_SUCCESS)
    call flushes()
    call Fenix_Data_restart_done(GROUP, .true., ierr)
    call check(ierr == FENIX_ERROR_INVALID_LOGIC_CALL, "restart_done of a new group")
    call lists()
    call halts()
    call Fenix_Finalize(ierr)
    call success(ierr, "Fenix_Finalize")
  end subroutine

  subroutine second_use()
    integer :: run, origin, time_stamp, ierr
    call begin(2)
    call create(FENIX_WARNING_RESUMED)
    call expect_snapshot(0)
    call Fenix_Process_get_run(run, origin, ierr)
    call check(ierr == FENIX_SUCCESS .and. run == 2 .and. origin == 1, "the run of the data")
    call Fenix_Data_restart_done(GROUP, .true., ierr)
    call success(ierr, "restart_done")
    if (rank == 1) then
      call Fenix_Data_dataset_set_current(ierr=ierr)
      call success(ierr, "dataset_set_current, none")
    end if
    call MPI_Barrier(comm, ierr)
    call Fenix_Data_fetch(GROUP, time_stamp=time_stamp, ierr=ierr)
    call success(ierr, "fetch")
    call check(time_stamp == 1, "time stamp of the newest dataset")
    call expect_snapshot(1)
    call Fenix_Data_restart_done(GROUP, rank /= 1, ierr)
    call check(ierr == FENIX_WARNING_RESUMED, "restart_done, not good on one rank")
    call expect_snapshot(0)
    call Fenix_Data_fetch(GROUP, "unknown", ierr=ierr)
    call check(ierr == FENIX_ERROR_NODATA_FOUND, "fetch of an unknown name")
    call Fenix_Data_fetch(GROUP, "begin  ", time_stamp, ierr)
    call check(ierr == FENIX_SUCCESS .and. time_stamp == 0, "fetch by name")
    call expect_snapshot(0)
    call Fenix_Finalize(ierr)
    call success(ierr, "Fenix_Finalize")
  end subroutine

  !> Runs a command of the shell on the first rank, while the others wait.
  subroutine on_first_rank(command)
    character(len=*), intent(in) :: command
    integer :: world_rank, ierr
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, world_rank, ierr)
    if (world_rank == 0) call execute_command_line(command)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine
end module store_cases

program store
  use store_cases
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
  call get_environment_variable("FENIX_STORE", folder)
  if (folder == " ") then
    call without_store()
  else
    call on_first_rank("rm -rf '"//trim(folder)//"' && mkdir -p '"//trim(folder)//"'")
    call first_use()
    call second_use()
    call on_first_rank("rm -rf '"//trim(folder)//"'")
  end if
  call MPI_Finalize(ierr)
  print '(a,i0)', "FENIX-TEST-OK rank ", rank
end program store
