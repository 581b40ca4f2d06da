! SPDX-License-Identifier: BSD-3-Clause
! newcomm is null() in Fortran: MPI_COMM_WORLD is the resilient communicator. Rank 1 dies in step 3. A communicator that was split off
! keeps its handle; the recovered rank gets it by the same call.
program newcomm_null_fortran
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi
  use fenix
  implicit none

  integer, parameter :: STEPS = 6, SPARES = 1
  integer, target :: role, error
  integer :: rank, process, size, half, ierr, step, total, sum

  interface
    integer(c_int) function raise(signal) bind(C)
      import :: c_int
      integer(c_int), value :: signal
    end function
  end interface

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, process, ierr)
  call Fenix_Init(role, MPI_COMM_WORLD, null(), SPARES, error)
  call check(error == FENIX_SUCCESS, "Fenix_Init")
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call check(size == 4, "size of MPI_COMM_WORLD")
  step = merge(3, 1, role == FENIX_ROLE_RECOVERED_RANK)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
  do while (step <= STEPS)
    if (process == 1 .and. step == 3) ierr = raise(9_c_int)
    call MPI_Allreduce(rank + step, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (ierr == MPI_SUCCESS) call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, half, ierr)
    if (ierr /= MPI_SUCCESS) then
      ! After the repair, all go on with the step in which the rank has died.
      step = 3
      cycle
    end if
    call check(total == 6 + 4*step, "sum over MPI_COMM_WORLD")
    call check(sum == 2 + 2*mod(rank, 2), "sum over the half")
    step = step + 1
  end do
  call check(role /= FENIX_ROLE_INITIAL_RANK, "nobody has died")
  call Fenix_Finalize(ierr)
  call check(ierr == FENIX_SUCCESS, "Fenix_Finalize")
  print '(a,i0)', "FENIX-TEST-OK rank ", rank
  call MPI_Finalize(ierr)

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    integer :: code
    if (holds) return
    print '(3a,i0,2a)', "FENIX-TEST-FAIL ", what, " on rank ", rank, ": ", Fenix_Error_message()
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine
end program
