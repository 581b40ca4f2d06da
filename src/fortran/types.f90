! SPDX-License-Identifier: BSD-3-Clause
! Derived types, the constants of these types, and the interfaces of functions that the application provides.
module fenix_types
  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_intptr_t, c_loc, &
                                         c_null_ptr, c_ptr
  implicit none
  private
  public :: Fenix_Data_subset, Fenix_Request
  public :: Fenix_Recover_fn, Fenix_Serialize_file_fn, Fenix_Serialize_file_fn_c
  public :: fenix_address_of

  !> Set of elements of a member. impl is one of the numbers of the constants below, which handles.hpp repeats, or an
  !> address.
  type, bind(C) :: Fenix_Data_subset
    integer(c_intptr_t) :: impl = 0 !< internal
  end type

  type(Fenix_Data_subset), parameter, public :: FENIX_SUBSET_NULL = Fenix_Data_subset(0)
  type(Fenix_Data_subset), parameter, public :: FENIX_DATA_SUBSET_FULL = Fenix_Data_subset(1)
  type(Fenix_Data_subset), parameter, public :: FENIX_DATA_SUBSET_EMPTY = Fenix_Data_subset(2)
  type(Fenix_Data_subset), parameter, public :: FENIX_DATA_SUBSET_PRESTAGED = Fenix_Data_subset(3)
  !> As found_data: the same as omitting it. It is a variable, because a constant cannot be passed to an argument with
  !> intent(out); it is not written.
  type(Fenix_Data_subset), save, public :: FENIX_DATA_SUBSET_IGNORE = Fenix_Data_subset(-1)

  !> Handle of an asynchronous store. May be copied; nothing has to be freed.
  type, bind(C) :: Fenix_Request
    integer(c_int64_t) :: impl = 0 !< internal
  end type

  type(Fenix_Request), parameter, public :: FENIX_REQUEST_NULL = Fenix_Request(0)

  !> As time_stamp: the caller does not need the time stamp. The same as omitting the argument.
  integer(c_int), save, public :: FENIX_TIME_STAMP_IGNORE = 0

  !> As target_buffer: the source buffer of the member. It is recognised by its address.
  integer(c_int), target, save, public :: FENIX_DATA_RESTORE_INPLACE = 0

  abstract interface
    !> Callback for Fenix_Callback_register. comm is the repaired communicator, error the MPI error that led to the
    !> repair.
    subroutine Fenix_Recover_fn(comm, error, callback_data) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: comm
      integer(c_int), value :: error
      type(c_ptr), value :: callback_data
    end subroutine

    !> Serializer for Fenix_Data_member_fcreate. file is a FILE* of C, for fread and fwrite of C.
    subroutine Fenix_Serialize_file_fn(file, direction, buffer, offset, count, ctx) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: file
      integer(c_int), value :: direction
      type(c_ptr), value :: buffer
      integer(c_int), value :: offset
      integer(c_int), value :: count
      type(c_ptr), value :: ctx
    end subroutine

    !> Serializer for Fenix_Data_member_fcreate_c. MPI_COUNT_KIND is c_int64_t.
    subroutine Fenix_Serialize_file_fn_c(file, direction, buffer, offset, count, ctx) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int), value :: direction
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: offset
      integer(c_int64_t), value :: count
      type(c_ptr), value :: ctx
    end subroutine
  end interface

  interface
    integer(c_int) function fenix_f_refuse_section() bind(C)
      import :: c_int
    end function
  end interface

contains

  !> Gets the address of an array of any type and rank, or of a scalar: type(*), dimension(..) accepts them without a
  !> copy. The address of an absent buffer is NULL in C. ierr is an error for array sections with gaps, which C cannot
  !> describe.
  subroutine fenix_address_of(address, ierr, buffer)
    type(c_ptr), intent(out) :: address
    integer(c_int), intent(out) :: ierr
    type(*), dimension(..), target, intent(in), optional :: buffer
    address = c_null_ptr
    ierr = 0
    if (.not. present(buffer)) return
    if (.not. is_contiguous(buffer)) then
      ierr = fenix_f_refuse_section()
      return
    end if
    address = c_loc(buffer)
    ! In C this is not a variable, but the address -1, which no variable has.
    if (c_associated(address, c_loc(FENIX_DATA_RESTORE_INPLACE))) address = transfer(-1_c_intptr_t, c_null_ptr)
  end subroutine
end module fenix_types
