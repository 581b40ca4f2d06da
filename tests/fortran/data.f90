! Data functions as Fortran sees them, without failures: each is called, and what it gives back is compared.
module cases
  use, intrinsic :: iso_c_binding
  use mpi
  use fenix
  implicit none

  integer, parameter :: GROUP = 4, SIZE_OF_FIELD = 100
  integer, parameter :: COUNT_KIND = MPI_COUNT_KIND
  integer, target :: role, comm, error
  integer :: rank, ranks, next
  integer, target :: field(SIZE_OF_FIELD), other(SIZE_OF_FIELD), large(SIZE_OF_FIELD)
  integer, target :: passed(2) = 0 ! how often the serializers have written and read

  interface
    function malloc(bytes) bind(C) result(address)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: bytes
      type(c_ptr) :: address
    end function
    integer(c_size_t) function fwrite(from, bytes, number, file) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: from
      integer(c_size_t), value :: bytes
      integer(c_size_t), value :: number
      type(c_ptr), value :: file
    end function
    integer(c_size_t) function fread(to, bytes, number, file) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: to
      integer(c_size_t), value :: bytes
      integer(c_size_t), value :: number
      type(c_ptr), value :: file
    end function
  end interface

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    integer :: ierr
    if (holds) return
    print '(4a)', "FENIX-TEST-FAIL ", what, ": ", Fenix_Error_message()
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  subroutine success(ierr, what)
    integer, intent(in) :: ierr
    character(len=*), intent(in) :: what
    call check(ierr == FENIX_SUCCESS, what)
  end subroutine

  elemental integer function number(i, of_rank, round)
    integer, intent(in) :: i, of_rank, round
    number = of_rank*100000 + round*1000 + i
  end function

  subroutine fill(values, round)
    integer, intent(out) :: values(:)
    integer, intent(in) :: round
    integer :: i
    values = [(number(i, rank, round), i=1, size(values))]
  end subroutine

  !> Elements first to last, counted from 0, are those of a round of a rank.
  logical function holds(values, first, last, of_rank, round)
    integer, intent(in) :: values(:), first, last, of_rank, round
    integer :: i
    holds = all(values(first + 1:last + 1) == [(number(i, of_rank, round), i=first + 1, last + 1)])
  end function

  subroutine groups()
    integer :: ierr, name, values(3), cohort, members_of_it
    logical :: flag
    call Fenix_Data_group_create(GROUP, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, ierr=ierr)
    call success(ierr, "group_create")
    values = -1
    call Fenix_Data_group_get_redundancy_policy(GROUP, name, values, flag, ierr)
    call success(ierr, "get_redundancy_policy")
    call check(flag .and. name == FENIX_DATA_POLICY_IMR .and. all(values(:2) == 1), "policy")
    flag = .false.
    call Fenix_Data_group_set_redundancy_policy(GROUP, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, [2], flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag, "set_redundancy_policy")
    call Fenix_Data_group_get_redundancy_policy(GROUP, name, values, ierr=ierr)
    call check(name == FENIX_DATA_POLICY_PEER_RANK_SEPARATION .and. values(1) == 2, "policy")
    call Fenix_Data_group_set_redundancy_policy(GROUP, FENIX_DATA_POLICY_IN_MEMORY_RAID, ierr=ierr)
    call success(ierr, "set_redundancy_policy, default")
    call Fenix_Data_group_set_hashing(GROUP, .false., ierr)
    call success(ierr, "set_hashing")
    call Fenix_Data_group_get_hashing(GROUP, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag, "get_hashing, off")
    call Fenix_Data_group_set_in_place(GROUP, .true., ierr)
    call check(ierr == FENIX_ERROR_INVALID_DEPTH, "set_in_place at depth 1")
    call Fenix_Data_group_get_in_place(GROUP, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. .not. flag, "get_in_place, off")
    call Fenix_Data_group_create(GROUP + 50, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, ierr=ierr)
    call success(ierr, "group_create at depth 0")
    call Fenix_Data_group_set_in_place(GROUP + 50, .true., ierr)
    call success(ierr, "set_in_place")
    call Fenix_Data_group_get_in_place(GROUP + 50, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag, "get_in_place, on")
    call Fenix_Data_group_delete(GROUP + 50, ierr)
    call success(ierr, "group_delete")
    call Fenix_Data_group_set_hashing(GROUP, .true., ierr)
    call success(ierr, "set_hashing")
    call Fenix_Data_group_get_hashing(GROUP, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag, "get_hashing, on")
    ! Two ranks, or all three in a chain.
    call Fenix_Data_group_get_cohort(GROUP, cohort, ierr)
    call success(ierr, "get_cohort")
    call MPI_Group_size(cohort, members_of_it, ierr)
    call MPI_Group_rank(cohort, name, ierr)
    call check(members_of_it >= 2 .and. members_of_it <= 3 .and. name /= MPI_UNDEFINED, "ranks of the cohort")
    call MPI_Group_free(cohort, ierr)
  end subroutine

  subroutine expect_count(member, wanted, what)
    integer, intent(in) :: member, wanted
    character(len=*), intent(in) :: what
    integer :: ierr, value
    value = -1
    call Fenix_Data_member_attr_get(GROUP, member, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, value, source_rank=rank, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. value == wanted, "count after "//what)
  end subroutine

  ! Memory of the library as an array.
  subroutine allocated()
    type(c_ptr) :: base
    integer, pointer :: elements(:)
    integer :: ierr
    base = c_null_ptr
    call Fenix_Data_member_allocate(GROUP, 40, SIZE_OF_FIELD, MPI_INTEGER, base, ierr)
    call check(ierr == FENIX_SUCCESS .and. c_associated(base), "member_allocate")
    call c_f_pointer(base, elements, [SIZE_OF_FIELD])
    call check(all(elements == 0), "contents of member_allocate")
    elements = rank
    base = c_null_ptr
    call Fenix_Data_member_allocate_c(GROUP, 40, int(SIZE_OF_FIELD, COUNT_KIND), MPI_INTEGER, base, ierr)
    call check(ierr == FENIX_SUCCESS .and. c_associated(base, c_loc(elements)), "member_allocate_c")
    call check(all(elements == rank), "contents of member_allocate_c")
    call expect_count(40, SIZE_OF_FIELD, "member_allocate")
    call Fenix_Data_barrier(GROUP, ierr)
    call Fenix_Data_member_delete(GROUP, 40, ierr)
    call success(ierr, "member_delete of what was allocated")
    call Fenix_Data_barrier(GROUP, ierr)
  end subroutine

  subroutine members()
    integer :: ierr, value, bytes
    integer(COUNT_KIND) :: footprint
    logical :: flag
    type(c_ptr) :: buffer(1)
    call Fenix_Data_member_define(GROUP, 0, field, size(field), MPI_INTEGER, ierr)
    call success(ierr, "member_define")
    call Fenix_Data_member_define(GROUP, 0, field, size(field), MPI_INTEGER, ierr)
    call success(ierr, "member_define of a member that is known")
    call allocated()
    call Fenix_Data_member_fcreate(GROUP, 1, other, size(other) - 1, MPI_INTEGER, serializer, c_loc(passed), ierr)
    call success(ierr, "member_fcreate")
    call expect_count(1, size(other) - 1, "member_fcreate")
    call Fenix_Data_member_fcreate(GROUP, 2, other, size(other), MPI_INTEGER, ctx=c_null_ptr, ierr=ierr)
    call success(ierr, "member_fcreate without a serializer")
    call Fenix_Data_member_fdefine(GROUP, 1, other, size(other), MPI_INTEGER, serializer, c_loc(passed), ierr)
    call success(ierr, "member_fdefine")
    call expect_count(1, size(other), "member_fdefine")
    call Fenix_Data_group_get_number_of_members(GROUP, value, ierr)
    call check(ierr == FENIX_SUCCESS .and. value == 3, "number_of_members")
    call Fenix_Data_group_get_member_at_position(GROUP, value, 1, ierr)
    call check(ierr == FENIX_SUCCESS .and. value == 1, "member_at_position")

    call Fenix_Data_member_attr_get(GROUP, 0, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, value, flag, next, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag .and. value == size(field), "attr_get: count")
    call Fenix_Data_member_attr_get(GROUP, 0, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE, value, source_rank=rank, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. value == 4*size(field), "attr_get: size")
    call Fenix_Data_member_attr_get(GROUP, 0, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, buffer, flag, rank, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag .and. c_associated(buffer(1), c_loc(field)), "attr_get: buffer")
    call Fenix_Data_member_attr_get(GROUP, 0, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, value, flag, rank, ierr)
    call MPI_Type_size(value, bytes, error)
    call check(ierr == FENIX_SUCCESS .and. flag .and. bytes == 4, "attr_get: datatype")
    call MPI_Type_free(value, error)
    call check(error == MPI_SUCCESS, "MPI_Type_free of what attr_get gave")
    call Fenix_Data_member_footprint(GROUP, 0, footprint, ierr)
    call check(ierr == FENIX_SUCCESS .and. footprint == 8192, "member_footprint")

    call Fenix_Data_member_attr_set(GROUP, 2, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, 50, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag, "attr_set: count")
    call Fenix_Data_member_attr_set(GROUP, 2, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, MPI_DOUBLE_PRECISION, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag, "attr_set: datatype")
    call Fenix_Data_member_attr_get(GROUP, 2, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE, value, flag, rank, ierr)
    call check(value == 50*8, "attr_get: size after attr_set")
    call Fenix_Data_member_delete(GROUP, 2, ierr)
    call success(ierr, "member_delete")
    call Fenix_Data_member_created(GROUP, 2, flag, ierr)
    call check(.not. flag, "a member that was deleted")
    error = FENIX_SUCCESS
  end subroutine

  subroutine serializer(file, direction, buffer, offset, count, ctx) bind(C)
    type(c_ptr), value :: file
    integer(c_int), value :: direction
    type(c_ptr), value :: buffer
    integer(c_int), value :: offset
    integer(c_int), value :: count
    type(c_ptr), value :: ctx
    call serializer_c(file, direction, buffer, int(offset, COUNT_KIND), int(count, COUNT_KIND), ctx)
  end subroutine

  !> Writes the negative of the buffer to the file, and reads it back.
  subroutine serializer_c(file, direction, buffer, offset, count, ctx) bind(C)
    type(c_ptr), value :: file
    integer(c_int), value :: direction
    type(c_ptr), value :: buffer
    integer(c_int64_t), value :: offset
    integer(c_int64_t), value :: count
    type(c_ptr), value :: ctx
    integer(c_int), pointer :: values(:), times(:)
    integer(c_int), target :: passing(count)
    integer(c_size_t) :: done
    call c_f_pointer(buffer, values, [offset + count])
    call c_f_pointer(ctx, times, [2])
    if (direction == FENIX_SERIALIZE) then
      passing = -values(offset + 1:)
      done = fwrite(c_loc(passing), 4_c_size_t, int(count, c_size_t), file)
      times(1) = times(1) + 1
    else
      done = fread(c_loc(passing), 4_c_size_t, int(count, c_size_t), file)
      values(offset + 1:) = -passing
      times(2) = times(2) + 1
    end if
    call check(done == count, "a serializer")
  end subroutine

  subroutine subsets()
    integer :: ierr
    integer(COUNT_KIND) :: blocks, first, last
    type(Fenix_Data_subset) :: subset
    call Fenix_Data_subset_create(2, 0, 4, 10, subset, ierr)
    call success(ierr, "subset_create")
    call Fenix_Data_subset_get_number_of_blocks(subset, blocks, ierr)
    call check(ierr == FENIX_SUCCESS .and. blocks == 2, "number_of_blocks")
    call Fenix_Data_subset_get_block(subset, 1_COUNT_KIND, first, last, ierr)
    call check(ierr == FENIX_SUCCESS .and. first == 10 .and. last == 14, "block")
    call Fenix_Data_subset_delete(subset, ierr)
    call check(ierr == FENIX_SUCCESS .and. subset%impl == FENIX_SUBSET_NULL%impl, "subset_delete")
    call Fenix_Data_subset_delete(subset, ierr)
    call check(ierr == FENIX_ERROR_INVALID_ARGUMENT, "subset_delete of a subset that is null")
    call Fenix_Data_subset_createv(2, [20, 0], [24, 3], subset, ierr)
    call success(ierr, "subset_createv")
    call Fenix_Data_subset_get_block(subset, 0_COUNT_KIND, first, last, ierr)
    call check(first == 0 .and. last == 3, "block of createv")
    call Fenix_Data_subset_delete(subset, ierr)
    call Fenix_Data_subset_create_c(2_COUNT_KIND, 3_COUNT_KIND, 2_COUNT_KIND, 5_COUNT_KIND, subset, ierr)
    call check(ierr == FENIX_ERROR_SUBSET_END_OFFSET, "subset_create_c")
    call Fenix_Data_subset_create_c(2_COUNT_KIND, 3_COUNT_KIND, 4_COUNT_KIND, 5000000000_COUNT_KIND, subset, ierr)
    call Fenix_Data_subset_get_block(subset, 1_COUNT_KIND, first, last, ierr)
    call check(first == 5000000003_COUNT_KIND .and. last == first + 1, "block of create_c")
    call Fenix_Data_subset_delete(subset, ierr)
    call Fenix_Data_subset_createv_c(1_COUNT_KIND, [7_COUNT_KIND], [5000000000_COUNT_KIND], subset, ierr)
    call Fenix_Data_subset_get_block(subset, 0_COUNT_KIND, first, last, ierr)
    call check(first == 7 .and. last == 5000000000_COUNT_KIND, "block of createv_c")
    call Fenix_Data_subset_delete(subset, ierr)
    call Fenix_Data_subset_get_number_of_blocks(FENIX_DATA_SUBSET_FULL, blocks, ierr)
    call check(ierr == FENIX_SUCCESS .and. blocks == 1, "blocks of all")
    call Fenix_Data_subset_get_number_of_blocks(FENIX_DATA_SUBSET_EMPTY, blocks, ierr)
    call check(ierr == FENIX_SUCCESS .and. blocks == 0, "blocks of nothing")
    call Fenix_Data_subset_get_number_of_blocks(FENIX_DATA_SUBSET_PRESTAGED, blocks, ierr)
    call check(ierr == FENIX_ERROR_INVALID_ARGUMENT, "blocks of what is staged")
  end subroutine

  subroutine commit(round)
    integer, intent(in) :: round
    integer :: ierr, time_stamp
    if (mod(round, 2) == 0) then
      call Fenix_Data_commit_barrier(GROUP, time_stamp, ierr)
    else
      call Fenix_Data_commit_cleanup(GROUP, time_stamp, ierr)
    end if
    call success(ierr, "commit")
  end subroutine

  !> Member 0 is what it was in a round.
  subroutine restored(round, what)
    integer, intent(in) :: round
    character(len=*), intent(in) :: what
    integer :: ierr, values(SIZE_OF_FIELD)
    values = 0
    call Fenix_Data_member_restore(GROUP, 0, values, FENIX_DATA_RESTORE_FULL, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call success(ierr, "restore after "//what)
    call check(holds(values, 0, SIZE_OF_FIELD - 1, rank, round), "values after "//what)
  end subroutine

  subroutine staging()
    integer :: ierr
    integer(c_int), pointer :: mine(:)
    integer(c_int), target :: written(SIZE_OF_FIELD)
    type(c_ptr) :: memory, file
    call fill(field, 1)
    call Fenix_Data_member_stage(GROUP, 0, FENIX_DATA_SUBSET_FULL, ierr)
    call success(ierr, "stage")
    field = 0
    call store_prestaged(1, "stage")

    memory = malloc(int(4*SIZE_OF_FIELD, c_size_t))
    call c_f_pointer(memory, mine, [SIZE_OF_FIELD])
    call fill(mine, 2)
    call Fenix_Data_member_stage_inplace(GROUP, 0, memory, FENIX_DATA_SUBSET_FULL, ierr)
    call success(ierr, "stage_inplace")
    call store_prestaged(2, "stage_inplace")

    call Fenix_Data_member_stage_memory(GROUP, 0, memory, ierr)
    call success(ierr, "stage_memory")
    call c_f_pointer(memory, mine, [SIZE_OF_FIELD])
    call fill(mine, 9)
    call Fenix_Data_member_stage_inplace(GROUP, 0, memory, FENIX_DATA_SUBSET_FULL, ierr)
    call success(ierr, "stage_inplace of stage_memory")
    call store_prestaged(9, "stage_memory")

    call Fenix_Data_member_stage_begin(GROUP, 0, file, ierr)
    call success(ierr, "stage_begin")
    call fill(written, 3)
    call check(fwrite(c_loc(written), 4_c_size_t, int(SIZE_OF_FIELD, c_size_t), file) == SIZE_OF_FIELD, "fwrite")
    call Fenix_Data_member_store(GROUP, 0, FENIX_DATA_SUBSET_FULL, ierr)
    call check(ierr == FENIX_ERROR_MEMBER_STAGING, "store of an open member")
    call Fenix_Data_member_stage_end(GROUP, 0, ierr)
    call success(ierr, "stage_end")
    call store_prestaged(3, "stage_end")
  end subroutine

  subroutine store_prestaged(round, what)
    integer, intent(in) :: round
    character(len=*), intent(in) :: what
    integer :: ierr
    call Fenix_Data_member_store(GROUP, 0, FENIX_DATA_SUBSET_PRESTAGED, ierr)
    call success(ierr, "store after "//what)
    call commit(round)
    call restored(round, what)
  end subroutine

  subroutine storing()
    integer :: ierr, time_stamp, before, values(SIZE_OF_FIELD)
    type(Fenix_Data_subset) :: some, found
    type(Fenix_Request) :: request
    integer(COUNT_KIND) :: first, last
    logical :: flag
    call fill(field, 4)
    call Fenix_Data_subset_create(1, rank, 9 + rank, 1, some, ierr)
    call Fenix_Data_member_storev(GROUP, 0, some, ierr)
    call success(ierr, "storev")
    call commit(4)
    call Fenix_Data_member_restore(GROUP, 0, values, SIZE_OF_FIELD, FENIX_DATA_SNAPSHOT_LATEST, found, ierr)
    call success(ierr, "restore after storev")
    call check(holds(values, rank, rank + 9, rank, 4), "values of storev")
    call check(holds(values, rank + 10, SIZE_OF_FIELD - 1, rank, 3), "values not of storev")
    call Fenix_Data_subset_get_block(found, 0_COUNT_KIND, first, last, ierr)
    call check(ierr == FENIX_SUCCESS .and. first == 0, "found_data")

    call Fenix_Data_wait(FENIX_REQUEST_NULL, ierr)
    call success(ierr, "wait for no request")
    call fill(field, 5)
    call Fenix_Data_member_istore(GROUP, 0, FENIX_DATA_SUBSET_FULL, request, ierr)
    call success(ierr, "istore")
    call Fenix_Data_wait(request, ierr)
    call success(ierr, "wait")
    call commit(5)
    call restored(5, "istore")
    call fill(field, 6)
    call Fenix_Data_member_istorev(GROUP, 0, FENIX_DATA_SUBSET_FULL, request, ierr)
    call success(ierr, "istorev")
    flag = .false.
    do while (.not. flag)
      call Fenix_Data_test(request, flag, ierr)
      call success(ierr, "test")
    end do
    call commit(6)
    call restored(6, "istorev")

    call fill(field, 7)
    call fill(other, 7)
    call Fenix_Data_checkpoint(GROUP, FENIX_DATA_SUBSET_FULL, 1, [0], before, ierr)
    call success(ierr, "checkpoint")
    call Fenix_Data_checkpoint(GROUP, FENIX_DATA_SUBSET_FULL, 0, time_stamp=time_stamp, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. time_stamp == before + 1, "checkpoint without ids")
    call Fenix_Data_checkpointv(GROUP, some, before, ierr)
    call check(ierr == FENIX_SUCCESS .and. before == time_stamp + 1, "checkpointv")
    call Fenix_Data_barrier(GROUP, ierr)
    call success(ierr, "barrier")
    call restored(7, "checkpoint")
    call check(passed(1) > 0, "the serializer did not write")
    call Fenix_Data_subset_delete(some, ierr)
    call success(ierr, "subset_delete")
  end subroutine

  subroutine restoring()
    integer :: ierr, mended, lost
    integer, target :: values(SIZE_OF_FIELD)
    type(c_ptr) :: file
    type(Fenix_Data_subset) :: found
    values = 0
    call Fenix_Data_member_lrestore(GROUP, 0, values, SIZE_OF_FIELD, FENIX_DATA_SNAPSHOT_LATEST, found, ierr)
    call check(ierr == FENIX_SUCCESS .and. holds(values, 0, 99, rank, 7), "lrestore")
    call Fenix_Data_member_restore_from_rank(GROUP, 0, values, SIZE_OF_FIELD, FENIX_DATA_SNAPSHOT_LATEST, &
                                             source_rank=next, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. holds(values, 0, 99, next, 7), "restore_from_rank")
    field = 0
    call Fenix_Data_member_restore(GROUP, 0, FENIX_DATA_RESTORE_INPLACE, SIZE_OF_FIELD, FENIX_DATA_SNAPSHOT_LATEST, &
                                   ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. holds(field, 0, 99, rank, 7), "restore in place")
    call Fenix_Data_member_restore(GROUP, 0, max_count=0, &
                                   time_stamp=FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call success(ierr, "restore into nothing")
    other = 0
    call Fenix_Data_member_load(GROUP, 1, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. holds(other, 0, 99, rank, 7), "load")
    call check(passed(2) > 0, "the serializer did not read")
    values = 0
    call Fenix_Data_member_load_to(GROUP, 0, values, SIZE_OF_FIELD, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. holds(values, 0, 99, rank, 7), "load_to")
    values = 0
    call Fenix_Data_member_load_begin(GROUP, 0, file, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call success(ierr, "load_begin")
    call check(fread(c_loc(values), 4_c_size_t, int(SIZE_OF_FIELD, c_size_t), file) == SIZE_OF_FIELD, "fread")
    call check(holds(values, 0, 99, rank, 7), "what was read")
    call Fenix_Data_member_load_end(GROUP, 0, ierr)
    call success(ierr, "load_end")
    call Fenix_Data_member_repair(GROUP, 0, ierr)
    call success(ierr, "repair")
    call Fenix_Data_member_repair(GROUP, 99, ierr)
    call check(ierr == FENIX_ERROR_INVALID_MEMBERID, "repair of a member that does not exist")
    mended = -1
    lost = -1
    call Fenix_Data_verify(GROUP, mended, lost, ierr)
    call check(ierr == FENIX_SUCCESS .and. mended == 0 .and. lost == 0, "verify")
    call Fenix_Data_verify(GROUP, ierr=ierr)
    call success(ierr, "verify without numbers")
  end subroutine

  subroutine large_counts()
    integer(COUNT_KIND), parameter :: COUNT = SIZE_OF_FIELD
    integer(COUNT_KIND), target :: value
    integer :: ierr, values(SIZE_OF_FIELD)
    logical :: flag
    call Fenix_Data_member_create_c(GROUP, 10, large, COUNT - 1, MPI_INTEGER, ierr)
    call success(ierr, "member_create_c")
    call expect_count(10, SIZE_OF_FIELD - 1, "member_create_c")
    call Fenix_Data_member_define_c(GROUP, 10, large, COUNT - 2, MPI_INTEGER, ierr)
    call success(ierr, "member_define_c")
    call expect_count(10, SIZE_OF_FIELD - 2, "member_define_c")
    call Fenix_Data_member_attr_set_c(GROUP, 10, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, COUNT, flag, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag, "attr_set_c")
    value = -1
    call Fenix_Data_member_attr_get_c(GROUP, 10, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, value, flag, rank, ierr)
    call check(ierr == FENIX_SUCCESS .and. flag .and. value == COUNT, "attr_get_c")
    passed = 0
    call Fenix_Data_member_fcreate_c(GROUP, 11, large, COUNT - 1, MPI_INTEGER, serializer_c, c_loc(passed), ierr)
    call success(ierr, "member_fcreate_c")
    call expect_count(11, SIZE_OF_FIELD - 1, "member_fcreate_c")
    call Fenix_Data_member_fdefine_c(GROUP, 11, large, COUNT, MPI_INTEGER, serializer_c, c_loc(passed), ierr)
    call success(ierr, "member_fdefine_c")
    call expect_count(11, SIZE_OF_FIELD, "member_fdefine_c")
    call fill(large, 8)
    call Fenix_Data_member_store(GROUP, 10, FENIX_DATA_SUBSET_FULL, ierr)
    call success(ierr, "store")
    call Fenix_Data_member_store(GROUP, 11, FENIX_DATA_SUBSET_FULL, ierr)
    call check(ierr == FENIX_SUCCESS .and. passed(1) > 0, "store with a serializer")
    call commit(8)
    call Fenix_Data_member_restore_c(GROUP, 10, values, COUNT, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. holds(values, 0, 99, rank, 8), "restore_c")
    values = 0
    call Fenix_Data_member_lrestore_c(GROUP, 10, values, COUNT, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. holds(values, 0, 99, rank, 8), "lrestore_c")
    call Fenix_Data_member_restore_from_rank_c(GROUP, 10, values, COUNT, FENIX_DATA_SNAPSHOT_LATEST, &
                                               source_rank=next, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. holds(values, 0, 99, next, 8), "restore_from_rank_c")
    values = 0
    call Fenix_Data_member_load_to_c(GROUP, 11, values, COUNT, FENIX_DATA_SNAPSHOT_LATEST, ierr=ierr)
    call check(ierr == FENIX_SUCCESS .and. passed(2) > 0 .and. holds(values, 0, 99, rank, 8), "load_to_c")
  end subroutine

  subroutine removals()
    integer :: ierr, before, after, latest
    logical :: flag
    call Fenix_Data_barrier(GROUP, ierr)
    call Fenix_Data_group_get_number_of_snapshots(GROUP, before, ierr)
    call Fenix_Data_group_get_snapshot_at_position(GROUP, 0, latest, ierr)
    call Fenix_Data_snapshot_delete(GROUP, latest, ierr)
    call success(ierr, "snapshot_delete")
    call Fenix_Data_barrier(GROUP, ierr)
    call Fenix_Data_group_get_number_of_snapshots(GROUP, after, ierr)
    call check(after == before - 1, "number of snapshots after snapshot_delete")
    call Fenix_Data_cleanup(GROUP, ierr)
    call success(ierr, "cleanup")
    call Fenix_Data_cleanup(99, ierr)
    call check(ierr == FENIX_ERROR_INVALID_GROUPID, "cleanup without a group")
    call Fenix_Data_group_delete(GROUP, ierr)
    call success(ierr, "group_delete")
    call Fenix_Data_group_created(GROUP, flag, ierr)
    call check(.not. flag, "a group that was deleted")
  end subroutine
end module cases

program data_functions
  use cases
  implicit none
  integer :: ierr

  call MPI_Init(ierr)
  call Fenix_Init(role, MPI_COMM_WORLD, comm, 0, error)
  call success(error, "init")
  call MPI_Comm_rank(comm, rank, ierr)
  call MPI_Comm_size(comm, ranks, ierr)
  next = mod(rank + 1, ranks)
  call Fenix_get_rank_role(comm, next, ierr, error)
  call check(error == FENIX_SUCCESS .and. ierr == FENIX_ROLE_INITIAL_RANK, "get_rank_role")
  call Fenix_Get_number_of_ranks_with_role(FENIX_ROLE_INITIAL_RANK, ierr, error)
  call check(error == FENIX_SUCCESS .and. ierr == ranks, "number_of_ranks_with_role")
  call Fenix_Callback_invoke_all(error)
  call check(error == FENIX_ERROR_INVALID_LOGIC_CALL, "callbacks without a repair")
  call groups()
  call members()
  call subsets()
  call staging()
  call storing()
  call restoring()
  call large_counts()
  call removals()
  call Fenix_Finalize(ierr)
  call success(ierr, "finalize")
  call MPI_Finalize(ierr)
  print '(a,i0)', "FENIX-TEST-OK rank ", rank
end program data_functions
