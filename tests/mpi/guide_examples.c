/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The examples of docs/how-to-data.md and docs/how-to-failures.md, as they are there, and their use: scripts/check guide
 * compares what stands between "example:" and "end" with the pages.
 *
 * Four ranks without spares go through all examples; then rank 1 dies, and the others divide its data among themselves. */
#include <fenix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 0, FORCES = 1, LIST = 2, PARTICLES = 3, POSITIONS = 4, HUGE = 5, FILES = 6, SHARE = 7, RANKS = 8 };
enum { ROWS = 40, COLUMNS = 50, CELLS = ROWS * COLUMNS, GRID = 0 };

static MPI_Comm comm;
static int role, error, rank, ranks;
static double grid[CELLS], forces[CELLS];

static void fail(const char* what) {
  printf("FENIX-TEST-FAIL rank %d: %s [%s]\n", rank, what, Fenix_Error_message());
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void check(int code) {
  if (code < 0) fail("an error");
}

static void require(int condition, const char* what) {
  if (!condition) fail(what);
}

static void compute(void) {
  for (int i = 0; i < CELLS; ++i) grid[i] += 1.0;
}

/* example: rows */
/* What changed are some rows, which lie side by side. */
static void store_rows(int first, int last) {
  Fenix_Data_subset rows;
  check(Fenix_Data_subset_create(1, first * COLUMNS, (last + 1) * COLUMNS - 1, 1, &rows));
  check(Fenix_Data_member_store(GROUP, GRID, rows));
  check(Fenix_Data_subset_delete(&rows));
}

/* Blocks of any place and length, the same or others on each rank. */
static void store_blocks(int number, int* firsts, int* lasts) {
  Fenix_Data_subset blocks;
  check(Fenix_Data_subset_createv(number, firsts, lasts, &blocks));
  check(Fenix_Data_member_storev(GROUP, GRID, blocks));
  check(Fenix_Data_subset_delete(&blocks));
}
/* end */

/* A column: a block of one element in each row. */
static void store_column(int column) {
  Fenix_Data_subset blocks;
  check(Fenix_Data_subset_create(ROWS, column, column, COLUMNS, &blocks));
  check(Fenix_Data_member_store(GROUP, GRID, blocks));
  check(Fenix_Data_subset_delete(&blocks));
}

/* Restores the elements that are there, and sets the others. */
static void restore_or_set(double value) {
  Fenix_Data_subset found;
  const int code = Fenix_Data_member_restore(GROUP, GRID, grid, CELLS, FENIX_DATA_SNAPSHOT_LATEST, &found);
  check(code);
  if (code == FENIX_WARNING_PARTIAL_RESTORE) {
    MPI_Count blocks, first, last, next = 0;
    check(Fenix_Data_subset_get_number_of_blocks(found, &blocks));
    for (MPI_Count block = 0; block < blocks; ++block) {
      check(Fenix_Data_subset_get_block(found, block, &first, &last));
      while (next < first) grid[next++] = value;
      next = last + 1;
    }
    while (next < CELLS) grid[next++] = value;
  }
  check(Fenix_Data_subset_delete(&found));
}

/* example: stage */
static void stage_early(void) {
  check(Fenix_Data_member_stage(GROUP, GRID, FENIX_DATA_SUBSET_FULL)); /* local */
  compute();                                                           /* may change the grid */
  check(Fenix_Data_member_store(GROUP, GRID, FENIX_DATA_SUBSET_PRESTAGED));
  check(Fenix_Data_commit_barrier(GROUP, FENIX_TIME_STAMP_IGNORE));
}
/* end */

/* From another buffer than the member's, which the library frees. */
static void stage_scaled(double factor) {
  double* scaled = malloc(CELLS * sizeof *scaled);
  for (int i = 0; i < CELLS; ++i) scaled[i] = factor * forces[i];
  check(Fenix_Data_member_stage_inplace(GROUP, FORCES, scaled, FENIX_DATA_SUBSET_FULL));
  check(Fenix_Data_member_store(GROUP, FORCES, FENIX_DATA_SUBSET_PRESTAGED));
}

/* example: stage-memory */
/* Straight into the memory of the snapshot: no copy. */
static void stage_without_a_copy(double factor) {
  void* memory;
  check(Fenix_Data_member_stage_memory(GROUP, FORCES, &memory));
  for (int i = 0; i < CELLS; ++i) ((double*)memory)[i] = factor * forces[i];
  check(Fenix_Data_member_stage_inplace(GROUP, FORCES, memory, FENIX_DATA_SUBSET_FULL));
  check(Fenix_Data_member_store(GROUP, FORCES, FENIX_DATA_SUBSET_PRESTAGED));
}
/* end */

/* example: istore */
static void overlapped_step(void) {
  Fenix_Request requests[2];
  check(Fenix_Data_member_istore(GROUP, GRID, FENIX_DATA_SUBSET_FULL, &requests[0]));
  check(Fenix_Data_member_istore(GROUP, FORCES, FENIX_DATA_SUBSET_FULL, &requests[1]));
  compute(); /* the next step; may change both */
  check(Fenix_Data_wait(requests[0]));
  check(Fenix_Data_wait(requests[1]));
  check(Fenix_Data_commit_barrier(GROUP, FENIX_TIME_STAMP_IGNORE));
}
/* end */

static double* particles;
static int number_of_particles;

/* example: particles */
/* The member was created with the count FENIX_RESIZEABLE. */
static void store_particles(void) {
  Fenix_Data_subset all = FENIX_DATA_SUBSET_EMPTY;
  if (number_of_particles > 0) {
    check(Fenix_Data_member_attr_set(GROUP, PARTICLES, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, particles, NULL));
    check(Fenix_Data_subset_create(1, 0, number_of_particles - 1, 1, &all));
  }
  check(Fenix_Data_member_storev(GROUP, PARTICLES, all));
  if (number_of_particles > 0) check(Fenix_Data_subset_delete(&all));
}

static void restore_particles(void) {
  int own;
  MPI_Comm_rank(comm, &own);
  check(
      Fenix_Data_member_attr_get(GROUP, PARTICLES, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &number_of_particles, NULL, own));
  free(particles);
  particles = malloc((number_of_particles + 1) * sizeof *particles);
  check(Fenix_Data_member_restore(GROUP, PARTICLES, particles, number_of_particles, FENIX_DATA_SNAPSHOT_LATEST, NULL));
}
/* end */

static void write_checkpoint(FILE* file) { fwrite(grid, sizeof grid[0], CELLS, file); }
static void read_checkpoint(FILE* file) { require(fread(grid, sizeof grid[0], CELLS, file) == CELLS, "fread"); }

/* example: files */
/* write_checkpoint and read_checkpoint are the program's own. The member has the type MPI_BYTE, the count FENIX_RESIZEABLE,
   and no buffer. */
static void checkpoint_as_file(void) {
  FILE* file;
  check(Fenix_Data_member_stage_begin(GROUP, FILES, &file));
  write_checkpoint(file);
  check(Fenix_Data_member_stage_end(GROUP, FILES));
  check(Fenix_Data_member_storev(GROUP, FILES, FENIX_DATA_SUBSET_PRESTAGED));
  check(Fenix_Data_commit_barrier(GROUP, FENIX_TIME_STAMP_IGNORE));
}

static void restart_from_file(void) {
  FILE* file;
  check(Fenix_Data_member_load_begin(GROUP, FILES, &file, FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE));
  read_checkpoint(file);
  check(Fenix_Data_member_load_end(GROUP, FILES));
}
/* end */

/* example: list */
struct node {
  double value;
  struct node* next;
};

static struct node* list;

static void serialize_list(FILE* file, int direction, void* buffer, int offset, int count, void* ctx) {
  struct node** place = ctx;
  (void)buffer, (void)offset;
  if (direction == FENIX_SERIALIZE) { /* as many as there are */
    for (; *place != NULL; place = &(*place)->next) fwrite(&(*place)->value, sizeof(double), 1, file);
    return;
  }
  for (int i = 0; i < count; ++i, place = &(*place)->next) {
    *place = calloc(1, sizeof **place);
    if (fread(&(*place)->value, sizeof(double), 1, file) != 1) return;
  }
}

/* On replacements too: they know the member, but not the function. */
static void define_list(void) {
  check(Fenix_Data_member_fdefine(GROUP, LIST, NULL, FENIX_RESIZEABLE, MPI_DOUBLE, serialize_list, &list));
}
/* end */

static void store_list(void) { check(Fenix_Data_member_store(GROUP, LIST, FENIX_DATA_SUBSET_FULL)); }

static void restore_list(void) { /* the list is empty before */
  check(Fenix_Data_member_restore(GROUP, LIST, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL,
                                  FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE));
}

/* example: positions */
struct particle {
  double position[3];
  double scratch[5]; /* not worth storing */
};

static struct particle all_particles[CELLS];

static void create_positions(void) {
  MPI_Datatype three, type;
  MPI_Type_contiguous(3, MPI_DOUBLE, &three);
  MPI_Type_create_resized(three, 0, sizeof(struct particle), &type);
  MPI_Type_commit(&type);
  check(Fenix_Data_member_create(GROUP, POSITIONS, all_particles, CELLS, type));
  MPI_Type_free(&three);
  MPI_Type_free(&type); /* the library has one of its own */
}
/* end */

static void store_end_of(char* buffer, MPI_Count bytes, MPI_Count changed) {
  Fenix_Data_subset end;
  if (!Fenix_Data_member_created(GROUP, HUGE)) check(Fenix_Data_member_create_c(GROUP, HUGE, buffer, bytes, MPI_BYTE));
  check(Fenix_Data_subset_create_c(1, bytes - changed, bytes - 1, 1, &end));
  check(Fenix_Data_member_store(GROUP, HUGE, end));
  check(Fenix_Data_subset_delete(&end));
}

/* Goes back to the newest snapshot whose grid is good. */
static int go_back(int (*is_good)(const double*)) {
  int snapshots, time_stamp;
  check(Fenix_Data_group_get_number_of_snapshots(GROUP, &snapshots));
  for (int position = 0; position < snapshots; ++position) {
    int good;
    check(Fenix_Data_group_get_snapshot_at_position(GROUP, position, &time_stamp));
    check(Fenix_Data_member_restore(GROUP, GRID, grid, CELLS, time_stamp, FENIX_DATA_SUBSET_IGNORE));
    good = is_good(grid);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, comm);
    if (good) return time_stamp;
  }
  return -1;
}

