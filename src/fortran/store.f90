! SPDX-License-Identifier: BSD-3-Clause
! The store behind memory, as declared in <fenix/store.h>, which has the contracts. Comments here name the differences.
! Blanks at the end of names and reasons do not count.
module fenix_store
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_char
  use fenix_codes, only: FENIX_DATASET_NAME_MAX
  use fenix_types, only: Fenix_Request
  implicit none
  private
  public :: Fenix_Data_flush, Fenix_Data_iflush, Fenix_Data_flush_state, Fenix_Data_group_set_flush
  public :: Fenix_Data_fetch, Fenix_Data_restart_done
  public :: Fenix_Data_get_number_of_datasets, Fenix_Data_get_dataset_at_position
  public :: Fenix_Data_dataset_delete, Fenix_Data_dataset_set_current
  public :: Fenix_Data_need_commit, Fenix_Process_should_halt, Fenix_Process_halt, Fenix_Process_get_run

  interface
    !> Tells how far a flush is. bytes is of kind MPI_COUNT_KIND.
    subroutine Fenix_Data_flush_state(group_id, time_stamp, state, bytes, ierr) bind(C, name="fenix_f_flush_state")
      import :: c_int, c_int64_t
      integer(c_int), value :: group_id
      integer(c_int), value :: time_stamp
      integer(c_int), intent(out) :: state
      integer(c_int64_t), intent(out), optional :: bytes
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_group_set_flush(group_id, every, ierr) bind(C, name="fenix_f_group_set_flush")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: every
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_get_number_of_datasets(number_of_datasets, ierr) &
      bind(C, name="fenix_f_get_number_of_datasets")
      import :: c_int
      integer(c_int), intent(out) :: number_of_datasets
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Process_get_run(run, origin, ierr) bind(C, name="fenix_f_process_get_run")
      import :: c_int
      integer(c_int), intent(out) :: run
      integer(c_int), intent(out), optional :: origin
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

  ! Procedures of C++ that the procedures below call.
  interface
    subroutine fenix_f_flush(group_id, time_stamp, name, ierr) bind(C)
      import :: c_char, c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: time_stamp
      character(kind=c_char), intent(in), optional :: name(*)
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_iflush(group_id, time_stamp, name, request, ierr) bind(C)
      import :: c_char, c_int, Fenix_Request
      integer(c_int), value :: group_id
      integer(c_int), value :: time_stamp
      character(kind=c_char), intent(in), optional :: name(*)
      type(Fenix_Request), intent(out) :: request
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_fetch(group_id, name, time_stamp, ierr) bind(C)
      import :: c_char, c_int
      integer(c_int), value :: group_id
      character(kind=c_char), intent(in), optional :: name(*)
      integer(c_int), intent(out), optional :: time_stamp
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_restart_done(group_id, good, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: good
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_get_dataset_at_position(position, name, label, complete, ierr) bind(C)
      import :: c_char, c_int
      integer(c_int), value :: position
      character(kind=c_char), intent(inout) :: name(*)
      character(kind=c_char), intent(inout) :: label(*)
      integer(c_int), intent(out) :: complete
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_dataset_delete(name, ierr) bind(C)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_dataset_set_current(name, ierr) bind(C)
      import :: c_char, c_int
      character(kind=c_char), intent(in), optional :: name(*)
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_need_commit(group_id, flag, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_process_should_halt(flag, ierr) bind(C)
      import :: c_int
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_process_halt(reason, ierr) bind(C)
      import :: c_char, c_int
      character(kind=c_char), intent(in), optional :: reason(*)
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

contains

  subroutine Fenix_Data_flush(group_id, time_stamp, name, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: time_stamp
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out) :: ierr
    if (present(name)) then
      call fenix_f_flush(group_id, time_stamp, trim(name)//c_null_char, ierr)
    else
      call fenix_f_flush(group_id, time_stamp, ierr=ierr)
    end if
  end subroutine

  subroutine Fenix_Data_iflush(group_id, time_stamp, name, request, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: time_stamp
    character(len=*), intent(in), optional :: name
    type(Fenix_Request), intent(out) :: request
    integer(c_int), intent(out) :: ierr
    if (present(name)) then
      call fenix_f_iflush(group_id, time_stamp, trim(name)//c_null_char, request, ierr)
    else
      call fenix_f_iflush(group_id, time_stamp, request=request, ierr=ierr)
    end if
  end subroutine

  subroutine Fenix_Data_fetch(group_id, name, time_stamp, ierr)
    integer(c_int), intent(in) :: group_id
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: time_stamp
    integer(c_int), intent(out) :: ierr
    if (present(name)) then
      call fenix_f_fetch(group_id, trim(name)//c_null_char, time_stamp, ierr)
    else
      call fenix_f_fetch(group_id, time_stamp=time_stamp, ierr=ierr)
    end if
  end subroutine

  subroutine Fenix_Data_restart_done(group_id, good, ierr)
    integer(c_int), intent(in) :: group_id
    logical, intent(in) :: good
    integer(c_int), intent(out) :: ierr
    call fenix_f_restart_done(group_id, merge(1_c_int, 0_c_int, good), ierr)
  end subroutine

  !> Gets an entry of the list of datasets. position counts from 0, as in C. Blanks follow name and label; variables of
  !> FENIX_DATASET_NAME_MAX letters are long enough.
  subroutine Fenix_Data_get_dataset_at_position(position, name, label, complete, ierr)
    integer(c_int), intent(in) :: position
    character(len=*), intent(out) :: name
    character(len=*), intent(out), optional :: label
    logical, intent(out), optional :: complete
    integer(c_int), intent(out) :: ierr
    character(len=FENIX_DATASET_NAME_MAX) :: all_of_name, all_of_label
    integer(c_int) :: value
    call fenix_f_get_dataset_at_position(position, all_of_name, all_of_label, value, ierr)
    name = all_of_name
    if (present(label)) label = all_of_label
    if (present(complete)) complete = value /= 0
  end subroutine

  subroutine Fenix_Data_dataset_delete(name, ierr)
    character(len=*), intent(in) :: name
    integer(c_int), intent(out) :: ierr
    call fenix_f_dataset_delete(trim(name)//c_null_char, ierr)
  end subroutine

  subroutine Fenix_Data_dataset_set_current(name, ierr)
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out) :: ierr
    if (present(name)) then
      call fenix_f_dataset_set_current(trim(name)//c_null_char, ierr)
    else
      call fenix_f_dataset_set_current(ierr=ierr)
    end if
  end subroutine

  subroutine Fenix_Data_need_commit(group_id, flag, ierr)
    integer(c_int), intent(in) :: group_id
    logical, intent(out) :: flag
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_need_commit(group_id, value, ierr)
    flag = value /= 0
  end subroutine

  subroutine Fenix_Process_should_halt(flag, ierr)
    logical, intent(out) :: flag
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_process_should_halt(value, ierr)
    flag = value /= 0
  end subroutine

  subroutine Fenix_Process_halt(reason, ierr)
    character(len=*), intent(in), optional :: reason
    integer(c_int), intent(out) :: ierr
    if (present(reason)) then
      call fenix_f_process_halt(trim(reason)//c_null_char, ierr)
    else
      call fenix_f_process_halt(ierr=ierr)
    end if
  end subroutine
end module fenix_store
