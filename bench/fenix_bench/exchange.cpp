// SPDX-License-Identifier: BSD-3-Clause
// store_commit_barrier beside what a library that passes messages pays at least: MPI_Sendrecv of the same bytes.
#include "measure.hpp"
#include "operations.hpp"

namespace bench {

std::vector<Result> time_exchange(Subject& subject, const Options& options) {
  const Team& team = subject.team();
  const int iterations = iterations_for(subject.of().bytes);
  Times messages, ignored;
  int runs = 0;
  // Both in each repetition: what else the machine does concerns them alike.
  const auto run = [&](int times) {
    const bool counts = runs++ >= options.warmup;
    team.record(subject.exchange(times) / times, counts ? messages : ignored);
    team.barrier();
    const double start = seconds_now();
    for (int i = 0; i < times; ++i) {
      subject.store();
      subject.commit_barrier();
    }
    return seconds_now() - start;
  };
  Result store = measure(subject, options, {"exchange", iterations, [&] { subject.compute(); }, run, true});
  Result sendrecv{"exchange.sendrecv", subject.of(), iterations, messages, store.copy, {}};
  if (team.writes()) {
    const Ratio of = ratio(*store.times, messages);
    store.more = {{"ratio_to_sendrecv", of.median},
                  {"ratio_to_sendrecv_min", of.min},
                  {"ratio_to_sendrecv_max", of.max},
                  {"ratio_to_sendrecv_of_least", of.of_least}};
  }
  return {sendrecv, store};
}

}  // namespace bench
