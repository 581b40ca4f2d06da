! SPDX-License-Identifier: BSD-3-Clause
! Large counts, as declared in <fenix/large.h>. MPI_Count is integer(MPI_COUNT_KIND), which is integer(c_int64_t).
module fenix_large
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_ptr
  use fenix_types, only: fenix_address_of, Fenix_Data_subset, Fenix_Serialize_file_fn_c
  implicit none
  private
  public :: Fenix_Data_member_create_c, Fenix_Data_member_fcreate_c
  public :: Fenix_Data_member_allocate_c
  public :: Fenix_Data_member_define_c, Fenix_Data_member_fdefine_c
  public :: Fenix_Data_member_attr_get_c, Fenix_Data_member_attr_set_c
  public :: Fenix_Data_subset_create_c, Fenix_Data_subset_createv_c
  public :: Fenix_Data_member_restore_c, Fenix_Data_member_lrestore_c, Fenix_Data_member_restore_from_rank_c
  public :: Fenix_Data_member_load_to_c

  interface
    !> Creates a member with a buffer of the library. Use c_f_pointer to make an array of baseptr.
    subroutine Fenix_Data_member_allocate_c(group_id, member_id, count, datatype, baseptr, ierr) &
        bind(C, name="fenix_f_member_allocate_c")
      import :: c_int, c_int64_t, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype
      type(c_ptr), intent(inout) :: baseptr
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_subset_create_c(num_blocks, start_offset, end_offset, stride, subset_specifier, ierr) &
      bind(C, name="fenix_f_subset_create_c")
      import :: c_int, c_int64_t, Fenix_Data_subset
      integer(c_int64_t), value :: num_blocks
      integer(c_int64_t), value :: start_offset
      integer(c_int64_t), value :: end_offset
      integer(c_int64_t), value :: stride
      type(Fenix_Data_subset), intent(inout) :: subset_specifier
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_subset_createv_c(num_blocks, array_start_offsets, array_end_offsets, subset_specifier, ierr) &
      bind(C, name="fenix_f_subset_createv_c")
      import :: c_int, c_int64_t, Fenix_Data_subset
      integer(c_int64_t), value :: num_blocks
      integer(c_int64_t), intent(in) :: array_start_offsets(*)
      integer(c_int64_t), intent(in) :: array_end_offsets(*)
      type(Fenix_Data_subset), intent(inout) :: subset_specifier
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

  ! Procedures of C++ that the procedures below call.
  interface
    subroutine fenix_f_member_create_c(group_id, member_id, buffer, count, datatype, ierr) bind(C)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_fcreate_c(group_id, member_id, buffer, count, datatype, serializer, ctx, ierr) bind(C)
      import :: c_int, c_int64_t, c_ptr, Fenix_Serialize_file_fn_c
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype
      procedure(Fenix_Serialize_file_fn_c), optional :: serializer
      type(c_ptr), value :: ctx
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_define_c(group_id, member_id, buffer, count, datatype, ierr) bind(C)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_fdefine_c(group_id, member_id, buffer, count, datatype, serializer, ctx, ierr) bind(C)
      import :: c_int, c_int64_t, c_ptr, Fenix_Serialize_file_fn_c
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype
      procedure(Fenix_Serialize_file_fn_c), optional :: serializer
      type(c_ptr), value :: ctx
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_attr_get_c(group_id, member_id, attribute_name, attribute_value, flag, source_rank, &
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

    subroutine fenix_f_member_attr_set_c(group_id, member_id, attribute_name, attribute_value, flag, ierr) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), value :: attribute_name
      type(c_ptr), value :: attribute_value
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_restore_c(group_id, member_id, target_buffer, max_count, time_stamp, found_data, &
      ierr) bind(C)
      import :: c_int, c_int64_t, c_ptr, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: target_buffer
      integer(c_int64_t), value :: max_count
      integer(c_int), value :: time_stamp
      type(Fenix_Data_subset), intent(inout), optional :: found_data
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_lrestore_c(group_id, member_id, target_buffer, max_count, time_stamp, found_data, &
      ierr) bind(C)
      import :: c_int, c_int64_t, c_ptr, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: target_buffer
      integer(c_int64_t), value :: max_count
      integer(c_int), value :: time_stamp
      type(Fenix_Data_subset), intent(inout), optional :: found_data
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_restore_from_rank_c(group_id, member_id, target_buffer, max_count, time_stamp, &
      found_data, source_rank, ierr) bind(C)
      import :: c_int, c_int64_t, c_ptr, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: target_buffer
      integer(c_int64_t), value :: max_count
      integer(c_int), value :: time_stamp
      type(Fenix_Data_subset), intent(inout), optional :: found_data
      integer(c_int), value :: source_rank
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_load_to_c(group_id, member_id, target_buffer, max_count, time_stamp, found_data, &
      ierr) bind(C)
      import :: c_int, c_int64_t, c_ptr, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: target_buffer
      integer(c_int64_t), value :: max_count
      integer(c_int), value :: time_stamp
      type(Fenix_Data_subset), intent(inout), optional :: found_data
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