/* A group of depth -1 keeps all; of the snapshots up to a time stamp, only each tenth is to stay. */
static void thin_out(int group, int up_to) {
  for (int time_stamp = 0; time_stamp <= up_to; ++time_stamp) {
    if (time_stamp % 10 == 0) continue;
    const int code = Fenix_Data_snapshot_delete(group, time_stamp);
    if (code != FENIX_ERROR_INVALID_TIMESTAMP) check(code); /* else it is gone already */
  }
  check(Fenix_Data_barrier(group));
}

/* example: policies */
static void create_groups(int ranks_per_node) {
  /* Pairs. Ranks that are ranks_per_node apart are on different nodes, if nodes have consecutive ranks. */
  int pairs[2] = {1, ranks_per_node};
  check(Fenix_Data_group_create(20, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, pairs, NULL));
  /* Each rank's data on the rank that is so far away, for the last ones from the front again. */
  int separation = ranks_per_node;
  check(Fenix_Data_group_create(21, comm, 0, 0, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, &separation, NULL));
}
/* end */

/* example: codes */
static void create_group_with_codes(int ranks_per_node) {
  /* Reed-Solomon: of each 4 ranks, on 4 nodes, any 2 may die. */
  int codes[3] = {ranks_per_node, 4, 2};
  check(Fenix_Data_group_create(22, comm, 0, 0, FENIX_DATA_POLICY_REED_SOLOMON, codes, NULL));
}
/* end */

