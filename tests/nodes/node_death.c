// SPDX-License-Identifier: BSD-3-Clause
// All ranks of one node kill themselves at the same moment; the others repair what is left. Knows nothing of Fenix: it
// tests scripts/nodes, and what MPI does across nodes.
// usage: node_death NODES RANKS_PER_NODE [VICTIM]   (VICTIM: a node from 1; 0: nobody dies; -1: rank 0 calls MPI_Abort)
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <mpi-ext.h>

enum { kNameLength = 64 };

static int rank;

static void require(bool condition, const char* what) {
  if (condition) return;
  printf("FENIX-TEST-FAIL rank %d: %s\n", rank, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// The clock of the machine: that of all nodes.
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Splits ranks into nodes by all signs that there are: MPI's own, host names, and namespaces of process ids.
static void check_nodes(int nodes, int per_node) {
  MPI_Comm node;
  int size;
  int node_size;
  char mine[2][kNameLength] = {{0}};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  require(size == nodes * per_node, "there are not as many ranks as there should be");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &node_size);
  require(node_size == per_node, "MPI_Comm_split_type finds another number of ranks on this node");
  MPI_Comm_free(&node);

  require(gethostname(mine[0], kNameLength - 1) == 0, "no host name");
  require(readlink("/proc/self/ns/pid", mine[1], kNameLength - 1) > 0, "no namespace of process ids");
  const char* name = getenv("FENIX_NODES_NODE");
  require(name != NULL && strcmp(name, mine[0]) == 0, "FENIX_NODES_NODE is not the host name");
  char* all = malloc((size_t)size * sizeof mine);
  require(all != NULL, "no memory");
  MPI_Allgather(mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
  for (int other = 0; other < size; ++other) {
    const bool same = rank / per_node == other / per_node;
    const char* theirs = all + (size_t)other * sizeof mine;
    require((strcmp(theirs, mine[0]) == 0) == same, "host names do not tell the nodes");
    require((strcmp(theirs + kNameLength, mine[1]) == 0) == same, "namespaces of process ids do not tell the nodes");
  }
  free(all);
}

static long sum_of_ranks(MPI_Comm comm, int* result) {
  long sum = 0;
  const long mine = rank;
  *result = MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
  return sum;
}

// MPIX_Comm_shrink leaves out only those whose death is known by then: again, until a collective works for all.
// Returns how often.
static int repair(MPI_Comm* comm) {
  for (int round = 1; round < 100; ++round) {
    MPI_Comm shrunk;
    int result;
    MPIX_Comm_revoke(*comm);
    require(MPIX_Comm_shrink(*comm, &shrunk) == MPI_SUCCESS, "MPIX_Comm_shrink fails");
    MPI_Comm_set_errhandler(shrunk, MPI_ERRORS_RETURN);
    sum_of_ranks(shrunk, &result);
    int flag = result == MPI_SUCCESS;
    result = MPIX_Comm_agree(shrunk, &flag);
    *comm = shrunk;
    if (result == MPI_SUCCESS && flag == 1) return round;
  }
  require(false, "no end of repairs");
  return 0;
}

static void check_sum(MPI_Comm comm, int expected_size, long expected_sum) {
  int size;
  int result;
  MPI_Comm_size(comm, &size);
  require(size == expected_size, "the communicator has another size");
  const long sum = sum_of_ranks(comm, &result);
  require(result == MPI_SUCCESS, "a collective fails");
  require(sum == expected_sum, "a collective gives a wrong sum");
}

static void lose_node(int nodes, int per_node, int victim) {
  MPI_Comm comm;
  int result = MPI_SUCCESS;
  double moment = now() + 0.1;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  // All know their peers, as in a program that has worked for a while.
  MPI_Barrier(comm);
  MPI_Bcast(&moment, 1, MPI_DOUBLE, 0, comm);
  if (rank / per_node == victim - 1) {
    while (now() < moment) usleep(100);
    raise(SIGKILL);
  }
  while (result == MPI_SUCCESS && now() < moment + 20) result = MPI_Barrier(comm);
  const double noticed = now();
  require(result != MPI_SUCCESS, "no collective notices the death");
  int class;
  MPI_Error_class(result, &class);
  require(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED, "the error is none of a death");
  const int rounds = repair(&comm);
  const double repaired = now();
  long sum = 0;
  for (int other = 0; other < nodes * per_node; ++other) {
    if (other / per_node != victim - 1) sum += other;
  }
  check_sum(comm, (nodes - 1) * per_node, sum);
  printf("rank %d: noticed after %.1f ms, repaired in %.1f ms, %d times\n", rank, 1e3 * (noticed - moment),
         1e3 * (repaired - noticed), rounds);
}

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // over TCP, Open MPI writes to the dead; Fenix_Init does the same
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  require(argc >= 3, "usage: node_death NODES RANKS_PER_NODE [VICTIM]");
  const int nodes = atoi(argv[1]);
  const int per_node = atoi(argv[2]);
  const int victim = argc > 3 ? atoi(argv[3]) : 0;
  const int size = nodes * per_node;
  check_nodes(nodes, per_node);
  check_sum(MPI_COMM_WORLD, size, (long)size * (size - 1) / 2);
  require(victim >= 0 || rank > 0, "is asked to abort");
  if (victim < 0) sleep(1000);
  if (victim > 0) lose_node(nodes, per_node, victim);
  printf("FENIX-TEST-OK %d\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