contains

  subroutine Fenix_Data_member_create_c(group_id, member_id, buffer, count, datatype, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: buffer
    integer(c_int64_t), intent(in) :: count
    integer(c_int), intent(in) :: datatype
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, buffer)
    if (ierr /= 0) return
    call fenix_f_member_create_c(group_id, member_id, address, count, datatype, ierr)
  end subroutine

  subroutine Fenix_Data_member_fcreate_c(group_id, member_id, buffer, count, datatype, serializer, ctx, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: buffer
    integer(c_int64_t), intent(in) :: count
    integer(c_int), intent(in) :: datatype
    procedure(Fenix_Serialize_file_fn_c), optional :: serializer
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, buffer)
    if (ierr /= 0) return
    call fenix_f_member_fcreate_c(group_id, member_id, address, count, datatype, serializer, ctx, ierr)
  end subroutine

  subroutine Fenix_Data_member_define_c(group_id, member_id, buffer, count, datatype, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: buffer
    integer(c_int64_t), intent(in) :: count
    integer(c_int), intent(in) :: datatype
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, buffer)
    if (ierr /= 0) return
    call fenix_f_member_define_c(group_id, member_id, address, count, datatype, ierr)
  end subroutine

  subroutine Fenix_Data_member_fdefine_c(group_id, member_id, buffer, count, datatype, serializer, ctx, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: buffer
    integer(c_int64_t), intent(in) :: count
    integer(c_int), intent(in) :: datatype
    procedure(Fenix_Serialize_file_fn_c), optional :: serializer
    type(c_ptr), intent(in) :: ctx
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, buffer)
    if (ierr /= 0) return
    call fenix_f_member_fdefine_c(group_id, member_id, address, count, datatype, serializer, ctx, ierr)
  end subroutine

  subroutine Fenix_Data_member_attr_get_c(group_id, member_id, attribute_name, attribute_value, flag, source_rank, &
    ierr)
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
    call fenix_f_member_attr_get_c(group_id, member_id, attribute_name, address, value, source_rank, ierr)
    if (present(flag)) flag = value /= 0
  end subroutine

  subroutine Fenix_Data_member_attr_set_c(group_id, member_id, attribute_name, attribute_value, flag, ierr)
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
    call fenix_f_member_attr_set_c(group_id, member_id, attribute_name, address, value, ierr)
    if (present(flag)) flag = value /= 0
  end subroutine

  subroutine Fenix_Data_member_restore_c(group_id, member_id, target_buffer, max_count, time_stamp, found_data, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: target_buffer
    integer(c_int64_t), intent(in) :: max_count
    integer(c_int), intent(in) :: time_stamp
    type(Fenix_Data_subset), intent(inout), optional :: found_data
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, target_buffer)
    if (ierr /= 0) return
    call fenix_f_member_restore_c(group_id, member_id, address, max_count, time_stamp, found_data, ierr)
  end subroutine

  subroutine Fenix_Data_member_lrestore_c(group_id, member_id, target_buffer, max_count, time_stamp, found_data, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: target_buffer
    integer(c_int64_t), intent(in) :: max_count
    integer(c_int), intent(in) :: time_stamp
    type(Fenix_Data_subset), intent(inout), optional :: found_data
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, target_buffer)
    if (ierr /= 0) return
    call fenix_f_member_lrestore_c(group_id, member_id, address, max_count, time_stamp, found_data, ierr)
  end subroutine

  subroutine Fenix_Data_member_restore_from_rank_c(group_id, member_id, target_buffer, max_count, time_stamp, &
    found_data, source_rank, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: target_buffer
    integer(c_int64_t), intent(in) :: max_count
    integer(c_int), intent(in) :: time_stamp
    type(Fenix_Data_subset), intent(inout), optional :: found_data
    integer(c_int), intent(in) :: source_rank
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, target_buffer)
    if (ierr /= 0) return
    call fenix_f_member_restore_from_rank_c(group_id, member_id, address, max_count, time_stamp, found_data, &
      source_rank, ierr)
  end subroutine

  subroutine Fenix_Data_member_load_to_c(group_id, member_id, target_buffer, max_count, time_stamp, found_data, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: target_buffer
    integer(c_int64_t), intent(in) :: max_count
    integer(c_int), intent(in) :: time_stamp
    type(Fenix_Data_subset), intent(inout), optional :: found_data
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, target_buffer)
    if (ierr /= 0) return
    call fenix_f_member_load_to_c(group_id, member_id, address, max_count, time_stamp, found_data, ierr)
  end subroutine
end module fenix_large
