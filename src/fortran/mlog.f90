! SPDX-License-Identifier: BSD-3-Clause
! Message logging, as declared in <fenix/mlog.h>: names only.
module fenix_mlog
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private
  public :: Fenix_Mlog_create, Fenix_Mlog_activate, Fenix_Mlog_active, Fenix_Mlog_begin_region
  public :: Fenix_Mlog_activate_region, Fenix_Mlog_sync
  public :: Fenix_Mlog_stage, Fenix_Mlog_lrestore
  public :: Fenix_Mlog_create_data_member, Fenix_Mlog_define_data_member, Fenix_Mlog_delete

  interface
    subroutine Fenix_Mlog_create(mlog_id, comm, depth, ierr) bind(C, name="fenix_f_mlog_create")
      import :: c_int
      integer(c_int), value :: mlog_id
      integer(c_int), intent(inout) :: comm
      integer(c_int), value :: depth
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Mlog_activate(mlog_id, ierr) bind(C, name="fenix_f_mlog_activate")
      import :: c_int
      integer(c_int), value :: mlog_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Mlog_active(mlog_id, ierr) bind(C, name="fenix_f_mlog_active")
      import :: c_int
      integer(c_int), intent(out) :: mlog_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Mlog_begin_region(mlog_id, region_id, ierr) bind(C, name="fenix_f_mlog_begin_region")
      import :: c_int
      integer(c_int), value :: mlog_id
      integer(c_int), value :: region_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Mlog_activate_region(mlog_id, region_id, ierr) bind(C, name="fenix_f_mlog_activate_region")
      import :: c_int
      integer(c_int), value :: mlog_id
      integer(c_int), value :: region_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Mlog_sync(mlog_id, region_id, ierr) bind(C, name="fenix_f_mlog_sync")
      import :: c_int
      integer(c_int), value :: mlog_id
      integer(c_int), value :: region_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Mlog_create_data_member(mlog_id, group_id, member_id, ierr) &
      bind(C, name="fenix_f_mlog_create_data_member")
      import :: c_int
      integer(c_int), value :: mlog_id
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Mlog_define_data_member(mlog_id, group_id, member_id, ierr) &
      bind(C, name="fenix_f_mlog_define_data_member")
      import :: c_int
      integer(c_int), value :: mlog_id
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Mlog_stage(mlog_id, group_id, member_id, ierr) bind(C, name="fenix_f_mlog_stage")
      import :: c_int
      integer(c_int), value :: mlog_id
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Mlog_lrestore(mlog_id, group_id, member_id, time_stamp, ierr) &
      bind(C, name="fenix_f_mlog_lrestore")
      import :: c_int
      integer(c_int), value :: mlog_id
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), value :: time_stamp
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Mlog_delete(mlog_id, ierr) bind(C, name="fenix_f_mlog_delete")
      import :: c_int
      integer(c_int), value :: mlog_id
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface
end module fenix_mlog
