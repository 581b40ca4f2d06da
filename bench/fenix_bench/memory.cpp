// SPDX-License-Identifier: BSD-3-Clause
#include <fstream>

#include "operations.hpp"

namespace bench {

double memory_in_use() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    double kilobytes = 0;
    if (word == "Pss:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

std::vector<Result> measure_memory(Subject& subject, double before) {
  for (int i = 0; i < subject.of().depth + 4; ++i) {
    subject.compute();
    subject.store();
    subject.commit_barrier();
  }
  const Team& team = subject.team();
  team.barrier();  // of pages that two have, each counts a half: nobody may end while others look
  const double used = memory_in_use() - before;
  team.barrier();
  const double mean = team.sum(used) / team.size();
  Result result{"memory", subject.of(), 1, {}, {}, {}};
  result.more = {{"bytes_per_rank", mean},
                 {"ratio_to_member", mean / static_cast<double>(subject.of().bytes)},
                 {"most_bytes_of_a_rank", team.greatest(used)}};
#ifdef FENIX_DATA_POLICY_REED_SOLOMON
  MPI_Count footprint = 0;
  check(Fenix_Data_member_footprint(subject.group(), kMember, &footprint), "Fenix_Data_member_footprint");
  result.more.emplace_back("footprint_bytes", team.sum(static_cast<double>(footprint)) / team.size());
#endif
  return {result};
}

}  // namespace bench
