! SPDX-License-Identifier: BSD-3-Clause
! Subsets, as declared in <fenix/data.h>, which has the contracts. Elements and positions count from 0, as in C.
! MPI_Count is integer(MPI_COUNT_KIND), which is integer(c_int64_t).
module fenix_subsets
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  use fenix_types, only: Fenix_Data_subset
  implicit none
  private
  public :: Fenix_Data_subset_create, Fenix_Data_subset_createv, Fenix_Data_subset_delete
  public :: Fenix_Data_subset_get_number_of_blocks, Fenix_Data_subset_get_block

  interface
    subroutine Fenix_Data_subset_create(num_blocks, start_offset, end_offset, stride, subset_specifier, ierr) &
      bind(C, name="fenix_f_subset_create")
      import :: c_int, Fenix_Data_subset
      integer(c_int), value :: num_blocks
      integer(c_int), value :: start_offset
      integer(c_int), value :: end_offset
      integer(c_int), value :: stride
      type(Fenix_Data_subset), intent(inout) :: subset_specifier
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_subset_createv(num_blocks, array_start_offsets, array_end_offsets, subset_specifier, ierr) &
      bind(C, name="fenix_f_subset_createv")
      import :: c_int, Fenix_Data_subset
      integer(c_int), value :: num_blocks
      integer(c_int), intent(in) :: array_start_offsets(*)
      integer(c_int), intent(in) :: array_end_offsets(*)
      type(Fenix_Data_subset), intent(inout) :: subset_specifier
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_subset_delete(subset_specifier, ierr) bind(C, name="fenix_f_subset_delete")
      import :: c_int, Fenix_Data_subset
      type(Fenix_Data_subset), intent(inout) :: subset_specifier
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_subset_get_number_of_blocks(subset, number_of_blocks, ierr) &
      bind(C, name="fenix_f_subset_get_number_of_blocks")
      import :: c_int, c_int64_t, Fenix_Data_subset
      type(Fenix_Data_subset), intent(in) :: subset
      integer(c_int64_t), intent(out) :: number_of_blocks
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_subset_get_block(subset, position, start_offset, end_offset, ierr) &
      bind(C, name="fenix_f_subset_get_block")
      import :: c_int, c_int64_t, Fenix_Data_subset
      type(Fenix_Data_subset), intent(in) :: subset
      integer(c_int64_t), value :: position
      integer(c_int64_t), intent(out) :: start_offset
      integer(c_int64_t), intent(out) :: end_offset
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface
end module fenix_subsets
