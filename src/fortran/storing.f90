! SPDX-License-Identifier: BSD-3-Clause
! Stores, requests and commits, as declared in <fenix/data.h>, which has the contracts.
module fenix_storing
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr
  use fenix_types, only: Fenix_Data_subset, Fenix_Request
  implicit none
  private
  public :: Fenix_Data_member_stage, Fenix_Data_member_stage_inplace, Fenix_Data_member_stage_memory
  public :: Fenix_Data_member_stage_begin, Fenix_Data_member_stage_end
  public :: Fenix_Data_member_store, Fenix_Data_member_storev, Fenix_Data_member_istore, Fenix_Data_member_istorev
  public :: Fenix_Data_wait, Fenix_Data_test
  public :: Fenix_Data_commit, Fenix_Data_commit_barrier, Fenix_Data_commit_cleanup
  public :: Fenix_Data_cleanup, Fenix_Data_barrier
  public :: Fenix_Data_checkpoint, Fenix_Data_checkpointv, Fenix_Data_snapshot_delete

  interface
    subroutine Fenix_Data_member_stage(group_id, member_id, subset_specifier, ierr) bind(C, name="fenix_f_member_stage")
      import :: c_int, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(Fenix_Data_subset), intent(in) :: subset_specifier
      integer(c_int), intent(out) :: ierr
    end subroutine

    !> Stages another buffer. buf comes from malloc of C or from Fenix_Data_member_stage_memory, not from allocate.
    subroutine Fenix_Data_member_stage_inplace(group_id, member_id, buf, subset_specifier, ierr) &
      bind(C, name="fenix_f_member_stage_inplace")
      import :: c_int, c_ptr, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), value :: buf
      type(Fenix_Data_subset), intent(in) :: subset_specifier
      integer(c_int), intent(out) :: ierr
    end subroutine

    !> Gives access to the memory of the snapshot under construction. Convert memory with c_f_pointer.
    subroutine Fenix_Data_member_stage_memory(group_id, member_id, memory, ierr) &
      bind(C, name="fenix_f_member_stage_memory")
      import :: c_int, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), intent(out) :: memory
      integer(c_int), intent(out) :: ierr
    end subroutine

    !> Opens a file to stage a member. file is a FILE* of C.
    subroutine Fenix_Data_member_stage_begin(group_id, member_id, file, ierr) bind(C, name="fenix_f_member_stage_begin")
      import :: c_int, c_ptr
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(c_ptr), intent(out) :: file
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_member_stage_end(group_id, member_id, ierr) bind(C, name="fenix_f_member_stage_end")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_member_store(group_id, member_id, subset_specifier, ierr) bind(C, name="fenix_f_member_store")
      import :: c_int, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(Fenix_Data_subset), intent(in) :: subset_specifier
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_member_storev(group_id, member_id, subset_specifier, ierr) &
      bind(C, name="fenix_f_member_storev")
      import :: c_int, Fenix_Data_subset
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(Fenix_Data_subset), intent(in) :: subset_specifier
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_member_istore(group_id, member_id, subset_specifier, request, ierr) &
      bind(C, name="fenix_f_member_istore")
      import :: c_int, Fenix_Data_subset, Fenix_Request
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(Fenix_Data_subset), intent(in) :: subset_specifier
      type(Fenix_Request), intent(out) :: request
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_member_istorev(group_id, member_id, subset_specifier, request, ierr) &
      bind(C, name="fenix_f_member_istorev")
      import :: c_int, Fenix_Data_subset, Fenix_Request
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      type(Fenix_Data_subset), intent(in) :: subset_specifier
      type(Fenix_Request), intent(out) :: request
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_wait(request, ierr) bind(C, name="fenix_f_wait")
      import :: c_int, Fenix_Request
      type(Fenix_Request), intent(in) :: request
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_commit(group_id, time_stamp, ierr) bind(C, name="fenix_f_commit")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out), optional :: time_stamp
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_commit_barrier(group_id, time_stamp, ierr) bind(C, name="fenix_f_commit_barrier")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out), optional :: time_stamp
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_commit_cleanup(group_id, time_stamp, ierr) bind(C, name="fenix_f_commit_cleanup")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out), optional :: time_stamp
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_cleanup(group_id, ierr) bind(C, name="fenix_f_cleanup")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_barrier(group_id, ierr) bind(C, name="fenix_f_barrier")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_checkpoint(group_id, subset, num_storev, storev_ids, time_stamp, ierr) &
      bind(C, name="fenix_f_checkpoint")
      import :: c_int, Fenix_Data_subset
      integer(c_int), value :: group_id
      type(Fenix_Data_subset), intent(in) :: subset
      integer(c_int), value :: num_storev
      integer(c_int), intent(in), optional :: storev_ids(*)
      integer(c_int), intent(out), optional :: time_stamp
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_checkpointv(group_id, subset, time_stamp, ierr) bind(C, name="fenix_f_checkpointv")
      import :: c_int, Fenix_Data_subset
      integer(c_int), value :: group_id
      type(Fenix_Data_subset), intent(in) :: subset
      integer(c_int), intent(out), optional :: time_stamp
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_snapshot_delete(group_id, time_stamp, ierr) bind(C, name="fenix_f_snapshot_delete")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: time_stamp
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

  ! Procedure of C++ that the procedure below calls.
  interface
    subroutine fenix_f_test(request, flag, ierr) bind(C)
      import :: c_int, Fenix_Request
      type(Fenix_Request), intent(in) :: request
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

contains

  subroutine Fenix_Data_test(request, flag, ierr)
    type(Fenix_Request), intent(in) :: request
    logical, intent(out) :: flag
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_test(request, value, ierr)
    flag = value /= 0
  end subroutine
end module fenix_storing
