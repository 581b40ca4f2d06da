! SPDX-License-Identifier: BSD-3-Clause
!
! Solves A x = b by conjugate gradients. A is sparse, and each rank has some of its rows.
! plain.f90 and protected.f90 are the same program, without Fenix and with it: diff plain.f90 protected.f90
!
! mpif90 -O2 -o protected protected.f90 -I$F/include/fenix/fortran -L$F/lib -Wl,-rpath,$F/lib -lfenix_fortran
! mpirun --with-ft ulfm -n 5 ./protected [CELLS [ITERATIONS]]
! F: the folder where Fenix is installed. With 2000 cells there is time to kill a rank.
!
! The call that meets a failure returns an error, after the repair. Then all subroutines return, up to the main program.
!
! A belongs to one implicit time step of a heat equation, on a square of CELLS x CELLS cells with periodic
! edges. A rank has some lines of cells. Its vectors have two more lines if they are multiplied by A: those
! of its neighbours.
module cg
  use mpi
  use fenix
  implicit none

  integer, parameter :: SPARES = 1, INTERVAL = 10, GROUP = 0, M_X = 0, M_R = 1, M_P = 2, M_RHO = 3, M_ITERATION = 4

  integer, target :: comm, role, error ! target: Fenix keeps their addresses
  integer :: rank, ranks, ierr
  logical :: done = .false.
  integer :: cells = 96, iterations = 1000

  ! The matrix, in compressed rows. Columns count the rank's own rows, then the line before them, then the one after.
  integer :: first, rows ! first line of cells; number of rows
  integer, allocatable :: start(:), column(:)
  real(8), allocatable :: value(:), b(:)

  ! What changes in each iteration.
  real(8), allocatable, target :: x(:), r(:), p(:), q(:)
  real(8), target :: rho
  integer, target :: iteration

