// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/job_ending.hpp"

#include <string>
#include <vector>

#include "interposition/interposer.hpp"
#include "interposition/job_end.hpp"
#include "recovery/process/comm_functions.hpp"

namespace fenix_impl {
namespace {

std::string text_of_failed(const std::vector<int>& ranks) {
  if (ranks.empty()) return "a rank has died";
  const std::string first = "rank " + std::to_string(ranks.front());
  return ranks.size() == 1 ? first + " has died"
                           : first + " and " + std::to_string(ranks.size() - 1) + " more have died";
}

}  // namespace

void end_job_that_cannot_go_back(const Process& process, const char* why) {
  if (interposer() == nullptr || !interposer()->must_go_on()) return;
  const int rank = rank_in(process.comms().resilient());
  abort_job(JobEnd::begins_again, rank,
            text_of_failed(process.members().failed()) + ", and " + why + ": the job has to begin again",
            /*waits=*/rank != 0);
}

void end_job_without_spares(const Process& process) {
  end_job_that_cannot_go_back(process, "no spare process is left to take its place");
}

}  // namespace fenix_impl
