// SPDX-License-Identifier: BSD-3-Clause
// fenix-bench: what protecting data costs, beside a memcpy of the same bytes. See --help.
#include <fenix.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "machine.hpp"
#include "operations.hpp"
#include "options.hpp"
#include "report.hpp"
#include "restoring.hpp"
#include "team.hpp"
#include "waits.hpp"

namespace {

using namespace bench;

// Fenix writes to them again after each repair.
MPI_Comm resilient = MPI_COMM_NULL;
int role = -1;

constexpr std::uint64_t kLatencyBytes = 8;

std::vector<Case> all_cases(const Options& options, const std::vector<std::uint64_t>& sizes) {
  std::vector<Case> cases;
  for (const std::string& policy : options.policies) {
    for (const int depth : options.depths) {
      for (const std::string& hashes : options.hashes) {
        for (const std::string& mode : options.modes) {
          for (const std::uint64_t bytes : sizes) cases.push_back({policy, hashes, depth, bytes, mode});
        }
      }
    }
  }
  return cases;
}

std::vector<Result> run_operation(const std::string& name, Subject& subject, const Options& options, double before) {
  if (name == "partial") return time_partial(subject, options);
  if (name == "unchanged") return time_unchanged(subject, options);
  if (name == "inplace") return time_inplace(subject, options);
  if (name == "exchange") return time_exchange(subject, options);
  if (name == "istore") return time_overlap(subject, options);
  if (name == "memory") return measure_memory(subject, before);
  if (name == "allocations") return count_allocations(subject);
  if (name == "instructions") return run_for_callgrind(subject, options);
  return time_storing(subject, options, name);
}

std::string text_of(const Case& of) {
  return of.policy + ", depth " + std::to_string(of.depth) + ", hashes " + of.hashes + ", mode " + of.mode + ", " +
         std::to_string(of.bytes) + " bytes";
}

class Program {
 public:
  Program(const Options& options, const Team& team)
      : options_(options), team_(team), report_(describe_machine(), describe_run()), writes_(team.writes()) {}

  void run() {
    if (role == FENIX_ROLE_INITIAL_RANK) {
      if (writes_) begin_report();
      run_undisturbed();
    }
    const std::vector<Case> cases =
        options_.wants("restore") ? all_cases(options_, options_.sizes) : std::vector<Case>{};
    // Ranks that come later do not know how many groups there have been.
    constexpr int kFirstGroup = 1'000'000;
    Restoring restoring(
        team_, options_, cases, kFirstGroup, [&](const auto& rows) { add(rows); }, [&](const auto& what) { say(what); },
        [&](const auto& what, const auto& why) { leave_out(what, why); });
    restoring.run(role == FENIX_ROLE_RECOVERED_RANK);
    if (!writes_) return;
    if (!options_.csv.empty()) report_.write_csv(options_.csv);
    if (!options_.json.empty()) report_.write_json(options_.json);
  }

 private:
  Description describe_run() {
    const char* const path = std::getenv("FENIX_PATH");
    // Processes that come for the dead must not call the others.
    const std::string nodes = role == FENIX_ROLE_INITIAL_RANK ? std::to_string(team_.nodes()) : "";
    return {{"ranks", std::to_string(team_.size())},
            {"spares", std::to_string(options_.spares)},
            {"nodes", nodes},
            {"path", path == nullptr ? "auto" : path},
            {"thread_level", options_.thread_multiple ? "multiple" : "single"},
            {"waits", waits_of_mpi()},
            {"warmup", std::to_string(options_.warmup)},
            {"repetitions", std::to_string(options_.repetitions)}};
  }

  void begin_report() const {
    for (const std::string& path : {options_.csv, options_.json}) {
      if (!path.empty()) Report::require_writable(path);
    }
    report_.print_header();
  }

  void leave_out(const std::string& what, const std::string& why) const {
    if (writes_) report_.leave_out(what, why);
  }

  void say(const std::string& what) const {
    if (writes_ && !options_.quiet) std::fprintf(stderr, "fenix-bench: %s\n", what.c_str());
  }

  void add(const std::vector<Result>& rows) {
    if (!writes_) return;
    for (const Result& row : rows) report_.add(row);
  }

  void run_undisturbed() {
    std::vector<std::string> at_size, at_8_bytes;
    for (const std::string& name : options_.operations) {
      if (name == "restore") continue;
      (name == "latency" || name == "instructions" ? at_8_bytes : at_size).push_back(name);
    }
    if (!at_size.empty()) run_cases(all_cases(options_, options_.sizes), at_size);
    if (!at_8_bytes.empty()) run_cases(all_cases(options_, {kLatencyBytes}), at_8_bytes);
  }

  void run_cases(const std::vector<Case>& cases, const std::vector<std::string>& operations) {
    std::size_t number = 0;
    for (const Case& of : cases) {
      ++number;
      const std::string where =
          text_of(of) + " (" + std::to_string(number) + " of " + std::to_string(cases.size()) + "): ";
      Subject subject(team_, of, next_group_++);
      const double before = memory_in_use();
      if (const std::string refused = subject.create(); !refused.empty()) {
        if (writes_) report_.add_refused(of, refused);
        continue;
      }
      for (const std::string& name : operations) {
        say(where + name);
        add(run_operation(name, subject, options_, before));
      }
      subject.verify();
      subject.drop();
    }
  }

  const Options& options_;
  const Team& team_;
  Report report_;
  bool writes_;
  int next_group_ = 1;
};

void start_mpi(const Options& options, int& argc, char**& argv) {
  const int wanted = options.thread_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int level = 0;
  MPI_Init_thread(&argc, &argv, wanted, &level);
  if (level < wanted) fail("this MPI does not support MPI_THREAD_MULTIPLE");
}

/// Every rank has read the command line; one of them says what is wrong with it.
void explain(const Parsed& parsed) {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::fputs(parsed.text.c_str(), parsed.status == 0 ? stdout : stderr);
}

}  // namespace

int main(int argc, char** argv) {
  const Parsed parsed = parse_options(argc, argv);
  const Options& options = parsed.options;
  start_mpi(options, argc, argv);
  if (parsed.ends) {
    explain(parsed);
    MPI_Finalize();
    return parsed.status;
  }
  if (!options.path.empty()) setenv("FENIX_PATH", options.path.c_str(), 1);
  check(Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN), "Fenix_set_option");
  int error = FENIX_SUCCESS;
  Fenix_Init(&role, MPI_COMM_WORLD, &resilient, &argc, &argv, options.spares, &error);
  check(error, "Fenix_Init");
  {
    const Team team(resilient);
    Program(options, team).run();
  }
  check(Fenix_Finalize(), "Fenix_Finalize");
  MPI_Finalize();
  return 0;
}
