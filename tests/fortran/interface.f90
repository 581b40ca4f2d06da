! Process recovery, groups and members as Fortran sees them, without failures: arguments arrive where they belong.
module cases
  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_loc, c_ptr
  use mpi
  use fenix
  implicit none

  integer, parameter :: GROUP = 3
  integer, target :: role, comm, error
  integer :: rank, ranks
  integer, target :: calls = 0
  real(8), target :: matrix(8, 6)
  integer, target :: scalar
  character(len=16), target :: text

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

  !> The call gave this code, and a text that names the argument.
  subroutine refused(ierr, code, named)
    integer, intent(in) :: ierr, code
    character(len=*), intent(in) :: named
    character(len=:), allocatable :: message
    message = Fenix_Error_message()
    call check(ierr == code .and. index(message, named) > 0, "refused: "//named)
  end subroutine

  subroutine before_init()
    integer :: ierr, number, option
    logical :: flag
    call Fenix_Initialized(flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag, "initialized before init")
    call Fenix_Finalized(flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag, "finalized before init")
    call Fenix_get_error(number, ierr)
    call refused(ierr, FENIX_ERROR_UNINITIALIZED, "Fenix_Init")
    call Fenix_Process_detect_failures(.true., ierr)
    call refused(ierr, FENIX_ERROR_UNINITIALIZED, "Fenix_Init")
    call Fenix_get_nspare(number, ierr)
    call refused(ierr, FENIX_ERROR_UNINITIALIZED, "Fenix_Init")
    call Fenix_set_option(FENIX_SPARE_WAIT_MODE, FENIX_SPARE_WAIT_BUSY, ierr)
    call success(ierr, "set_option")
    call Fenix_get_option(FENIX_SPARE_WAIT_MODE, option, ierr)
    call check(ierr == FENIX_SUCCESS .and. option == FENIX_SPARE_WAIT_BUSY, "get_option")
    call Fenix_set_option(FENIX_SETTING_NAME_MAXCODE, 0, ierr)
    call refused(ierr, FENIX_ERROR_INVALID_SETTING_NAME, "setting")
    call Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_JUMP, ierr)
    call refused(ierr, FENIX_ERROR_INVALID_SETTING_OPTION, "option")
    call Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN, ierr)
    call success(ierr, "set_option")
  end subroutine

  !> Also with an info that asks for what Fortran cannot do.
  subroutine init()
    integer :: ierr, info, option
    call Fenix_Init(role, MPI_COMM_WORLD, comm, -1, error)
    call refused(error, FENIX_ERROR_INVALID_ARGUMENT, "spare_ranks")
    call check(comm == MPI_COMM_NULL, "communicator of an init that failed")
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, "FENIX_RESUME_MODE", "JUMP", ierr)
    call MPI_Info_set(info, "FENIX_UNHANDLED_MODE", "SILENT", ierr)
    call Fenix_Init(role, MPI_COMM_WORLD, comm, 0, .false., info, error)
    call success(error, "init")
    call MPI_Info_free(info, ierr)
    call Fenix_get_option(FENIX_RESUME_MODE, option, ierr)
    call check(option == FENIX_RESUME_RETURN, "resume mode")
    call Fenix_get_option(FENIX_UNHANDLED_MODE, option, ierr)
    call check(option == FENIX_UNHANDLED_SILENT, "info")
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, ranks, ierr)
    call check(role == FENIX_ROLE_INITIAL_RANK .and. ranks == 3, "role and size")
  end subroutine

  subroutine count_call(new_comm, mpi_error, callback_data) bind(C)
    integer(c_int), value :: new_comm
    integer(c_int), value :: mpi_error
    type(c_ptr), value :: callback_data
    calls = calls + new_comm + mpi_error
    call check(c_associated(callback_data, c_loc(calls)), "callback_data")
  end subroutine

  subroutine process()
    integer :: ierr, number, request, status(MPI_STATUS_SIZE), old_group, new_group
    integer, pointer :: failed(:)
    real(8) :: noticed, repaired
    logical :: flag
    call Fenix_Initialized(flag, ierr)
    call check(flag, "initialized")
    call Fenix_get_error(number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == FENIX_SUCCESS, "get_error")
    call Fenix_get_nspare(number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == 0, "get_nspare")
    call Fenix_Get_role(comm, 2, number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == FENIX_ROLE_INITIAL_RANK, "role of a rank")
    call Fenix_Get_role(comm, 3, number, ierr)
    call refused(ierr, FENIX_ERROR_INVALID_ARGUMENT, "rank 3")
    call Fenix_Get_number_of_ranks_with_role(comm, FENIX_ROLE_INITIAL_RANK, number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == 3, "number with role in comm")
    call Fenix_Process_fail_list(failed, ierr)
    call check(ierr == FENIX_SUCCESS .and. size(failed) == 0, "fail_list")
    call Fenix_Process_repair_times(noticed, repaired, ierr)
    call refused(ierr, FENIX_ERROR_INVALID_LOGIC_CALL, "repair")
    call Fenix_Process_detect_failures(.true., ierr)
    call check(ierr == MPI_SUCCESS, "detect_failures")

    call Fenix_get_slot(number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == rank, "get_slot")
    call Fenix_rank_to_slot(comm, 2, number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == 2, "rank_to_slot")
    ! number is 2 before: it has to be written.
    call Fenix_Get_role(number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == FENIX_ROLE_INITIAL_RANK, "own role")
    call Fenix_rank_to_slot(comm, 2, number, ierr)
    call Fenix_get_rank_role(comm, 2, number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == FENIX_ROLE_INITIAL_RANK, "get_rank_role")
    call Fenix_slot_to_rank(comm, 1, number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == 1, "slot_to_rank")
    call MPI_Comm_group(comm, old_group, ierr)
    call Fenix_repair_group(old_group, new_group, ierr)
    call success(ierr, "repair_group")
    call MPI_Group_compare(old_group, new_group, number, ierr)
    call check(number == MPI_IDENT, "a group that needs no repair")
    call message_logging()
    call checkpoints()
    call Fenix_Callback_pop_at(FENIX_CALLBACK_PRE_RECOVERY, ierr)
    call refused(ierr, FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback")
    call Fenix_Callback_register_at(count_call, c_loc(calls), FENIX_CALLBACK_PRE_RECOVERY, ierr)
    call success(ierr, "callback_register_at")
    call Fenix_Callback_invoke_all_at(FENIX_CALLBACK_PRE_RECOVERY, ierr)
    call refused(ierr, FENIX_ERROR_INVALID_LOGIC_CALL, "repair")
    call Fenix_Callback_pop_at(FENIX_CALLBACK_PRE_RECOVERY, ierr)
    call success(ierr, "callback_pop_at")

    call Fenix_Callback_pop(ierr)
    call refused(ierr, FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback")
    call Fenix_Callback_register(count_call, c_loc(calls), ierr)
    call success(ierr, "callback_register")
    call Fenix_Callback_pop(ierr)
    call success(ierr, "callback_pop")

    request = MPI_REQUEST_NULL
    call Fenix_check_cancelled(request, status, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag .and. request == MPI_REQUEST_NULL, "check_cancelled")
    call MPI_Irecv(number, 1, MPI_INTEGER, mod(rank + 1, ranks), 0, comm, request, ierr)
    call MPI_Send(rank, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), 0, comm, ierr)
    call MPI_Barrier(comm, ierr)
    do while (request /= MPI_REQUEST_NULL) ! it may not have arrived yet
      call Fenix_check_cancelled(request, status, flag, ierr)
    end do
    call check(number == mod(rank + 1, ranks), "a message")
    call check(status(MPI_SOURCE) == mod(rank + 1, ranks), "status")
    call Fenix_check_cancelled(request, cancelled=flag, ierr=ierr)
    call check(ierr == FENIX_SUCCESS, "check_cancelled without status")
  end subroutine

  !> There is none: each procedure says so.
  subroutine message_logging()
    integer :: ierr, number
    call Fenix_Mlog_create(0, comm, 1, ierr)
    call unavailable(ierr, "mlog_create")
    call Fenix_Mlog_activate(0, ierr)
    call unavailable(ierr, "mlog_activate")
    number = 7
    call Fenix_Mlog_active(number, ierr)
    call unavailable(ierr, "mlog_active")
    call check(number == FENIX_MLOG_NONE, "active log")
    call Fenix_Mlog_begin_region(0, 1, ierr)
    call unavailable(ierr, "mlog_begin_region")
    call Fenix_Mlog_activate_region(0, 1, ierr)
    call unavailable(ierr, "mlog_activate_region")
    call Fenix_Mlog_sync(0, FENIX_MLOG_CONTINUE, ierr)
    call unavailable(ierr, "mlog_sync")
    call Fenix_Mlog_create_data_member(0, GROUP, 1, ierr)
    call unavailable(ierr, "mlog_create_data_member")
    call Fenix_Mlog_define_data_member(0, GROUP, 1, ierr)
    call unavailable(ierr, "mlog_define_data_member")
    call Fenix_Mlog_stage(0, GROUP, 1, ierr)
    call unavailable(ierr, "mlog_stage")
    call Fenix_Mlog_lrestore(0, GROUP, 1, 0, ierr)
    call unavailable(ierr, "mlog_lrestore")
    call Fenix_Mlog_delete(0, ierr)
    call unavailable(ierr, "mlog_delete")
  end subroutine

  !> There are none without libfenix_mpi.
  subroutine checkpoints()
    integer :: ierr, number
    logical :: flag
    number = 7
    call Fenix_Checkpoint_begin(GROUP, 9, 4096, number, ierr)
    call unavailable(ierr, "checkpoint_begin")
    call check(number == FENIX_CHECKPOINT_NONE, "time stamp without a checkpoint")
    call Fenix_Checkpoint_begin(GROUP, 9, 4096, ierr=ierr)
    call unavailable(ierr, "checkpoint_begin without time_stamp")
    call Fenix_Checkpoint_request(ierr)
    call unavailable(ierr, "checkpoint_request")
    flag = .true.
    call Fenix_Checkpoint_potential(flag, ierr)
    call unavailable(ierr, "checkpoint_potential")
    call check(.not. flag, "a checkpoint that was not taken")
    call Fenix_Checkpoint_potential(ierr=ierr)
    call unavailable(ierr, "checkpoint_potential")
    call Fenix_Checkpoint_count(number, ierr)
    call unavailable(ierr, "checkpoint_count")
    call Fenix_Checkpoint_finish(ierr)
    call unavailable(ierr, "checkpoint_finish")
  end subroutine

  subroutine unavailable(ierr, what)
    integer, intent(in) :: ierr
    character(len=*), intent(in) :: what
    call check(ierr == FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE, what)
  end subroutine

  subroutine groups_and_members()
    integer :: ierr, number, time_stamp
    logical :: flag
    call Fenix_Data_group_created(GROUP, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag, "group_created")
    call Fenix_Data_group_create(GROUP, comm, 5, -3, FENIX_DATA_POLICY_IMR, ierr=ierr)
    call refused(ierr, FENIX_ERROR_INVALID_DEPTH, "depth")
    call Fenix_Data_group_create(GROUP, comm, 5, 1, FENIX_DATA_POLICY_IMR, [1, 9], number, ierr)
    call refused(ierr, FENIX_ERROR_INVALID_POLICY_VALUE, "separation")
    call Fenix_Data_group_create(GROUP, comm, 5, 1, FENIX_DATA_POLICY_IMR, [1, 1], number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == FENIX_SUCCESS, "group_create")
    call Fenix_Data_group_created(GROUP, flag, ierr)
    call check(flag, "group_created")

    call Fenix_Data_member_create(GROUP, 0, matrix, size(matrix), MPI_DOUBLE_PRECISION, ierr)
    call success(ierr, "member_create: array")
    call Fenix_Data_member_create(GROUP, 1, scalar, 1, MPI_INTEGER, ierr)
    call success(ierr, "member_create: scalar")
    call Fenix_Data_member_create(GROUP, 2, text, len(text), MPI_CHARACTER, ierr)
    call success(ierr, "member_create: text")
    call Fenix_Data_member_create(GROUP, 3, count=2, datatype=MPI_INTEGER, ierr=ierr)
    call success(ierr, "member_create: without a buffer")
    call Fenix_Data_member_create(GROUP, 4, matrix(:, 2:3), 16, MPI_DOUBLE_PRECISION, ierr)
    call success(ierr, "member_create: a section without gaps")
    call Fenix_Data_member_create(GROUP, 5, matrix(2, :), 6, MPI_DOUBLE_PRECISION, ierr)
    call refused(ierr, FENIX_ERROR_INVALID_ARGUMENT, "section")
    call Fenix_Data_member_create(GROUP, 0, matrix, size(matrix), MPI_DOUBLE_PRECISION, ierr)
    call refused(ierr, FENIX_ERROR_MEMBER_EXISTS, "member_id 0")
    call Fenix_Data_member_created(GROUP, 4, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag, "member_created")
    call Fenix_Data_member_created(GROUP, 5, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag, "member_created")
    call Fenix_Data_member_attr_set(GROUP, 3, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, matrix(1:2, 1), flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag, "attr_set")
    call Fenix_Data_member_attr_set(GROUP, 3, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, matrix(1, 1:2), flag, ierr)
    call refused(ierr, FENIX_ERROR_INVALID_ARGUMENT, "section")
    call check(.not. flag, "attr_set of a section")
    call Fenix_Data_member_attr_set(GROUP, 3, 99, scalar, ierr=ierr)
    call refused(ierr, FENIX_ERROR_INVALID_ATTRIBUTE_NAME, "attribute_name")

    call fill(1)
    call Fenix_Data_member_store(GROUP, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL, ierr)
    call success(ierr, "store")
    call Fenix_Data_member_store(GROUP, 0, FENIX_SUBSET_NULL, ierr)
    call refused(ierr, FENIX_ERROR_INVALID_ARGUMENT, "subset")
    call Fenix_Data_commit_barrier(GROUP, time_stamp, ierr)
    call check(ierr == FENIX_SUCCESS .and. time_stamp == 5, "commit_barrier")
    call fill(2)
    call Fenix_Data_member_store(GROUP, 1, FENIX_DATA_SUBSET_FULL, ierr)
    call success(ierr, "store")
    call Fenix_Data_commit(GROUP, FENIX_TIME_STAMP_IGNORE, ierr)
    call success(ierr, "commit")
    call Fenix_Data_commit_barrier(GROUP, ierr=ierr)
    call success(ierr, "commit without time_stamp")
    call Fenix_Data_group_get_number_of_snapshots(GROUP, number, ierr)
    call check(ierr == FENIX_SUCCESS .and. number == 2, "number_of_snapshots")
    call Fenix_Data_group_get_snapshot_at_position(GROUP, 0, time_stamp, ierr)
    call check(ierr == FENIX_SUCCESS .and. time_stamp == 7, "snapshot_at_position")
    call Fenix_Data_group_get_snapshot_at_position(GROUP, 2, time_stamp, ierr)
    call refused(ierr, FENIX_ERROR_INVALID_POSITION, "position")
  end subroutine

  subroutine fill(round)
    integer, intent(in) :: round
    integer :: i
    matrix = reshape([(real(100*rank + 1000*round + i, 8), i=1, size(matrix))], shape(matrix))
    scalar = 10*rank + round
    text = repeat(achar(64 + 4*rank + round), len(text))
  end subroutine

  subroutine restores()
    integer :: ierr, i
    real(8) :: row(48)
    character(len=16) :: letters
    type(Fenix_Data_subset) :: found
    matrix = 0
    scalar = 0
    call Fenix_Data_member_restore(GROUP, 0, matrix, size(matrix), FENIX_DATA_SNAPSHOT_LATEST, &
                                   FENIX_DATA_SUBSET_IGNORE, ierr)
    call success(ierr, "restore")
    call check(all(reshape(matrix, [48]) == [(real(100*rank + 1000 + i, 8), i=1, 48)]), "restored array")
    call Fenix_Data_member_restore(GROUP, 1, scalar, 1, FENIX_DATA_SNAPSHOT_LATEST, found, ierr)
    call success(ierr, "restore with found_data")
    call check(scalar == 10*rank + 2 .and. found%impl /= FENIX_SUBSET_NULL%impl, "restored scalar")
    call Fenix_Data_member_restore(GROUP, 2, letters, len(letters), 7, ierr=ierr)
    call success(ierr, "restore of text")
    call check(letters == repeat(achar(64 + 4*rank + 1), 16), "restored text")
    call Fenix_Data_member_restore(GROUP, 0, max_count=0, time_stamp=FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call success(ierr, "restore of nothing, without a buffer")
    row = 0
    call Fenix_Data_member_restore(GROUP, 0, row(1:48:2), 24, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call refused(ierr, FENIX_ERROR_INVALID_ARGUMENT, "section")
    call Fenix_Data_member_restore(GROUP, 0, row, 48, -4711, ierr=ierr)
    call refused(ierr, FENIX_ERROR_INVALID_TIMESTAMP, "4711")
    call check(all(row == 0), "a restore that failed wrote something")
    call Fenix_Data_member_restore(GROUP, 0, row, 4, FENIX_TIME_STAMP_MAX, ierr=ierr)
    call success(ierr, "restore of four elements of the latest snapshot")
    call check(all(row(1:4) /= 0) .and. all(row(5:) == 0), "other elements than the first four")
  end subroutine
end module cases

program interface
  use cases
  implicit none
  integer :: ierr
  logical :: flag

  call MPI_Init(ierr)
  call before_init()
  call init()
  call process()
  call groups_and_members()
  call restores()
  call Fenix_Finalize(ierr)
  call success(ierr, "finalize")
  call Fenix_Finalized(flag, ierr)
  call check(flag, "finalized")
  call Fenix_Data_barrier(GROUP, ierr)
  call refused(ierr, FENIX_ERROR_UNINITIALIZED, "Fenix_Finalize")
  call MPI_Finalize(ierr)
  print '(a,i0)', "FENIX-TEST-OK rank ", rank
end program interface