static void tell_of_codes(void) {
  int name, values[3];
  MPI_Count bytes;
  check(Fenix_Data_group_get_redundancy_policy(22, &name, values, NULL));
  check(Fenix_Data_member_create(22, GRID, grid, CELLS, MPI_DOUBLE));
  check(Fenix_Data_member_footprint(22, GRID, &bytes));
  if (rank == 0) printf("any %d of %d ranks may die; %lld bytes\n", values[2], values[1], (long long)bytes);
}

/* example: allocate */
/* On all ranks, at the start and after each failure. Survivors get the buffer that they have, as they left it. */
static double* make_field(int group, int member, int cells) {
  double* field = NULL;
  check(Fenix_Data_member_allocate(group, member, cells, MPI_DOUBLE, &field));
  return field;
}
/* end */

/* Before the first store. The snapshots of this group need 1.3 times the data instead of 2.3. */
static void save_memory(int group) {
  int values[3] = {5, FENIX_DATA_SEPARATION_AUTO, 8};
  check(Fenix_Data_group_create(group, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, values, NULL));
  check(Fenix_Data_group_set_in_place(group, 1));
}

/* Between two phases: are all snapshots still what was stored? */
static int look_after_snapshots(int group) {
  int mended, lost;
  const int code = Fenix_Data_verify(group, &mended, &lost);
  if (code != FENIX_ERROR_NODATA_FOUND) check(code);
  if (rank == 0 && mended > 0) printf("%d damaged versions were mended\n", mended);
  if (rank == 0 && lost > 0) printf("%d are lost: store and commit anew\n", lost);
  return lost == 0;
}

