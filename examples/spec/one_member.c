/* Example 4.3: recovering one member of a data group, at a known time stamp. The ranks know group_id, member_id, count,
   datatype and ts. Until a rank dies, they make one snapshot after the other. */
#include "example.h"

enum { num_spare_ranks = 1, group_id = 5, member_id = 17, count = 1000, ts = 3, depth = 5, iterations = 8 };

static void value_at(double* data, int rank, int time_stamp) {
  for (int i = 0; i < count; i++) data[i] = rank * 1e6 + time_stamp * 1e3 + i / 1e3;
}

/* Computation before the example, which the specification does not show. It makes a snapshot for each time stamp; a
   rank dies at the commit of one after ts. */
static void compute(int rank, MPI_Comm comm) {
  static double data[count];
  check(Fenix_Data_group_create(group_id, comm, 0, depth));
  check(Fenix_Data_member_create(group_id, member_id, (VP)data, count, MPI_DOUBLE));
  for (int it = 0; it < iterations; it++) {
    value_at(data, rank, it);
    check(Fenix_Data_member_store(group_id, member_id, FULL));
    check(Fenix_Data_commit_barrier(group_id, NULL));
  }
  fail("nobody has died");
}

int main(int argc, char** argv) {
  static MPI_Comm new_comm_world;
  static int role, error, rank;
  MPI_Init(&argc, &argv);

  Fenix_Init(MPI_COMM_WORLD, &new_comm_world, &role, &argc, &argv, num_spare_ranks, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(new_comm_world, &rank);
  if (!error && role == FENIX_ROLE_INITIAL_RANK) compute(rank, new_comm_world);
  if (!error && role != FENIX_ROLE_INITIAL_RANK) {
    int dt_size; /* mend: declared */
    /* Failure successfully recovered. The last two params are ignored, since group_id already existed. */
    check(Fenix_Data_group_create(group_id, new_comm_world, 0, 0));
    MPI_Type_size(MPI_DOUBLE, &dt_size);
    uint8_t* recovered_data = (uint8_t*)malloc((size_t)(count * dt_size));                /* mend: a pointer */
    check(Fenix_Data_member_restore(group_id, member_id, (VP)recovered_data, count, ts)); /* mend: not its address */
    /* The application inspects the data and decides what to do with it. */
    double wanted[count];
    value_at(wanted, rank, ts);
    check_equal(recovered_data, wanted, sizeof wanted, "the member is wrong");
    free(recovered_data);
  }
  check(error);
  finish(rank);
  return EXIT_SUCCESS;
}
