! SPDX-License-Identifier: BSD-3-Clause
! Coordinated checkpoints that do not block, as declared in <fenix/checkpoint.h>, which has the contracts.
module fenix_checkpoint
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private
  public :: Fenix_Checkpoint_begin, Fenix_Checkpoint_request, Fenix_Checkpoint_potential
  public :: Fenix_Checkpoint_count, Fenix_Checkpoint_finish

  interface
    subroutine Fenix_Checkpoint_begin(group_id, member_id, log_bytes, time_stamp, ierr) &
      bind(C, name="fenix_f_checkpoint_begin")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: member_id
      integer(c_int), value :: log_bytes
      integer(c_int), intent(out), optional :: time_stamp
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Checkpoint_request(ierr) bind(C, name="fenix_f_checkpoint_request")
      import :: c_int
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Checkpoint_count(count, ierr) bind(C, name="fenix_f_checkpoint_count")
      import :: c_int
      integer(c_int), intent(out) :: count
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Checkpoint_finish(ierr) bind(C, name="fenix_f_checkpoint_finish")
      import :: c_int
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

  ! The procedure of C++ that the one below calls.
  interface
    subroutine fenix_f_checkpoint_potential(taken, ierr) bind(C)
      import :: c_int
      integer(c_int), intent(out) :: taken
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

contains

  subroutine Fenix_Checkpoint_potential(taken, ierr)
    logical, intent(out), optional :: taken
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_checkpoint_potential(value, ierr)
    if (present(taken)) taken = value /= 0
  end subroutine
end module fenix_checkpoint