static void use_the_world_group(void) {
  check(Fenix_Data_member_define(FENIX_DATA_GROUP_WORLD_ID, GRID, grid, CELLS, MPI_DOUBLE));
  check(Fenix_Data_checkpoint(FENIX_DATA_GROUP_WORLD_ID, FENIX_DATA_SUBSET_FULL, 0, NULL, FENIX_TIME_STAMP_IGNORE));
}

/* example: redistribute */
enum { TOTAL = 1000 };

static double share[TOTAL]; /* elements [first_of(rank, ranks), first_of(rank + 1, ranks)) of TOTAL */

static int first_of(int of_rank, int of_ranks) { return (int)((long)TOTAL * of_rank / of_ranks); }

/* Makes this rank's share of today's communicator from those of the one that stored. */
static void redistribute(int first, int end) {
  static double old[TOTAL];
  int old_ranks;
  check(Fenix_Data_member_restore_from_rank(GROUP, RANKS, &old_ranks, 1, FENIX_DATA_SNAPSHOT_LATEST, NULL, 0));
  for (int source = 0; source < old_ranks; ++source) { /* as many calls on all ranks; the dead are among the sources */
    const int from = first_of(source, old_ranks), to = first_of(source + 1, old_ranks);
    check(Fenix_Data_member_restore_from_rank(GROUP, SHARE, old, TOTAL, FENIX_DATA_SNAPSHOT_LATEST, NULL, source));
    for (int i = from > first ? from : first; i < to && i < end; ++i) share[i - first] = old[i - from];
  }
}
/* end */

/* The share, from wherever it is to be had. */
static void begin_with_share(void) {
  static int of_ranks;
  int of_rank, snapshots;
  MPI_Comm_rank(comm, &of_rank);
  MPI_Comm_size(comm, &of_ranks);
  const int first = first_of(of_rank, of_ranks), end = first_of(of_rank + 1, of_ranks);
  check(Fenix_Data_member_define(GROUP, RANKS, &of_ranks, 1, MPI_INT));
  check(Fenix_Data_member_define(GROUP, SHARE, share, end - first, MPI_DOUBLE));
  check(Fenix_Data_group_get_number_of_snapshots(GROUP, &snapshots));
  const int code = Fenix_Data_member_restore(GROUP, SHARE, share, TOTAL, FENIX_DATA_SNAPSHOT_LATEST, NULL);
  if (code == FENIX_ERROR_NODATA_FOUND && snapshots > 0) { /* the communicator has shrunk since */
    redistribute(first, end);
  } else if (code == FENIX_ERROR_NODATA_FOUND) { /* the initial state */
    for (int i = first; i < end; ++i) share[i - first] = i;
  } else {
    check(code);
  }
  check(Fenix_Data_member_store(GROUP, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL));
  check(Fenix_Data_commit_barrier(GROUP, FENIX_TIME_STAMP_IGNORE));
}

/* ------------------------------------------------------------------------------------------------- what they come to */

static double value(int i) { return rank * 1e6 + i; }

static void fill(void) {
  for (int i = 0; i < CELLS; ++i) grid[i] = value(i);
}

static void expect_grid(double shift) {
  for (int i = 0; i < CELLS; ++i) require(grid[i] == value(i) + shift, "a wrong element");
}

