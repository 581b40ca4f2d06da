/* Common part of the example programs of specification 1.0, chapter 4. The programs are as printed there, with work to
   do and with mistakes corrected; each correction is marked "mend". They check their results and print the line that
   tests/run-mpi looks for. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <fenix/spec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Abbreviations used in chapter 4. */
#define BUF FENIX_DATA_MEMBER_ATTRIBUTE_SOURCE_BUFFER
#define FULL FENIX_DATA_SUBSET_FULL
#define LATEST FENIX_DATA_SNAPSHOT_LATEST
#define FENIX_WORLD FENIX_DATA_GROUP_WORLD_ID
#define COUNT FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_COUNT
#define TYPE FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_DATATYPE
#define VP void*

/* Prints why, and ends the job. */
static inline void fail(const char* why) {
  printf("FENIX-TEST-FAIL %s\n", why);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static inline void check(int code) {
  if (code < 0) fail(Fenix_Error_message());
}

static inline void check_equal(const void* got, const void* wanted, size_t bytes, const char* what) {
  if (memcmp(got, wanted, bytes) != 0) fail(what);
}

/* Tells whether a group has no snapshot: at the start, or after a failure that came before the first commit. */
static inline int is_new(int group_id) {
  int number = 0;
  check(Fenix_Data_group_get_number_of_snapshots(group_id, &number));
  return number == 0;
}

static inline void finish(int rank) {
  if (getenv("FENIX_FAULT") != NULL && Fenix_get_role() == FENIX_ROLE_INITIAL_RANK) fail("nobody has died");
  check(Fenix_Finalize());
  MPI_Finalize();
  printf("FENIX-TEST-OK rank %d\n", rank);
}

#endif
