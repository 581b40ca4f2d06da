// SPDX-License-Identifier: BSD-3-Clause
#include "counting.hpp"

#include <dlfcn.h>
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

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void note(Count number, Count bytes, std::int64_t amount) {
  ++counts()[number];
  counts()[bytes] += amount;
}

}  // namespace
}  // namespace scaling

using namespace scaling;

extern "C" {

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  if (to != MPI_PROC_NULL) note(messages, message_bytes, bytes_of(count, type));
  static const auto real = next<decltype(PMPI_Isend)>("PMPI_Isend");
  return real(data, count, type, to, tag, comm, request);
}

int PMPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (to != MPI_PROC_NULL) note(messages, message_bytes, bytes_of(count, type));
  static const auto real = next<decltype(PMPI_Send)>("PMPI_Send");
  return real(data, count, type, to, tag, comm);
}

int PMPI_Rput(const void* data, int count, MPI_Datatype type, int to, MPI_Aint offset, int there,
              MPI_Datatype type_there, MPI_Win window, MPI_Request* request) {
  note(puts, put_bytes, bytes_of(count, type));
  static const auto real = next<decltype(PMPI_Rput)>("PMPI_Rput");
  return real(data, count, type, to, offset, there, type_there, window, request);
}

int PMPI_Rget(void* data, int count, MPI_Datatype type, int from, MPI_Aint offset, int there, MPI_Datatype type_there,
              MPI_Win window, MPI_Request* request) {
  note(gets, get_bytes, bytes_of(count, type));
  static const auto real = next<decltype(PMPI_Rget)>("PMPI_Rget");
  return real(data, count, type, from, offset, there, type_there, window, request);
}

int PMPI_Allgather(const void* mine, int count, MPI_Datatype type, void* all, int each, MPI_Datatype type_of_all,
                   MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  note(allgathers, allgather_bytes, bytes_of(each, type_of_all) * size);
  static const auto real = next<decltype(PMPI_Allgather)>("PMPI_Allgather");
  return real(mine, count, type, all, each, type_of_all, comm);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  ++counts()[communicators];
  static const auto real = next<decltype(PMPI_Comm_dup)>("PMPI_Comm_dup");
  return real(comm, copy);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  ++counts()[communicators];
  static const auto real = next<decltype(PMPI_Comm_split)>("PMPI_Comm_split");
  return real(comm, color, key, part);
}

int PMPI_Win_create(void* base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  ++counts()[windows];
  static const auto real = next<decltype(PMPI_Win_create)>("PMPI_Win_create");
  return real(base, bytes, unit, info, comm, window);
}

int PMPIX_Comm_agree(MPI_Comm comm, int* flag) {
  ++counts()[agreements];
  static const auto real = next<decltype(PMPIX_Comm_agree)>("PMPIX_Comm_agree");
  return real(comm, flag);
}

int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* living) {
  ++counts()[shrinks];
  static const auto real = next<decltype(PMPIX_Comm_shrink)>("PMPIX_Comm_shrink");
  return real(comm, living);
}
}
