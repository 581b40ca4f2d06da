// SPDX-License-Identifier: BSD-3-Clause
#include "team.hpp"

#include <cstdio>
#include <cstdlib>

namespace bench {

void fail(const std::string& what) {
  std::fprintf(stderr, "fenix-bench: %s [%s]\n", what.c_str(), Fenix_Error_message());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::abort();
}

void check(int code, const char* call) {
  static_assert(FENIX_SUCCESS == MPI_SUCCESS);
  if (code != FENIX_SUCCESS) fail(std::string(call) + " returned " + std::to_string(code));
}

int Team::rank() const {
  int rank = -1;
  check(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
  return rank;
}

int Team::size() const {
  int size = 0;
  check(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
  return size;
}

int Team::nodes() const {
  MPI_Comm node = MPI_COMM_NULL;
  int rank_in_node = -1;
  check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  check(MPI_Comm_rank(node, &rank_in_node), "MPI_Comm_rank");
  check(MPI_Comm_free(&node), "MPI_Comm_free");
  return static_cast<int>(sum(rank_in_node == 0 ? 1 : 0));
}

void Team::barrier() const { check(MPI_Barrier(comm_), "MPI_Barrier"); }

std::vector<double> Team::gather(double mine) const {
  std::vector<double> all(writes() ? static_cast<std::size_t>(size()) : 0);
  check(MPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, comm_), "MPI_Gather");
  return all;
}

double Team::greatest(double mine) const {
  double result = 0;
  check(MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, MPI_MAX, comm_), "MPI_Allreduce");
  return result;
}

double Team::sum(double mine) const {
  double result = 0;
  check(MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, MPI_SUM, comm_), "MPI_Allreduce");
  return result;
}

void Team::record(double mine, Times& times) const {
  const std::vector<double> all = gather(mine);
  if (writes()) times.add(all);
}

}  // namespace bench
