// SPDX-License-Identifier: BSD-3-Clause
#include "counting.hpp"

#include <mpi.h>
#include <mpi-ext.h>

namespace scaling {

Counts& counts() {
  static Counts all{};
  return all;
}

namespace {

std::int64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return std::int64_t{count} * size;
}

void note(Count number, Count bytes, std::int64_t amount) {
  ++counts()[number];
  counts()[bytes] += amount;
}

}  // namespace
}  // namespace scaling

using namespace scaling;

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  if (to != MPI_PROC_NULL) note(messages, message_bytes, bytes_of(count, type));
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (to != MPI_PROC_NULL) note(messages, message_bytes, bytes_of(count, type));
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Rput(const void* data, int count, MPI_Datatype type, int to, MPI_Aint offset, int there,
             MPI_Datatype type_there, MPI_Win window, MPI_Request* request) {
  note(puts, put_bytes, bytes_of(count, type));
  return PMPI_Rput(data, count, type, to, offset, there, type_there, window, request);
}

int MPI_Rget(void* data, int count, MPI_Datatype type, int from, MPI_Aint offset, int there, MPI_Datatype type_there,
             MPI_Win window, MPI_Request* request) {
  note(gets, get_bytes, bytes_of(count, type));
  return PMPI_Rget(data, count, type, from, offset, there, type_there, window, request);
}

int MPI_Allgather(const void* mine, int count, MPI_Datatype type, void* all, int each, MPI_Datatype type_of_all,
                  MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  note(allgathers, allgather_bytes, bytes_of(each, type_of_all) * size);
  return PMPI_Allgather(mine, count, type, all, each, type_of_all, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  ++counts()[communicators];
  return PMPI_Comm_dup(comm, copy);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  ++counts()[communicators];
  return PMPI_Comm_split(comm, color, key, part);
}

int MPI_Win_create(void* base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  ++counts()[windows];
  return PMPI_Win_create(base, bytes, unit, info, comm, window);
}

int MPIX_Comm_agree(MPI_Comm comm, int* flag) {
  ++counts()[agreements];
  return PMPIX_Comm_agree(comm, flag);
}

int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* living) {
  ++counts()[shrinks];
  return PMPIX_Comm_shrink(comm, living);
}
}
