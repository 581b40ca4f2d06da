/* Example 4.4: recovering all members of a data group. The ranks know only group_id: they ask for the members, their
   counts and datatypes. Until a rank dies, a snapshot follows the other. */
#include "example.h"

enum { num_spare_ranks = 1, group_id = 5, iterations = 8 };

/* Computation before the example, which the specification does not show. Members of several datatypes, with counts that
   differ from rank to rank. */
enum { INTS = 3, DOUBLES = 8, TRIPLES = 21, MOST = 100 };

static int ints[MOST];
static double doubles[MOST];
static double triples[3 * MOST];

static int count_of(int member_id, int rank) { return 10 + member_id + 5 * rank; }

static void values_at(int rank, int time_stamp) {
  for (int i = 0; i < MOST; i++) ints[i] = 100000 * rank + 1000 * time_stamp + i;
  for (int i = 0; i < MOST; i++) doubles[i] = rank + time_stamp / 8.0 + i / 1024.0;
  for (int i = 0; i < 3 * MOST; i++) triples[i] = rank - time_stamp / 8.0 - i / 1024.0;
}

static void compute(int rank, MPI_Comm comm) {
  MPI_Datatype triple;
  MPI_Type_contiguous(3, MPI_DOUBLE, &triple);
  MPI_Type_commit(&triple);
  check(Fenix_Data_group_create(group_id, comm, 0, 0));
  check(Fenix_Data_member_create(group_id, INTS, (VP)ints, count_of(INTS, rank), MPI_INT));
  check(Fenix_Data_member_create(group_id, TRIPLES, (VP)triples, count_of(TRIPLES, rank), triple));
  check(Fenix_Data_member_create(group_id, DOUBLES, (VP)doubles, count_of(DOUBLES, rank), MPI_DOUBLE));
  for (int it = 0; it < iterations; it++) {
    values_at(rank, it);
    check(Fenix_Data_member_store(group_id, FENIX_DATA_MEMBER_ALL, FULL));
    check(Fenix_Data_commit_barrier(group_id, NULL));
  }
  fail("nobody has died");
}

/* Checks that the data is that of the time stamp, byte for byte. */
static void inspect(int member_id, int position, const void* data, int count, int dt_size, int rank, int time_stamp) {
  const int ids[] = {INTS, TRIPLES, DOUBLES};
  const int sizes[] = {sizeof(int), 3 * sizeof(double), sizeof(double)};
  const void* wanted[] = {ints, triples, doubles};
  const int wanted_count = count_of(member_id, rank);
  values_at(rank, time_stamp);
  check_equal(&member_id, &ids[position], sizeof member_id, "a member's id is wrong");
  check_equal(&count, &wanted_count, sizeof count, "a member's count is wrong");
  check_equal(&dt_size, &sizes[position], sizeof dt_size, "the size of a member's datatype is wrong");
  check_equal(data, wanted[position], (size_t)(count * dt_size), "a member is wrong");
}

int main(int argc, char** argv) {
  static MPI_Comm new_comm_world;
  static int role, error, my_rank;
  MPI_Init(&argc, &argv);

  Fenix_Init(MPI_COMM_WORLD, &new_comm_world, &role, &argc, &argv, num_spare_ranks, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(new_comm_world, &my_rank);
  if (!error && role == FENIX_ROLE_INITIAL_RANK) compute(my_rank, new_comm_world);
  if (!error && role != FENIX_ROLE_INITIAL_RANK) {
    int number_of_members, member_id, dt_size, flag, time_stamp; /* mend: declared */
    /* Failure successfully recovered. The last two params are ignored, since group_id already existed. */
    check(Fenix_Data_group_create(group_id, new_comm_world, 0, 0));
    check(Fenix_Data_group_get_number_of_members(group_id, &number_of_members));
    const size_t number = (size_t)number_of_members;
    uint8_t** member_pointers = (uint8_t**)malloc(number * sizeof(uint8_t*));
    int* member_counts = (int*)malloc(number * sizeof(int));
    MPI_Datatype* member_datatypes = (MPI_Datatype*)malloc(number * sizeof(MPI_Datatype));
    for (int m = 0; m < number_of_members; m++) {
      check(Fenix_Data_group_get_member_at_position(group_id, &member_id, m));
      check(Fenix_Data_member_attr_get(group_id, member_id, COUNT, (VP)&member_counts[m], &flag, my_rank));
      check(Fenix_Data_member_attr_get(group_id, member_id, TYPE, (VP)&member_datatypes[m], &flag, my_rank));
      MPI_Type_size(member_datatypes[m], &dt_size);
      member_pointers[m] = (uint8_t*)malloc((size_t)(member_counts[m] * dt_size)); /* mend: count is not a variable */
      check(Fenix_Data_group_get_snapshot_at_position(group_id, 0, &time_stamp));
      /* mend: the pointer, not its address */
      check(Fenix_Data_member_restore(group_id, member_id, (VP)member_pointers[m], member_counts[m], time_stamp));
      inspect(member_id, m, member_pointers[m], member_counts[m], dt_size, my_rank, time_stamp);
    }
    for (int m = 0; m < number_of_members; m++) free(member_pointers[m]);
    free(member_pointers);
    free(member_counts);
    free(member_datatypes);
  }
  check(error);
  finish(my_rank);
  return EXIT_SUCCESS;
}