static void create_group(int depth) {
  int pairs[2] = {1, 1};
  int flag = -1;
  check(Fenix_Data_group_create(GROUP, comm, 0, depth, FENIX_DATA_POLICY_IN_MEMORY_RAID, pairs, &flag));
  require(flag == FENIX_SUCCESS, "snapshots were lost");
}

static void delete_group(void) {
  check(Fenix_Data_group_delete(GROUP));
  check(Fenix_Data_barrier(GROUP));
}

static void commit(void) { check(Fenix_Data_commit_barrier(GROUP, FENIX_TIME_STAMP_IGNORE)); }

static int in_changed_part(int i) {
  return (i >= 3 * COLUMNS && i < 6 * COLUMNS) || i % COLUMNS == 7 || (i >= 110 && i <= 119) || i == 500 + rank;
}

static void try_subsets(void) {
  int firsts[] = {110, 500 + rank}, lasts[] = {119, 500 + rank};
  create_group(1);
  check(Fenix_Data_member_create(GROUP, GRID, grid, CELLS, MPI_DOUBLE));
  fill();
  store_rows(3, 5);
  store_column(7);
  store_blocks(2, firsts, lasts);
  commit();
  memset(grid, 0, sizeof grid);
  restore_or_set(-1);
  for (int i = 0; i < CELLS; ++i) require(grid[i] == (in_changed_part(i) ? value(i) : -1), "a wrong element");
  delete_group();
}

static void try_staging(void) {
  create_group(0);
  check(Fenix_Data_member_create(GROUP, GRID, grid, CELLS, MPI_DOUBLE));
  check(Fenix_Data_member_create(GROUP, FORCES, forces, CELLS, MPI_DOUBLE));
  fill();
  stage_early();
  restore_or_set(-1);
  expect_grid(0);
  for (int i = 0; i < CELLS; ++i) forces[i] = i;
  stage_scaled(2);
  commit();
  check(Fenix_Data_member_load(GROUP, FORCES, FENIX_DATA_SNAPSHOT_LATEST, NULL));
  for (int i = 0; i < CELLS; ++i) require(forces[i] == 2.0 * i, "a wrong force");
  stage_without_a_copy(2);
  commit();
  check(Fenix_Data_member_load(GROUP, FORCES, FENIX_DATA_SNAPSHOT_LATEST, NULL));
  for (int i = 0; i < CELLS; ++i) require(forces[i] == 4.0 * i, "a wrong force after a store without a copy");
  fill();
  overlapped_step();
  restore_or_set(-1);
  expect_grid(0);
  delete_group();
}

static void try_sizes(void) {
  create_group(0);
  check(Fenix_Data_member_create(GROUP, PARTICLES, NULL, FENIX_RESIZEABLE, MPI_DOUBLE));
  for (int step = 0; step < 3; ++step) {
    number_of_particles = rank == step ? 0 : 1000 * step + rank;
    free(particles);
    particles = malloc((number_of_particles + 1) * sizeof *particles);
    for (int i = 0; i < number_of_particles; ++i) particles[i] = value(i) + step;
    store_particles();
    commit();
    const int stored = number_of_particles;
    number_of_particles = -1;
    restore_particles();
    require(number_of_particles == stored, "another number of particles");
    for (int i = 0; i < stored; ++i) require(particles[i] == value(i) + step, "a wrong particle");
  }
  delete_group();
}

static void try_files(void) {
  create_group(0);
  check(Fenix_Data_member_create(GROUP, FILES, NULL, FENIX_RESIZEABLE, MPI_BYTE));
  fill();
  checkpoint_as_file();
  memset(grid, 0, sizeof grid);
  restart_from_file();
  expect_grid(0);
  delete_group();
}

static void try_list(void) {
  create_group(0);
  define_list();
  for (int i = 0; i < 10 + rank; ++i) {
    struct node* node = malloc(sizeof *node);
    node->value = value(i);
    node->next = list;
    list = node;
  }
  store_list();
  commit();
  list = NULL;
  restore_list();
  int i = 10 + rank;
  for (const struct node* node = list; node != NULL; node = node->next)
    require(node->value == value(--i), "a wrong node");
  require(i == 0, "another number of nodes");
  delete_group();
}

