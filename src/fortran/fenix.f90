! SPDX-License-Identifier: BSD-3-Clause
! The Fortran interface: `use fenix` gives all that <fenix.h> gives to C, under the same names. Conventions:
!
!  1. Every function of C is a subroutine here; the code that C returns is the last argument, ierr. Fenix_Error_message
!     alone is a function. Numbers that C returns (roles, spares, whether a group exists) are arguments before ierr.
!  2. Communicators, datatypes, infos and requests are INTEGER handles, as in `use mpi`. What is 0 or 1 in C is LOGICAL.
!  3. Where C takes NULL, the argument may be left out; what follows is then given by name: ierr=ierr.
!  4. Ids, positions, offsets and counts are as in C: elements are counted from 0.
!  5. Resume mode is always FENIX_RESUME_RETURN: after a failure the call that met it gives an ierr other than 0, be it of
!     MPI or FENIX_ERROR_CANCELLED, and the program goes back to where it creates its groups. docs/guide.md shows how.
!  6. What the library keeps the address of has the attribute target: see Fenix_Init and members.f90.
module fenix
  use fenix_codes
  use fenix_types, only: Fenix_Data_subset, Fenix_Request, &
                         Fenix_Recover_fn, Fenix_Serialize_file_fn, Fenix_Serialize_file_fn_c, &
                         FENIX_SUBSET_NULL, FENIX_DATA_SUBSET_FULL, FENIX_DATA_SUBSET_EMPTY, &
                         FENIX_DATA_SUBSET_PRESTAGED, FENIX_DATA_SUBSET_IGNORE, &
                         FENIX_REQUEST_NULL, FENIX_TIME_STAMP_IGNORE, FENIX_DATA_RESTORE_INPLACE
  use fenix_process
  use fenix_groups
  use fenix_members
  use fenix_subsets
  use fenix_storing
  use fenix_restoring
  use fenix_large
  implicit none
  public
end module fenix
