// SPDX-License-Identifier: BSD-3-Clause
// Calls that complete requests, when there are stand-ins. They have whatever outcome comes about: nothing is logged here.
#pragma once

#include <mpi.h>

namespace fenix_impl {

int test(MPI_Request* request, int* flag, MPI_Status* status);
int test_all(int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[]);
int test_any(int count, MPI_Request array_of_requests[], int* index, int* flag, MPI_Status* status);
int test_some(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
              MPI_Status array_of_statuses[]);
int wait_any(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status);
int wait_some(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
              MPI_Status array_of_statuses[]);
int get_status(MPI_Request request, int* flag, MPI_Status* status);

}  // namespace fenix_impl
