// SPDX-License-Identifier: BSD-3-Clause
#include "phases.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace scaling {

void Phases::begin() {
  before_ = counts();
  start_ = PMPI_Wtime();
}

void Phases::end(const std::string& name) {
  const double seconds = PMPI_Wtime() - start_;
  Phase& phase = phases_[name];
  for (std::size_t i = 0; i < kinds; ++i) phase.counts[i] = std::max(phase.counts[i], counts()[i] - before_[i]);
  phase.seconds.push_back(seconds);
}

void Phases::print(MPI_Comm comm, const std::vector<std::string>& names, const std::string& head) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  for (const std::string& name : names) {
    Phase& mine = phases_[name];
    Counts most{};
    Counts all{};
    PMPI_Allreduce(mine.counts.data(), most.data(), kinds, MPI_INT64_T, MPI_MAX, comm);
    PMPI_Allreduce(mine.counts.data(), all.data(), kinds, MPI_INT64_T, MPI_SUM, comm);
    int repetitions = static_cast<int>(mine.seconds.size());
    PMPI_Allreduce(MPI_IN_PLACE, &repetitions, 1, MPI_INT, MPI_MAX, comm);
    mine.seconds.resize(static_cast<std::size_t>(repetitions));
    std::vector<double> slowest(mine.seconds.size());
    PMPI_Allreduce(mine.seconds.data(), slowest.data(), repetitions, MPI_DOUBLE, MPI_MAX, comm);
    if (rank != 0 || slowest.empty()) continue;
    std::sort(slowest.begin(), slowest.end());
    std::printf("{%s, \"phase\": \"%s\", \"median\": %.9f, \"min\": %.9f, \"max\": %.9f", head.c_str(), name.c_str(),
                slowest[slowest.size() / 2], slowest.front(), slowest.back());
    for (std::size_t i = 0; i < kinds; ++i) {
      std::printf(", \"%s\": %lld, \"all_%s\": %lld", kNames[i], static_cast<long long>(most[i]), kNames[i],
                  static_cast<long long>(all[i]));
    }
    std::printf("}\n");
  }
  std::fflush(stdout);
}

}  // namespace scaling
