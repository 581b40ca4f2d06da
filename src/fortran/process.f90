! SPDX-License-Identifier: BSD-3-Clause
! Process recovery, as declared in <fenix/process.h>, which has the contracts. Comments here name the differences.
module fenix_process
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_pointer, c_int, c_loc, c_null_ptr, c_ptr
  use mpi, only: MPI_INFO_NULL, MPI_STATUS_SIZE
  use fenix_types, only: Fenix_Recover_fn
  implicit none
  private
  public :: Fenix_Init, Fenix_Initialized, Fenix_Finalized, Fenix_Finalize
  public :: Fenix_Init_no_jump
  public :: Fenix_set_option, Fenix_get_option
  public :: Fenix_Callback_register, Fenix_Callback_pop, Fenix_Callback_invoke_all
  public :: Fenix_Callback_register_at, Fenix_Callback_pop_at, Fenix_Callback_invoke_all_at
  public :: Fenix_get_error, Fenix_get_nspare
  public :: Fenix_get_slot, Fenix_rank_to_slot, Fenix_slot_to_rank, Fenix_repair_group
  public :: Fenix_Get_role, Fenix_get_rank_role, Fenix_Get_number_of_ranks_with_role
  public :: Fenix_Process_fail_list, Fenix_Process_repair_times, Fenix_Process_detect_failures
  public :: Fenix_check_cancelled, Fenix_Error_message

  !> Builds the resilient communicator. The variables role, newcomm and error are written again after each repair. They
  !> need the attribute target, and must live as long as Fenix is in use (in the main program, in a module, or with save).
  !> They are declared as pointers, so that the compiler refuses variables without target. error takes the place of ierr.
  !> newcomm is null() where C takes NULL.
  interface Fenix_Init
    procedure init_5
    procedure init_7
  end interface

  !> Does the same as Fenix_Init, whose resume mode is always "return" in Fortran.
  interface Fenix_Init_no_jump
    procedure init_5
    procedure init_7
  end interface

  !> Gets the role of this rank with (role, ierr), or that of any rank with (comm, rank, role, ierr). One name has both
  !> forms, because Fortran does not distinguish Fenix_get_role from Fenix_Get_role.
  interface Fenix_Get_role
    subroutine fenix_f_own_role(role, ierr) bind(C)
      import :: c_int
      integer(c_int), intent(out) :: role
      integer(c_int), intent(out) :: ierr
    end subroutine
    subroutine fenix_f_role_of(comm, rank, role, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), value :: rank
      integer(c_int), intent(out) :: role
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

  !> Counts the ranks that have a role: of the resilient communicator with (role, number_of_ranks, ierr), or of any with
  !> (comm, role, number_of_ranks, ierr). One name has both forms, for the same reason.
  interface Fenix_Get_number_of_ranks_with_role
    subroutine fenix_f_number_with_role(role, number_of_ranks, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: role
      integer(c_int), intent(out) :: number_of_ranks
      integer(c_int), intent(out) :: ierr
    end subroutine
    subroutine fenix_f_number_with_role_in(comm, role, number_of_ranks, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), value :: role
      integer(c_int), intent(out) :: number_of_ranks
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

  interface
    subroutine Fenix_Finalize(ierr) bind(C, name="fenix_f_finalize")
      import :: c_int
      integer(c_int), intent(out) :: ierr
    end subroutine

    !> Sets a setting. The only resume mode in Fortran is FENIX_RESUME_RETURN, because neither longjmp nor C++
    !> exceptions may pass through Fortran.
    subroutine Fenix_set_option(setting, option, ierr) bind(C, name="fenix_f_set_option")
      import :: c_int
      integer(c_int), value :: setting
      integer(c_int), value :: option
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_get_option(setting, option, ierr) bind(C, name="fenix_f_get_option")
      import :: c_int
      integer(c_int), value :: setting
      integer(c_int), intent(out) :: option
      integer(c_int), intent(out) :: ierr
    end subroutine

    !> Registers a callback. recover is a module procedure with bind(C), not an internal procedure. callback_data may be
    !> c_null_ptr.
    subroutine Fenix_Callback_register(recover, callback_data, ierr) bind(C, name="fenix_f_callback_register")
      import :: c_int, c_ptr, Fenix_Recover_fn
      procedure(Fenix_Recover_fn) :: recover
      type(c_ptr), value :: callback_data
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Callback_pop(ierr) bind(C, name="fenix_f_callback_pop")
      import :: c_int
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Callback_invoke_all(ierr) bind(C, name="fenix_f_callback_invoke_all")
      import :: c_int
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Callback_register_at(recover, callback_data, location, ierr) &
      bind(C, name="fenix_f_callback_register_at")
      import :: c_int, c_ptr, Fenix_Recover_fn
      procedure(Fenix_Recover_fn) :: recover
      type(c_ptr), value :: callback_data
      integer(c_int), value :: location
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Callback_pop_at(location, ierr) bind(C, name="fenix_f_callback_pop_at")
      import :: c_int
      integer(c_int), value :: location
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Callback_invoke_all_at(location, ierr) bind(C, name="fenix_f_callback_invoke_all_at")
      import :: c_int
      integer(c_int), value :: location
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_get_slot(slot, ierr) bind(C, name="fenix_f_get_slot")
      import :: c_int
      integer(c_int), intent(out) :: slot
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_rank_to_slot(comm, rank, slot, ierr) bind(C, name="fenix_f_rank_to_slot")
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), value :: rank
      integer(c_int), intent(out) :: slot
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_slot_to_rank(comm, slot, rank, ierr) bind(C, name="fenix_f_slot_to_rank")
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), value :: slot
      integer(c_int), intent(out) :: rank
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_repair_group(old_group, new_group, ierr) bind(C, name="fenix_f_repair_group")
      import :: c_int
      integer(c_int), value :: old_group
      integer(c_int), intent(out) :: new_group
      integer(c_int), intent(out) :: ierr
    end subroutine

    !> Gets the error that Fenix_Init has written.
    subroutine Fenix_get_error(error, ierr) bind(C, name="fenix_f_get_error")
      import :: c_int
      integer(c_int), intent(out) :: error
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_get_nspare(nspare, ierr) bind(C, name="fenix_f_get_nspare")
      import :: c_int
      integer(c_int), intent(out) :: nspare
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_get_rank_role(comm, rank, role, ierr) bind(C, name="fenix_f_get_rank_role")
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), value :: rank
      integer(c_int), intent(out) :: role
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Process_repair_times(noticed, repaired, ierr) bind(C, name="fenix_f_process_repair_times")
      import :: c_double, c_int
      real(c_double), intent(out) :: noticed
      real(c_double), intent(out) :: repaired
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

  integer(c_int), target, save :: nobody(0)

  ! Procedures of C++ that the procedures below call.
  interface
    subroutine fenix_f_init(role, comm, newcomm, spare_ranks, spawn, info, error) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: role
      integer(c_int), value :: comm
      type(c_ptr), value :: newcomm
      integer(c_int), value :: spare_ranks
      integer(c_int), value :: spawn
      integer(c_int), value :: info
      type(c_ptr), value :: error
    end subroutine

    subroutine fenix_f_initialized(flag, ierr) bind(C)
      import :: c_int
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_finalized(flag, ierr) bind(C)
      import :: c_int
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_process_fail_list(fail_list, number, ierr) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: fail_list
      integer(c_int), intent(out) :: number
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_process_detect_failures(do_recovery, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: do_recovery
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_check_cancelled(request, status, cancelled, ierr) bind(C)
      import :: c_int
      integer(c_int), intent(inout) :: request
      integer(c_int), intent(inout), optional :: status(*)
      integer(c_int), intent(out) :: cancelled
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_error_message(text, length) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: text
      integer(c_int), intent(out) :: length
    end subroutine
  end interface

contains

  subroutine init_5(role, comm, newcomm, spare_ranks, error)
    integer(c_int), pointer, intent(in) :: role
    integer(c_int), intent(in) :: comm
    integer(c_int), pointer, intent(in) :: newcomm
    integer(c_int), intent(in) :: spare_ranks
    integer(c_int), pointer, intent(in) :: error
    call init_7(role, comm, newcomm, spare_ranks, .false., MPI_INFO_NULL, error)
  end subroutine

  subroutine init_7(role, comm, newcomm, spare_ranks, spawn, info, error)
    integer(c_int), pointer, intent(in) :: role
    integer(c_int), intent(in) :: comm
    integer(c_int), pointer, intent(in) :: newcomm
    integer(c_int), intent(in) :: spare_ranks
    logical, intent(in) :: spawn
    integer(c_int), intent(in) :: info
    integer(c_int), pointer, intent(in) :: error
    type(c_ptr) :: newcomm_or_null
    newcomm_or_null = c_null_ptr
    if (associated(newcomm)) newcomm_or_null = c_loc(newcomm)
    call fenix_f_init(c_loc(role), comm, newcomm_or_null, spare_ranks, merge(1_c_int, 0_c_int, spawn), info, &
                      c_loc(error))
  end subroutine

  subroutine Fenix_Initialized(flag, ierr)
    logical, intent(out) :: flag
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_initialized(value, ierr)
    flag = value /= 0
  end subroutine

  subroutine Fenix_Finalized(flag, ierr)
    logical, intent(out) :: flag
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_finalized(value, ierr)
    flag = value /= 0
  end subroutine

  !> Lists the failed ranks. fail_list gets as many elements as there are failed ranks.
  subroutine Fenix_Process_fail_list(fail_list, ierr)
    integer(c_int), pointer, intent(out) :: fail_list(:)
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: first
    integer(c_int) :: number
    call fenix_f_process_fail_list(first, number, ierr)
    if (number > 0) then
      call c_f_pointer(first, fail_list, [number])
    else
      fail_list => nobody
    end if
  end subroutine

  !> Looks for failures. ierr is FENIX_ERROR_PROCESS_FAILURE if there is one.
  subroutine Fenix_Process_detect_failures(do_recovery, ierr)
    logical, intent(in) :: do_recovery
    integer(c_int), intent(out) :: ierr
    call fenix_f_process_detect_failures(merge(1_c_int, 0_c_int, do_recovery), ierr)
  end subroutine

  !> Tells whether a request was cancelled. cancelled is the result in C.
  subroutine Fenix_check_cancelled(request, status, cancelled, ierr)
    integer(c_int), intent(inout) :: request
    integer(c_int), intent(inout), optional :: status(MPI_STATUS_SIZE)
    logical, intent(out) :: cancelled
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_check_cancelled(request, status, value, ierr)
    cancelled = value /= 0
  end subroutine

  !> Gets the text of the last error. This is a function, because it cannot fail.
  function Fenix_Error_message() result(message)
    character(len=:), allocatable :: message
    character(kind=c_char), pointer :: letters(:)
    type(c_ptr) :: text
    integer(c_int) :: length
    integer :: i
    call fenix_f_error_message(text, length)
    call c_f_pointer(text, letters, [length])
    allocate (character(len=length) :: message)
    do i = 1, length
      message(i:i) = letters(i)
    end do
  end function
end module fenix_process
