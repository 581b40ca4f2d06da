/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer in the memory of a device is refused where messages are logged. The driver is fake_driver.c.
 * usage: refused_device DRIVER
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FAIL(...) \
  (printf("FENIX-TEST-FAIL rank %d: ", rank), printf(__VA_ARGS__), printf("\n"), MPI_Abort(MPI_COMM_WORLD, 3))

static int rank, size;

static void expect(const char* call, int error, int expected) {
  int error_class;
  MPI_Error_class(error, &error_class);
  if (error_class != expected) FAIL("%s: class %d, not %d", call, error_class, expected);
}

int main(int argc, char** argv) {
  int value = 0, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  /* Programs load the driver when they need it. It takes longer to start than this. */
  void* driver = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  const struct timespec pause = {0, 50000000};
  nanosleep(&pause, NULL);
  if (driver == NULL) FAIL("%s", dlerror());
  int* device = *(int**)dlsym(driver, "fake_device_memory");
  int* managed = *(int**)dlsym(driver, "fake_managed_memory");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect("MPI_Send", MPI_Send(device, 1, MPI_INT, rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  expect("MPI_Recv", MPI_Recv(device, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
  expect("MPI_Allreduce", MPI_Allreduce(&rank, device, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  /* The host can reach this. */
  *managed = rank;
  expect("MPI_Sendrecv",
         MPI_Sendrecv(managed, 1, MPI_INT, (rank + 1) % size, 0, &value, 1, MPI_INT, (rank + size - 1) % size, 0,
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE),
         MPI_SUCCESS);
  if (value != (rank + size - 1) % size) FAIL("received %d", value);
  printf("FENIX-TEST-OK rank %d\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
