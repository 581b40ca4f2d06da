! SPDX-License-Identifier: BSD-3-Clause
! Restores and loads, as declared in <fenix/data.h>, which has the contracts.
!
! target_buffer is an array of any type and rank, or a scalar: see members.f90. An omitted target_buffer is NULL in C:
! this rank takes part but does not need the data. found_data may be omitted.
module fenix_restoring
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr
  use fenix_types, only: fenix_address_of, Fenix_Data_subset
  implicit none
  private
  public :: Fenix_Data_member_restore, Fenix_Data_member_lrestore, Fenix_Data_member_restore_from_rank
  public :: Fenix_Data_member_load, Fenix_Data_member_load_to, Fenix_Data_member_load_begin, Fenix_Data_member_load_end
  public :: Fenix_Data_member_repair, Fenix_Data_verify

  interface
    subroutine Fenix_Data_member_load(group_id, member_id, time_stamp, found_data, ierr) &
      bind(C, name="fenix_f_member_load")
      import :: c_int, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), value :: time_stamp
      type(Fenix_Data_subset), intent(inout), optional :: found_data
      integer(c_int), intent(out) :: ierr
    end subroutine

    !> Opens a file to load a member. file is a FILE* of C.
    subroutine Fenix_Data_member_load_begin(group_id, member_id, file, time_stamp, found_data, ierr) &
      bind(C, name="fenix_f_member_load_begin")
      import :: c_int, c_ptr, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), intent(out) :: file
      integer(c_int), value :: time_stamp
      type(Fenix_Data_subset), intent(inout), optional :: found_data
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_member_load_end(group_id, member_id, ierr) bind(C, name="fenix_f_member_load_end")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_member_repair(group_id, member_id, ierr) bind(C, name="fenix_f_member_repair")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_verify(group_id, num_mended, num_lost, ierr) bind(C, name="fenix_f_verify")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out), optional :: num_mended
      integer(c_int), intent(out), optional :: num_lost
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

  ! Procedures of C++ that the procedures below call.
  interface
    subroutine fenix_f_member_restore(group_id, member_id, target_buffer, max_count, time_stamp, found_data, &
      ierr) bind(C)
      import :: c_int, c_ptr, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: target_buffer
      integer(c_int), value :: max_count
      integer(c_int), value :: time_stamp
      type(Fenix_Data_subset), intent(inout), optional :: found_data
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_lrestore(group_id, member_id, target_buffer, max_count, time_stamp, found_data, &
      ierr) bind(C)
      import :: c_int, c_ptr, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: target_buffer
      integer(c_int), value :: max_count
      integer(c_int), value :: time_stamp
      type(Fenix_Data_subset), intent(inout), optional :: found_data
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp, &
      found_data, source_rank, ierr) bind(C)
      import :: c_int, c_ptr, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: target_buffer
      integer(c_int), value :: max_count
      integer(c_int), value :: time_stamp
      type(Fenix_Data_subset), intent(inout), optional :: found_data
      integer(c_int), value :: source_rank
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_member_load_to(group_id, member_id, target_buffer, max_count, time_stamp, found_data, &
      ierr) bind(C)
      import :: c_int, c_ptr, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: target_buffer
      integer(c_int), value :: max_count
      integer(c_int), value :: time_stamp
      type(Fenix_Data_subset), intent(inout), optional :: found_data
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

contains

  subroutine Fenix_Data_member_restore(group_id, member_id, target_buffer, max_count, time_stamp, found_data, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: target_buffer
    integer(c_int), intent(in) :: max_count
    integer(c_int), intent(in) :: time_stamp
    type(Fenix_Data_subset), intent(inout), optional :: found_data
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, target_buffer)
    if (ierr /= 0) return
    call fenix_f_member_restore(group_id, member_id, address, max_count, time_stamp, found_data, ierr)
  end subroutine

  subroutine Fenix_Data_member_lrestore(group_id, member_id, target_buffer, max_count, time_stamp, found_data, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: target_buffer
    integer(c_int), intent(in) :: max_count
    integer(c_int), intent(in) :: time_stamp
    type(Fenix_Data_subset), intent(inout), optional :: found_data
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, target_buffer)
    if (ierr /= 0) return
    call fenix_f_member_lrestore(group_id, member_id, address, max_count, time_stamp, found_data, ierr)
  end subroutine

  subroutine Fenix_Data_member_restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp, &
    found_data, source_rank, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: target_buffer
    integer(c_int), intent(in) :: max_count
    integer(c_int), intent(in) :: time_stamp
    type(Fenix_Data_subset), intent(inout), optional :: found_data
    integer(c_int), intent(in) :: source_rank
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, target_buffer)
    if (ierr /= 0) return
    call fenix_f_member_restore_from_rank(group_id, member_id, address, max_count, time_stamp, found_data, &
      source_rank, ierr)
  end subroutine

  subroutine Fenix_Data_member_load_to(group_id, member_id, target_buffer, max_count, time_stamp, found_data, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: member_id
    type(*), dimension(..), target, intent(inout), optional :: target_buffer
    integer(c_int), intent(in) :: max_count
    integer(c_int), intent(in) :: time_stamp
    type(Fenix_Data_subset), intent(inout), optional :: found_data
    integer(c_int), intent(out) :: ierr
    type(c_ptr) :: address
    call fenix_address_of(address, ierr, target_buffer)
    if (ierr /= 0) return
    call fenix_f_member_load_to(group_id, member_id, address, max_count, time_stamp, found_data, ierr)
  end subroutine
end module fenix_restoring