contains

  !> Gives the conductivity between a cell and the next one in its line (0), or in its column (1).
  real(8) function conductivity(i, j, direction)
    integer, intent(in) :: i, j, direction
    conductivity = 1 + 0.5d0*sin(12.9898d0*modulo(i, cells) + 78.233d0*modulo(j, cells) + direction)
  end function

  subroutine set_entry(entry, at, what)
    integer, intent(inout) :: entry
    integer, intent(in) :: at
    real(8), intent(in) :: what
    column(entry) = at
    value(entry) = what
    entry = entry + 1
  end subroutine

  subroutine assemble()
    integer :: entry, row, i, j
    real(8) :: before, after, left, right
    first = cells*rank/ranks
    rows = (cells*(rank + 1)/ranks - first)*cells
    allocate (start(rows + 1), column(5*rows), value(5*rows))
    allocate (b(rows), x(rows), r(rows), q(rows), p(rows + 2*cells))
    entry = 1
    do row = 1, rows
      i = first + (row - 1)/cells
      j = mod(row - 1, cells)
      before = 50*conductivity(i - 1, j, 1)
      after = 50*conductivity(i, j, 1)
      left = 50*conductivity(i, j - 1, 0)
      right = 50*conductivity(i, j, 0)
      start(row) = entry
      call set_entry(entry, row, 1 + before + after + left + right)
      call set_entry(entry, merge(rows + 1 + j, row - cells, row <= cells), -before)
      call set_entry(entry, merge(row + cells, rows + cells + 1 + j, row + cells <= rows), -after)
      call set_entry(entry, row - j + modulo(j - 1, cells), -left)
      call set_entry(entry, row - j + modulo(j + 1, cells), -right)
      b(row) = merge(1, 0, i > cells/4 .and. i < cells/2 .and. j > cells/3)
    end do
    start(rows + 1) = entry
  end subroutine

  !> Gets the lines of the neighbours.
  subroutine exchange(v)
    real(8), intent(inout) :: v(:)
    integer :: before, after
    before = modulo(rank - 1, ranks)
    after = modulo(rank + 1, ranks)
    call MPI_Sendrecv(v(1), cells, MPI_DOUBLE_PRECISION, before, 0, &
                      v(rows + cells + 1), cells, MPI_DOUBLE_PRECISION, after, 0, comm, MPI_STATUS_IGNORE, ierr)
    if (ierr /= MPI_SUCCESS) return
    call MPI_Sendrecv(v(rows - cells + 1), cells, MPI_DOUBLE_PRECISION, after, 1, &
                      v(rows + 1), cells, MPI_DOUBLE_PRECISION, before, 1, comm, MPI_STATUS_IGNORE, ierr)
  end subroutine

  subroutine multiply(v, product)
    real(8), intent(inout) :: v(:)
    real(8), intent(out) :: product(:)
    integer :: row, entry
    real(8) :: total
    call exchange(v)
    if (ierr /= MPI_SUCCESS) return
    do row = 1, rows
      total = 0
      do entry = start(row), start(row + 1) - 1
        total = total + value(entry)*v(column(entry))
      end do
      product(row) = total
    end do
  end subroutine

  real(8) function dot(u, v)
    real(8), intent(in) :: u(:), v(:)
    real(8) :: mine
    mine = dot_product(u(1:rows), v(1:rows))
    call MPI_Allreduce(mine, dot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierr)
  end function

  !> Begins with x = 0.
  subroutine begin()
    x = 0
    r = b
    p(1:rows) = b
    iteration = 0
    rho = dot(r, r)
  end subroutine

  subroutine iterate()
    real(8) :: last, alpha
    call multiply(p, q)
    if (ierr /= MPI_SUCCESS) return
    alpha = rho/dot(p, q)
    if (ierr /= MPI_SUCCESS) return
    x = x + alpha*p(1:rows)
    r = r - alpha*q
    last = rho
    rho = dot(r, r)
    if (ierr /= MPI_SUCCESS) return
    p(1:rows) = r + rho/last*p(1:rows)
    iteration = iteration + 1
    if (rank == 0 .and. mod(iteration, 10) == 0) then
      print '(a,i0,a,es22.16)', "iteration ", iteration, " residual ", sqrt(rho)
      flush (6)
    end if
  end subroutine

  !> Prints b - A x as it really is, and the length of x.
  subroutine report()
    real(8) :: residual, length
    p(1:rows) = x
    call multiply(p, q)
    if (ierr /= MPI_SUCCESS) return
    r = b - q
    residual = sqrt(dot(r, r))
    if (ierr /= MPI_SUCCESS) return
    length = sqrt(dot(x, x))
    if (ierr /= MPI_SUCCESS) return
    if (rank == 0) print '(a,i0,2(a,es22.16))', "end ", iteration, " residual ", residual, " length ", length
  end subroutine

  !> Tells whether a call of Fenix succeeded. .false. after a failure; other errors end the program.
  logical function good(code)
    integer, intent(in) :: code
    good = code /= FENIX_ERROR_CANCELLED
    if (code >= 0 .or. .not. good) return
    print '(a)', Fenix_Error_message()
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end function

  !> Tells Fenix what to protect: the matrix is not among it, because each rank can make it again.
  logical function protected()
    protected = .false.
    call Fenix_Data_group_create(GROUP, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, ierr=ierr)
    if (.not. good(ierr)) return
    call Fenix_Data_member_define(GROUP, M_X, x, rows, MPI_DOUBLE_PRECISION, ierr)
    if (.not. good(ierr)) return
    call Fenix_Data_member_define(GROUP, M_R, r, rows, MPI_DOUBLE_PRECISION, ierr)
    if (.not. good(ierr)) return
    call Fenix_Data_member_define(GROUP, M_P, p, rows, MPI_DOUBLE_PRECISION, ierr)
    if (.not. good(ierr)) return
    call Fenix_Data_member_define(GROUP, M_RHO, rho, 1, MPI_DOUBLE_PRECISION, ierr)
    if (.not. good(ierr)) return
    call Fenix_Data_member_define(GROUP, M_ITERATION, iteration, 1, MPI_INTEGER, ierr)
    protected = good(ierr)
  end function

  !> Restores the latest state. It begins anew if nothing was committed yet, or it is lost.
  logical function restored()
    restored = .false.
    call Fenix_Data_member_restore(GROUP, M_X, x, rows, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    if (ierr == FENIX_ERROR_NODATA_FOUND) then
      call begin()
      restored = ierr == MPI_SUCCESS
      return
    end if
    if (.not. good(ierr)) return
    call Fenix_Data_member_restore(GROUP, M_R, r, rows, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    if (.not. good(ierr)) return
    call Fenix_Data_member_restore(GROUP, M_P, p, rows, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    if (.not. good(ierr)) return
    call Fenix_Data_member_restore(GROUP, M_RHO, rho, 1, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    if (.not. good(ierr)) return
    call Fenix_Data_member_restore(GROUP, M_ITERATION, iteration, 1, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    restored = good(ierr)
  end function

  logical function saved()
    saved = .false.
    call Fenix_Data_member_store(GROUP, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL, ierr)
    if (.not. good(ierr)) return
    call Fenix_Data_commit_barrier(GROUP, ierr=ierr)
    saved = good(ierr)
  end function

  !> Computes from the start, or from the latest state after a failure, to the end. Another failure cuts it short.
  subroutine solve()
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, ranks, ierr)
    if (error == FENIX_WARNING_SPARE_RANKS_DEPLETED) call MPI_Abort(comm, 1, ierr) ! the rows are for all ranks
    if (.not. allocated(b)) call assemble() ! survivors have it already
    if (.not. protected()) return
    if (.not. restored()) return
    if (rank == 0 .and. role /= FENIX_ROLE_INITIAL_RANK) then
      print '(a,i0)', "a rank has died: on from iteration ", iteration
    end if
    do while (iteration < iterations .and. rho > 1d-20)
      call iterate()
      if (ierr /= MPI_SUCCESS) return
      if (mod(iteration, INTERVAL) == 0) then
        if (.not. saved()) return
      end if
    end do
    call report()
    if (ierr /= MPI_SUCCESS) return
    call Fenix_Finalize(ierr)
    done = good(ierr)
  end subroutine
end module cg

program main
  use cg
  implicit none
  character(len=20) :: argument
  call MPI_Init(ierr)
  call get_command_argument(1, argument)
  if (argument /= "") read (argument, *) cells
  call get_command_argument(2, argument)
  if (argument /= "") read (argument, *) iterations
  call Fenix_Init(role, MPI_COMM_WORLD, comm, SPARES, error)
  if (.not. good(error)) stop 1
  do while (.not. done)
    call solve()
  end do
  call MPI_Finalize(ierr)
end program main
