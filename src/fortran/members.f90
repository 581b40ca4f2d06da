! SPDX-License-Identifier: BSD-3-Clause
! Members of data groups, as declared in <fenix/data.h>, which has the contracts.
!
! A buffer is an array of any type and rank, or a scalar. Calls do not copy it. Therefore array sections with gaps are
! refused with FENIX_ERROR_INVALID_ARGUMENT. The library keeps the address of a member's buffer: the buffer needs the
! attribute target, and must live as long as the member (allocated, in the main program, in a module, or with save). An
! omitted buffer is NULL in C. Use an array of one element in the place of a scalar of type(c_ptr), because gfortran 12
! passes the value of such a scalar.
module fenix_members
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_ptr
  use fenix_types, only: fenix_address_of, Fenix_Serialize_file_fn
  implicit none
  private
  public :: Fenix_Data_member_create, Fenix_Data_member_fcreate, Fenix_Data_member_define, Fenix_Data_member_fdefine
  public :: Fenix_Data_member_allocate
  public :: Fenix_Data_member_created, Fenix_Data_member_delete, Fenix_Data_member_footprint
  public :: Fenix_Data_member_attr_get, Fenix_Data_member_attr_set

  interface
    !> Creates a member with a buffer of the library. Use c_f_pointer to make an array of baseptr.
    subroutine Fenix_Data_member_allocate(group_id, member_id, count, datatype, baseptr, ierr) &
        bind(C, name="fenix_f_member_allocate")
      import :: c_int, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), value :: count
      integer(c_int), value :: datatype
      type(c_ptr), intent(inout) :: baseptr
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_member_delete(group_id, member_id, ierr) bind(C, name="fenix_f_member_delete")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    !> Gets the bytes of shared memory that a member uses. bytes is integer(MPI_COUNT_KIND).
    subroutine Fenix_Data_member_footprint(group_id, member_id, bytes, ierr) bind(C, name="fenix_f_member_footprint")
      import :: c_int, c_int64_t
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int64_t), intent(out) :: bytes
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

  ! Procedures of C++ that the procedures below call.
  interface
    subroutine fenix_f_member_create(group_id, member_id, buffer, count, datatype, ierr) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: buffer
      integer(c_int), value :: count
      integer(c_int), value :: datatype
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_fcreate(group_id, member_id, buffer, count, datatype, serializer, ctx, ierr) bind(C)
      import :: c_int, c_ptr, Fenix_Serialize_file_fn
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: buffer
      integer(c_int), value :: count
      integer(c_int), value :: datatype
      procedure(Fenix_Serialize_file_fn), optional :: serializer
      type(c_ptr), value :: ctx
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_define(group_id, member_id, buffer, count, datatype, ierr) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: buffer
      integer(c_int), value :: count
      integer(c_int), value :: datatype
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_fdefine(group_id, member_id, buffer, count, datatype, serializer, ctx, ierr) bind(C)
      import :: c_int, c_ptr, Fenix_Serialize_file_fn
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: buffer
      integer(c_int), value :: count
      integer(c_int), value :: datatype
      procedure(Fenix_Serialize_file_fn), optional :: serializer
      type(c_ptr), value :: ctx
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_created(group_id, member_id, flag, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_attr_get(group_id, member_id, attribute_name, attribute_value, flag, source_rank, &
      ierr) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), value :: attribute_name
      type(c_ptr), value :: attribute_value
      integer(c_int), intent(out) :: flag
      integer(c_int), value :: source_rank
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_attr_set(group_id, member_id, attribute_name, attribute_value, flag, ierr) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), value :: attribute_name
      type(c_ptr), value :: attribute_value
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

contains

  subroutine Fenix_Data_member_create(group_id, member_id, buffer, count, datatype, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: buffer
    integer(c_int), intent(in) :: count
    integer(c_int), intent(in) :: datatype
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, buffer)
    if (ierr /= 0) return
    call fenix_f_member_create(group_id, member_id, address, count, datatype, ierr)
  end subroutine

  subroutine Fenix_Data_member_fcreate(group_id, member_id, buffer, count, datatype, serializer, ctx, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: buffer
    integer(c_int), intent(in) :: count
    integer(c_int), intent(in) :: datatype
    procedure(Fenix_Serialize_file_fn), optional :: serializer
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, buffer)
    if (ierr /= 0) return
    call fenix_f_member_fcreate(group_id, member_id, address, count, datatype, serializer, ctx, ierr)
  end subroutine

  subroutine Fenix_Data_member_define(group_id, member_id, buffer, count, datatype, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: buffer
    integer(c_int), intent(in) :: count
    integer(c_int), intent(in) :: datatype
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, buffer)
    if (ierr /= 0) return
    call fenix_f_member_define(group_id, member_id, address, count, datatype, ierr)
  end subroutine

  subroutine Fenix_Data_member_fdefine(group_id, member_id, buffer, count, datatype, serializer, ctx, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: buffer
    integer(c_int), intent(in) :: count
    integer(c_int), intent(in) :: datatype
    procedure(Fenix_Serialize_file_fn), optional :: serializer
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, buffer)
    if (ierr /= 0) return
    call fenix_f_member_fdefine(group_id, member_id, address, count, datatype, serializer, ctx, ierr)
  end subroutine

  subroutine Fenix_Data_member_created(group_id, member_id, flag, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    logical, intent(out) :: flag
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_member_created(group_id, member_id, value, ierr)
    flag = value /= 0
  end subroutine

  !> Gets an attribute. attribute_value: for BUFFER an array of one type(c_ptr), for DATATYPE a handle, otherwise an
  !> integer. The caller frees the handle.
  subroutine Fenix_Data_member_attr_get(group_id, member_id, attribute_name, attribute_value, flag, source_rank, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    integer(c_int), intent(in) :: attribute_name
    type(*), dimension(..), target :: attribute_value
    logical, intent(out), optional :: flag
    integer(c_int), intent(in) :: source_rank
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    integer(c_int) :: value
    if (present(flag)) flag = .false.
    call fenix_address_of(address, ierr, attribute_value)
    if (ierr /= 0) return
    call fenix_f_member_attr_get(group_id, member_id, attribute_name, address, value, source_rank, ierr)
    if (present(flag)) flag = value /= 0
  end subroutine

  !> Sets an attribute. attribute_value: for BUFFER the buffer itself, for DATATYPE a handle, otherwise an integer.
  subroutine Fenix_Data_member_attr_set(group_id, member_id, attribute_name, attribute_value, flag, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    integer(c_int), intent(in) :: attribute_name
    type(*), dimension(..), target, intent(in) :: attribute_value
    logical, intent(out), optional :: flag
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    integer(c_int) :: value
    if (present(flag)) flag = .false.
    call fenix_address_of(address, ierr, attribute_value)
    if (ierr /= 0) return
    call fenix_f_member_attr_set(group_id, member_id, attribute_name, address, value, ierr)
    if (present(flag)) flag = value /= 0
  end subroutine
end module fenix_members
