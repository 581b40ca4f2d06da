! SPDX-License-Identifier: BSD-3-Clause
! A program with the module mpi: persistent requests, nonblocking collective functions, a Cartesian topology, attributes, a server.
module parts
  use mpi
  implicit none
  integer :: rank, ranks
contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    integer :: error
    if (holds) return
    print *, 'FENIX-TEST-FAIL ', what
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine check

  ! Edges of a field of each rank, by persistent requests on a ring.
  subroutine exchange(round)
    integer, intent(in) :: round
    integer :: ring, below, above, requests(4), error, turn
    real(kind(1d0)) :: field(0:21)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .true., ring, error)
    call MPI_Cart_shift(ring, 0, 1, below, above, error)
    call MPI_Recv_init(field(0), 1, MPI_DOUBLE_PRECISION, below, 1, ring, requests(1), error)
    call MPI_Recv_init(field(21), 1, MPI_DOUBLE_PRECISION, above, 2, ring, requests(2), error)
    call MPI_Send_init(field(20), 1, MPI_DOUBLE_PRECISION, above, 1, ring, requests(3), error)
    call MPI_Send_init(field(1), 1, MPI_DOUBLE_PRECISION, below, 2, ring, requests(4), error)
    do turn = 1, 4
      field = rank + 0.01d0 * turn + round
      call plain_step()
      call MPI_Startall(4, requests, error)
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, error)
      call check(abs(field(0) - (below + 0.01d0 * turn + round)) < 1d-12, 'below')
      call check(abs(field(21) - (above + 0.01d0 * turn + round)) < 1d-12, 'above')
    end do
    do turn = 1, 4
      call MPI_Request_free(requests(turn), error)
    end do
    call MPI_Comm_free(ring, error)
  end subroutine exchange

  ! Collective functions that do not block, beside messages.
  subroutine overlap(round)
    integer, intent(in) :: round
    integer :: requests(3), sums(2), values(2), word, error, got
    values = [rank, round]
    word = -1
    if (rank == 0) word = round
    call MPI_Iallreduce(values, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), error)
    call MPI_Ibcast(word, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2), error)
    call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, requests(3), error)
    call plain_step()
    call MPI_Send(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 7, MPI_COMM_WORLD, error)
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, error)
    call check(sums(1) == ranks * (ranks - 1) / 2 .and. sums(2) == ranks * round .and. word == round, 'overlap')
    call check(got == mod(rank + ranks - 1, ranks), 'neighbour')
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end subroutine overlap

  ! Rank 0 answers whoever asks, and looks for questions before.
  subroutine serve(round)
    integer, intent(in) :: round
    integer :: status(MPI_STATUS_SIZE), question, answer, i, error
    logical :: is_there
    if (rank == 0) then
      do i = 1, 3 * (ranks - 1)
        is_there = .false.
        do while (.not. is_there)
          call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, is_there, status, error)
        end do
        call MPI_Recv(question, 1, MPI_INTEGER, status(MPI_SOURCE), status(MPI_TAG), MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        if (mod(i, 3) == 1) call plain_step()
        answer = 2 * question
        call MPI_Send(answer, 1, MPI_INTEGER, status(MPI_SOURCE), 9, MPI_COMM_WORLD, error)
      end do
    else
      do i = 1, 3
        question = 100 * rank + 10 * i + round
        call plain_step()
        call MPI_Ssend(question, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, error)
        call MPI_Recv(answer, 1, MPI_INTEGER, 0, 9, MPI_COMM_WORLD, status, error)
        call check(answer == 2 * question .and. status(MPI_SOURCE) == 0, 'answer')
      end do
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end subroutine serve

  ! Attributes with keys of Fortran, and error codes.
  subroutine attributes(round)
    integer, intent(in) :: round
    integer :: key, comm, error, error_class
    integer(kind=MPI_ADDRESS_KIND) :: value, found
    logical :: flag
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, error)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
    value = 1000 * rank + round
    call MPI_Comm_set_attr(comm, key, value, error)
    call plain_step()
    call MPI_Barrier(comm, error)
    call MPI_Comm_get_attr(comm, key, found, flag, error)
    call check(flag .and. found == value, 'attribute')
    ! Open MPI itself gives another value here than for MPI_COMM_WORLD.
    call MPI_Comm_get_attr(comm, MPI_TAG_UB, found, flag, error)
    call check(flag .and. found >= 32767, 'attribute of MPI')
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, error)
    call MPI_Send(round, 1, MPI_INTEGER, ranks + 3, 0, comm, error)
    call MPI_Error_class(error, error_class, error)
    call check(error_class == MPI_ERR_RANK, 'error class')
    call plain_step()
    call MPI_Comm_free(comm, error)
    call MPI_Comm_free_keyval(key, error)
  end subroutine attributes
end module parts

program module_mpi
  use parts
  implicit none
  integer :: error, round
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call plain_begin()
  do round = 1, 4
    call exchange(round)
    call overlap(round)
    call serve(round)
    call attributes(round)
  end do
  call plain_step()
  call plain_well()
  call MPI_Finalize(error)
end program module_mpi
