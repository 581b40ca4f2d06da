! SPDX-License-Identifier: BSD-3-Clause
! Persistent communicators from Fortran: all calls of MPI come to libfenix_mpi through MPI's own library for Fortran. Rank 1 dies after
! it has stored; the rank that takes its place receives its messages, and those for it. Rank 0 and rank 2 go on.
program persist
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi
  use fenix
  implicit none

  integer, parameter :: SPARES = 1, TAG = 5, ROUNDS = 20
  integer, target :: role, error
  integer :: rank, size, info, everyone, alone, number, ierr, status(MPI_STATUS_SIZE), count, number_of_requests
  integer :: requests(2), statuses(MPI_STATUS_SIZE, 2)
  logical :: failed, done
  real(8) :: sent(3, 4), received(3, 4)

  interface
    integer(c_int) function raise(signal) bind(C)
      import :: c_int
      integer(c_int), value :: signal
    end function
  end interface

  call MPI_Init(ierr)
  call Fenix_Init(role, MPI_COMM_WORLD, null(), SPARES, error)
  call check(error == FENIX_SUCCESS, "Fenix_Init")
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call check(size == 3, "size of MPI_COMM_WORLD")
  call Fenix_Failure(failed, ierr)
  call check(ierr == FENIX_SUCCESS .and. (failed .eqv. role == FENIX_ROLE_RECOVERED_RANK), "Fenix_Failure at the start")

  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, "persist_missing", "error", ierr)
  do
    call MPI_Comm_persist(MPI_COMM_WORLD, "session   ", info, everyone, ierr)
    if (ierr == MPI_SUCCESS) exit
  end do
  ! Blanks at the end of the key do not count.
  do
    call MPI_Comm_persist(MPI_COMM_SELF, "session", info, alone, ierr)
    if (ierr == MPI_SUCCESS) exit
  end do
  call MPI_Comm_set_errhandler(everyone, MPI_ERRORS_RETURN, ierr)
  call MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN, ierr)

  if (failed) then
    call receive_all(ROUNDS)
    call collectively(.true.)
    call Fenix_Failure(failed, ierr)
    call check(failed, "Fenix_Failure before the first send")
  else
    call MPI_Recv(number, 1, MPI_INTEGER, 0, TAG, alone, status, ierr)
    call check(ierr /= MPI_SUCCESS, "a message too early")
    call check(says("nothing has been stored"), "the text of a message that is missing")
    do number = 1, ROUNDS
      call store(number)
    end do
    call collectively(.false.)
    if (rank == 1) ierr = raise(9_c_int)
  end if
  if (rank /= 1) then
    ! The last message of rank 1, before its death or after it.
    do
      call MPI_Recv(number, 1, MPI_INTEGER, 1, TAG, everyone, status, ierr)
      if (ierr == MPI_SUCCESS) then
        if (number == 100 + ROUNDS + 1) exit
      end if
      call Fenix_Process_detect_failures(.true., ierr)
    end do
    call check(status(MPI_SOURCE) == 1 .and. status(MPI_TAG) == TAG, "the status of a receive")
  end if
  call store(ROUNDS + 1)
  call Fenix_Failure(failed, ierr)
  call check(.not. failed, "Fenix_Failure after a send")
  call receive_own(ROUNDS + 1)
  call errors()
  do
    call Fenix_Finalize(ierr)
    if (ierr == FENIX_SUCCESS) exit
  end do
  call MPI_Info_free(info, ierr)
  call MPI_Finalize(ierr)
  print '(a,i0)', "FENIX-TEST-OK rank ", rank

