! SPDX-License-Identifier: BSD-3-Clause
! Constants of <scr.h> for Fortran, in a form that is both fixed and free. The subroutines are external.
      INTEGER SCR_SUCCESS, SCR_FAILURE
      PARAMETER (SCR_SUCCESS=0, SCR_FAILURE=1)
      INTEGER SCR_MAX_FILENAME
      PARAMETER (SCR_MAX_FILENAME=1024)
      INTEGER SCR_FLAG_NONE, SCR_FLAG_CHECKPOINT, SCR_FLAG_OUTPUT
      PARAMETER (SCR_FLAG_NONE=0, SCR_FLAG_CHECKPOINT=1)
      PARAMETER (SCR_FLAG_OUTPUT=2)
