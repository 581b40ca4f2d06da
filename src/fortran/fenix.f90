! SPDX-License-Identifier: BSD-3-Clause
! The Fortran interface: `use fenix` provides everything that <fenix.h> provides to C, under the same names.
! Conventions:
!
!  1. Every function of C is a subroutine here. The code that C returns is the last argument, ierr. Only
!     Fenix_Error_message is a function. Other results of C functions (a role, a number of spares, whether a group
!     exists) are arguments before ierr.
!  2. Communicators, datatypes, infos and requests are INTEGER handles, as in `use mpi`. Values that are 0 or 1 in C are
!     LOGICAL.
!  3. Where C accepts NULL, the argument may be omitted; the arguments after it are then given by name: ierr=ierr.
!  4. Ids, positions, offsets and counts are as in C: elements are counted from 0.
!  5. The resume mode is always FENIX_RESUME_RETURN. After a failure, the call that met it returns an ierr other than 0:
!     an error of MPI or FENIX_ERROR_CANCELLED. The program then goes back to the point where it creates its groups.
!     docs/how-to-languages.md shows how.
!  6. Variables whose address the library keeps need the attribute target: see Fenix_Init and members.f90.
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
  use fenix_checkpoint
  use fenix_mlog
  use fenix_persist
  use fenix_store
  implicit none
  public
end module fenix
