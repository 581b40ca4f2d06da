! SPDX-License-Identifier: BSD-3-Clause
! Persistent communicators, as declared in <fenix/persist.h>, which has the contracts. Comments here name the differences.
module fenix_persist
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
  implicit none
  private
  public :: MPI_Comm_persist, Fenix_Failure

  interface
    subroutine fenix_f_comm_persist(comm, key, info, persistentcomm, ierr) bind(C, name="fenix_f_comm_persist")
      import :: c_char, c_int
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int), value :: info
      integer(c_int), intent(out) :: persistentcomm
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_failure(flag, ierr) bind(C, name="fenix_f_failure")
      import :: c_int
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

contains

  !> Makes a persistent communicator. Blanks at the end of key do not count. Without libfenix_mpi, ierr is MPI_ERR_OTHER.
  subroutine MPI_Comm_persist(comm, key, info, persistentcomm, ierr)
    integer(c_int), intent(in) :: comm
    character(len=*), intent(in) :: key
    integer(c_int), intent(in) :: info
    integer(c_int), intent(out) :: persistentcomm
    integer(c_int), intent(out) :: ierr
    call fenix_f_comm_persist(comm, trim(key)//c_null_char, info, persistentcomm, ierr)
  end subroutine

  subroutine Fenix_Failure(flag, ierr)
    logical, intent(out) :: flag
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_failure(value, ierr)
    flag = value /= 0
  end subroutine
end module fenix_persist
