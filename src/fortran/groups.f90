! SPDX-License-Identifier: BSD-3-Clause
! Data groups, as declared in <fenix/data.h>, which has the contracts.
module fenix_groups
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private
  public :: Fenix_Data_group_create, Fenix_Data_group_created, Fenix_Data_group_delete
  public :: Fenix_Data_group_get_redundancy_policy, Fenix_Data_group_set_redundancy_policy
  public :: Fenix_Data_group_get_cohort
  public :: Fenix_Data_group_set_hashing, Fenix_Data_group_get_hashing
  public :: Fenix_Data_group_set_in_place, Fenix_Data_group_get_in_place
  public :: Fenix_Data_group_get_number_of_members, Fenix_Data_group_get_member_at_position
  public :: Fenix_Data_group_get_number_of_snapshots, Fenix_Data_group_get_snapshot_at_position

  interface
    !> Creates a data group, or re-creates it after a failure. flag is a code, as in C.
    subroutine Fenix_Data_group_create(group_id, comm, start_time_stamp, depth, policy_name, policy_value, flag, ierr) &
      bind(C, name="fenix_f_group_create")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: comm
      integer(c_int), value :: start_time_stamp
      integer(c_int), value :: depth
      integer(c_int), value :: policy_name
      integer(c_int), intent(in), optional :: policy_value(*)
      integer(c_int), intent(out), optional :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_group_delete(group_id, ierr) bind(C, name="fenix_f_group_delete")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_group_get_cohort(group_id, cohort, ierr) bind(C, name="fenix_f_group_get_cohort")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: cohort
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_group_get_number_of_members(group_id, number_of_members, ierr) &
      bind(C, name="fenix_f_group_get_number_of_members")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: number_of_members
      integer(c_int), intent(out) :: ierr
    end subroutine

    !> Gets the id of a member. position counts from 0, as in C.
    subroutine Fenix_Data_group_get_member_at_position(group_id, member_id, position, ierr) &
      bind(C, name="fenix_f_group_get_member_at_position")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: member_id
      integer(c_int), value :: position
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine Fenix_Data_group_get_number_of_snapshots(group_id, number_of_snapshots, ierr) &
      bind(C, name="fenix_f_group_get_number_of_snapshots")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: number_of_snapshots
      integer(c_int), intent(out) :: ierr
    end subroutine

    !> Gets the time stamp of a snapshot. position counts from 0, as in C.
    subroutine Fenix_Data_group_get_snapshot_at_position(group_id, position, time_stamp, ierr) &
      bind(C, name="fenix_f_group_get_snapshot_at_position")
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: position
      integer(c_int), intent(out) :: time_stamp
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

  ! Procedures of C++ that the procedures below call.
  interface
    subroutine fenix_f_group_created(group_id, flag, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_group_get_redundancy_policy(group_id, policy_name, policy_value, flag, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: policy_name
      integer(c_int), intent(inout) :: policy_value(*)
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_group_set_redundancy_policy(group_id, policy_name, policy_value, flag, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: policy_name
      integer(c_int), intent(in), optional :: policy_value(*)
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_group_set_hashing(group_id, hashing, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: hashing
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_group_get_hashing(group_id, hashing, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: hashing
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_group_set_in_place(group_id, in_place, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), value :: in_place
      integer(c_int), intent(out) :: ierr
    end subroutine

    subroutine fenix_f_group_get_in_place(group_id, in_place, ierr) bind(C)
      import :: c_int
      integer(c_int), value :: group_id
      integer(c_int), intent(out) :: in_place
      integer(c_int), intent(out) :: ierr
    end subroutine
  end interface

contains

  subroutine Fenix_Data_group_created(group_id, flag, ierr)
    integer(c_int), intent(in) :: group_id
    logical, intent(out) :: flag
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_group_created(group_id, value, ierr)
    flag = value /= 0
  end subroutine

  subroutine Fenix_Data_group_get_redundancy_policy(group_id, policy_name, policy_value, flag, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(out) :: policy_name
    integer(c_int), intent(inout) :: policy_value(3)
    logical, intent(out), optional :: flag
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_group_get_redundancy_policy(group_id, policy_name, policy_value, value, ierr)
    if (present(flag)) flag = value /= 0
  end subroutine

  subroutine Fenix_Data_group_set_redundancy_policy(group_id, policy_name, policy_value, flag, ierr)
    integer(c_int), intent(in) :: group_id
    integer(c_int), intent(in) :: policy_name
    integer(c_int), intent(in), optional :: policy_value(*)
    logical, intent(out), optional :: flag
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_group_set_redundancy_policy(group_id, policy_name, policy_value, value, ierr)
    if (present(flag)) flag = value /= 0
  end subroutine

  subroutine Fenix_Data_group_set_hashing(group_id, hashing, ierr)
    integer(c_int), intent(in) :: group_id
    logical, intent(in) :: hashing
    integer(c_int), intent(out) :: ierr
    call fenix_f_group_set_hashing(group_id, merge(1_c_int, 0_c_int, hashing), ierr)
  end subroutine

  subroutine Fenix_Data_group_get_hashing(group_id, hashing, ierr)
    integer(c_int), intent(in) :: group_id
    logical, intent(out) :: hashing
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_group_get_hashing(group_id, value, ierr)
    hashing = value /= 0
  end subroutine

  subroutine Fenix_Data_group_set_in_place(group_id, in_place, ierr)
    integer(c_int), intent(in) :: group_id
    logical, intent(in) :: in_place
    integer(c_int), intent(out) :: ierr
    call fenix_f_group_set_in_place(group_id, merge(1_c_int, 0_c_int, in_place), ierr)
  end subroutine

  subroutine Fenix_Data_group_get_in_place(group_id, in_place, ierr)
    integer(c_int), intent(in) :: group_id
    logical, intent(out) :: in_place
    integer(c_int), intent(out) :: ierr
    integer(c_int) :: value
    call fenix_f_group_get_in_place(group_id, value, ierr)
    in_place = value /= 0
  end subroutine
end module fenix_groups