contains

  !> Stores a matrix and a section of it for this rank, and a number for all. Calls that a death has cut short are repeated.
  subroutine store(round)
    integer, intent(in) :: round
    integer :: to, request, value
    sent = reshape([(real(1000*rank + 20*round + to, 8), to=1, 12)], [3, 4])
    do
      call MPI_Send(sent(2:3, :), 8, MPI_DOUBLE_PRECISION, 0, TAG + 1, alone, ierr)
      if (ierr == MPI_SUCCESS) call MPI_Ssend(sent, 12, MPI_DOUBLE_PRECISION, 0, TAG, alone, ierr)
      if (ierr == MPI_SUCCESS) exit
    end do
    value = 100*rank + round
    do to = 0, size - 1
      do
        call MPI_Isend(value, 1, MPI_INTEGER, to, TAG, everyone, request, ierr)
        if (ierr == MPI_SUCCESS) call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        if (ierr == MPI_SUCCESS) exit
      end do
    end do
  end subroutine

  subroutine receive_own(round)
    integer, intent(in) :: round
    integer :: i
    received = -1
    call MPI_Recv(received, 12, MPI_DOUBLE_PRECISION, 0, TAG, alone, status, ierr)
    call check(ierr == MPI_SUCCESS, "a receive of what this rank has stored")
    call check(all(received == reshape([(real(1000*rank + 20*round + i, 8), i=1, 12)], [3, 4])), "the matrix")
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierr)
    call check(count == 12, "the count of a status")
    call MPI_Probe(MPI_ANY_SOURCE, TAG + 1, alone, status, ierr)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierr)
    call check(count == 8, "the count of a probe")
  end subroutine

  subroutine receive_all(round)
    integer, intent(in) :: round
    integer :: numbers(2)
    call receive_own(round)
    call MPI_Irecv(numbers(1), 1, MPI_INTEGER, rank, TAG, everyone, requests(1), ierr)
    call MPI_Irecv(numbers(2), 1, MPI_INTEGER, rank, TAG, everyone, requests(2), ierr)
    number_of_requests = 2
    call MPI_Testall(number_of_requests, requests, done, statuses, ierr)
    call check(done .and. all(numbers == 100*rank + round), "messages of the rank to itself")
    call check(all(statuses(MPI_SOURCE, :) == rank) .and. all(requests == MPI_REQUEST_NULL), "statuses of requests")
  end subroutine

  !> Collective functions: ranks give their parts, or the rank that takes the place of a dead one gets all of them. It may have to repeat
  !> calls until the others have given theirs. The library for Fortran notes its arrays of types in requests.
  subroutine collectively(restores)
    logical, intent(in) :: restores
    integer :: gathered(0:2), given(0:2), exchanged(0:2), ones(0:2), places(0:2), types(0:2), request, i
    do
      gathered = -1
      if (.not. restores) gathered(rank) = 10*rank + 1
      call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gathered, 1, MPI_INTEGER, everyone, ierr)
      if (ierr == MPI_SUCCESS) exit
    end do
    if (restores) then
      call check(all(gathered == [1, 11, 21]), "what all have given")
    else
      call check(sum(gathered) == 10*rank - 1, "a buffer that stays as it is")
    end if
    given = [(100*rank + i, i=0, 2)]
    exchanged = -1
    ones = 1
    places = [0, 4, 8]
    types = MPI_INTEGER
    call MPI_Alltoallw_init(given, ones, places, types, exchanged, ones, places, types, everyone, MPI_INFO_NULL, request, ierr)
    call check(ierr == MPI_SUCCESS, "MPI_Alltoallw_init")
    do
      call MPI_Start(request, ierr)
      if (ierr == MPI_SUCCESS) exit
    end do
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS, "MPI_Wait for a collective function")
    call MPI_Request_free(request, ierr)
    call check(ierr == MPI_SUCCESS .and. request == MPI_REQUEST_NULL, "MPI_Request_free")
    ! Once more in the other form, which is complete at once.
    do
      call MPI_Ialltoallw(given, ones, places, types, exchanged, ones, places, types, everyone, request, ierr)
      if (ierr == MPI_SUCCESS) exit
    end do
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. request == MPI_REQUEST_NULL, "MPI_Wait for a collective function that is complete")
    if (restores) then
      call check(all(exchanged == [(100*i + rank, i=0, 2)]), "what all have given this rank")
    else
      call check(all(exchanged == -1), "a buffer of an exchange that stays as it is")
    end if
  end subroutine

  subroutine errors()
    integer :: refused
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
    call MPI_Info_set(info, "persist_depth", "none", ierr)
    call MPI_Comm_persist(MPI_COMM_SELF, "session", info, refused, ierr)
    call check(ierr == MPI_ERR_INFO_VALUE .and. refused == MPI_COMM_NULL, "a wrong value in info")
    call check(says("persist_depth"), "the text of a wrong value in info")
    call MPI_Comm_free(alone, ierr)
    call check(ierr == MPI_SUCCESS .and. alone == MPI_COMM_NULL, "MPI_Comm_free")
  end subroutine

  logical function says(text)
    character(len=*), intent(in) :: text
    character(len=:), allocatable :: message
    message = Fenix_Error_message()
    says = index(message, text) > 0
  end function

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    print '(3a,i0,3a)', "FENIX-TEST-FAIL ", what, " on rank ", rank, " (", Fenix_Error_message(), ")"
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program persist