static void try_types(void) {
  create_group(0);
  create_positions();
  for (int i = 0; i < CELLS; ++i) all_particles[i] = (struct particle){{value(i), i, 0}, {1, 2, 3, 4, 5}};
  check(Fenix_Data_member_store(GROUP, POSITIONS, FENIX_DATA_SUBSET_FULL));
  static char bytes[100000];
  store_end_of(bytes, sizeof bytes, 100);
  commit();
  for (int i = 0; i < CELLS; ++i) all_particles[i] = (struct particle){{-1, -1, -1}, {-2}};
  check(Fenix_Data_member_load(GROUP, POSITIONS, FENIX_DATA_SNAPSHOT_LATEST, NULL));
  for (int i = 0; i < CELLS; ++i) {
    require(all_particles[i].position[0] == value(i) && all_particles[i].position[2] == 0, "a wrong position");
    require(all_particles[i].scratch[0] == -2, "a hole was written to");
  }
  size_t size = 0;
  check(Fenix_Data_member_attr_get(GROUP, POSITIONS, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE, &size, NULL, 0));
  require(size == sizeof all_particles, "the buffer has another size");
  delete_group();
}

static int is_small(const double* cells) { return cells[0] < value(0) + 2; }

static void try_snapshots(void) {
  int number = 0;
  create_group(-1);
  check(Fenix_Data_member_create(GROUP, GRID, grid, CELLS, MPI_DOUBLE));
  fill();
  for (int step = 0; step < 12; ++step) {
    check(Fenix_Data_member_store(GROUP, GRID, FENIX_DATA_SUBSET_FULL));
    commit();
    compute();
  }
  require(go_back(is_small) == 1, "another snapshot is good");
  expect_grid(1);
  thin_out(GROUP, 10);
  check(Fenix_Data_group_get_number_of_snapshots(GROUP, &number));
  require(number == 3, "other snapshots are left");
  check(Fenix_Data_member_restore(GROUP, GRID, grid, CELLS, 10, NULL));
  expect_grid(10);
  check(Fenix_Data_member_repair(GROUP, GRID));
  delete_group();
}

static void try_groups(void) {
  create_groups(2);
  int name = 0, flag = 7, values[3] = {0};
  check(Fenix_Data_group_get_redundancy_policy(21, &name, values, &flag));
  require(name == FENIX_DATA_POLICY_PEER_RANK_SEPARATION && values[0] == 2 && flag == FENIX_SUCCESS, "another policy");
  int in_place = 0;
  save_memory(23);
  check(Fenix_Data_group_get_in_place(23, &in_place));
  require(in_place == 1, "commits in place");
  const double* field = make_field(23, GRID, CELLS);
  require(field != NULL && field[CELLS - 1] == 0, "a buffer from the library");
  create_group_with_codes(1);
  tell_of_codes();
  fill();
  check(Fenix_Data_checkpoint(22, FENIX_DATA_SUBSET_FULL, 0, NULL, NULL));
  check(Fenix_Data_commit_barrier(22, NULL));
  require(look_after_snapshots(22), "snapshots are damaged");
  for (int group = 20; group <= 23; ++group) {
    check(Fenix_Data_group_delete(group));
    check(Fenix_Data_barrier(group));
  }
  fill();
  use_the_world_group();
  memset(grid, 0, sizeof grid);
  check(Fenix_Data_member_load(FENIX_DATA_GROUP_WORLD_ID, GRID, FENIX_DATA_SNAPSHOT_LATEST, NULL));
  expect_grid(0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  check(error);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    try_subsets();
    try_staging();
    try_sizes();
    try_files();
    try_list();
    try_types();
    try_snapshots();
    try_groups();
  }
  create_group(0);
  begin_with_share();
  for (int i = first_of(rank, ranks); i < first_of(rank + 1, ranks); ++i) {
    require(share[i - first_of(rank, ranks)] == i, "a wrong element of the share");
  }
  if (role == FENIX_ROLE_INITIAL_RANK) {
    if (rank == 1) raise(SIGKILL);
    while (1) MPI_Barrier(comm);
  }
  require(error == FENIX_WARNING_SPARE_RANKS_DEPLETED && ranks == 3, "the communicator has not shrunk");
  /* Once more, from the snapshot of the new communicator. */
  begin_with_share();
  require(share[0] == first_of(rank, ranks), "a wrong element of the share");
  check(Fenix_Finalize());
  printf("FENIX-TEST-OK rank %d\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
