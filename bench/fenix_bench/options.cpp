// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "policy.hpp"

namespace bench {

namespace {

const std::vector<std::string> kAll{
    "store",  "commit", "commit_barrier", "store_commit_barrier", "partial", "unchanged", "inplace", "exchange",
    "istore", "memory", "latency",        "allocations",          "restore"};

const char* const kAbout =
    R"(Times the data functions of fenix against memcpy.

Start it as any MPI program, with as many ranks as you want to measure:

  mpirun --with-ft ulfm -n 2 fenix-bench --sizes 1M,64M
  mpirun --with-ft ulfm -n 4 fenix-bench --policies buddy,xor:4 --ops store_commit_barrier,partial
  mpirun --with-ft ulfm -n 4 fenix-bench --ops restore --spares 2          (2 ranks, 2 spares, 2 deaths)

Each rank protects one member of the given size. A time is that of the slowest rank; before it, all ranks meet in a
barrier. In the same loop all ranks copy the same number of bytes with memcpy, from the member's buffer to another one;
the ratio is that of the two medians. At the end of each case what was stored is restored and compared.)";

const char* const kMore =
    R"(Operations:
  store_commit_barrier  Fenix_Data_member_store and Fenix_Data_commit_barrier: what a program does at each step
  store, commit, commit_barrier   the parts alone
  partial               the same for a block of 1 % of the elements, that moves; beside that of all elements
  unchanged             store_commit_barrier of everything, when 100, 99, 90, 50 and 0 % of the blocks are as they were
  exchange              store_commit_barrier beside MPI_Sendrecv of the same bytes with the rank half of all ranks further on
  inplace               computing the data in the slot itself and store_commit_barrier; beside computing it in a buffer
  istore                Fenix_Data_member_istore: time in the call, then a loop that only computes, while the protection
                        goes on; beside the same loop alone
  latency               store_commit_barrier of 8 bytes, again and again (whatever --sizes)
  restore               a rank is killed; then the repair, Fenix_Data_group_create (rebuilds what the dead held) and
                        Fenix_Data_member_restore. Needs --spares: each death takes one
  memory                bytes that a rank has in use for the data
  allocations           calls of malloc and mmap for each store and commit
  instructions          store and commit of 8 bytes in functions of their own, to be counted with
                        valgrind --tool=callgrind --toggle-collect='fenix_bench_steady_*'
  all                   all but the last

Policies:
  buddy[@S]             copies on pairs of ranks, separation S (default: half of the ranks)
  ring[@S]              a copy on the rank S further on
  xor:G[@S]             parity over groups of G ranks, separation S (default 1)
  rs:G+M[@S]            Reed-Solomon over groups of G ranks, M of which may die
  local                 on no other rank

Sizes are bytes for each rank; K, M, G are powers of 1024. Lists are separated by commas; all combinations are run.
Variables of the environment that the library knows (FENIX_PATH, FENIX_LOG, …) have their meaning here too.)";

void spell_out(std::vector<std::string>& operations) {
  std::vector<std::string> spelt;
  for (std::string name : operations) {
    std::replace(name.begin(), name.end(), '+', '_');
    if (name == "all") {
      spelt.insert(spelt.end(), kAll.begin(), kAll.end());
    } else {
      spelt.push_back(name);
    }
  }
  operations = spelt;
}

std::string check_operation(std::string name) {
  std::replace(name.begin(), name.end(), '+', '_');
  const bool known = name == "all" || name == "instructions" || std::find(kAll.begin(), kAll.end(), name) != kAll.end();
  return known ? "" : "there is no operation \"" + name + "\"";
}

std::string check_policy(const std::string& text) { return parse_policy(text) ? "" : "no policy: \"" + text + "\""; }

void declare(CLI::App& app, Options& options, bool& count_allocations) {
  app.add_option("--ops", options.operations, "what to time (see below)")->delimiter(',')->check(check_operation);
  app.add_option("--sizes", options.sizes, "bytes for each rank")->delimiter(',')->transform(CLI::AsSizeValue(false));
  app.add_option("--policies", options.policies, "who protects whom (see below)")->delimiter(',')->check(check_policy);
  app.add_option("--hashes", options.hashes, "on, off, or both: hashes of what is stored")
      ->delimiter(',')
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--depths", options.depths, "snapshots kept besides the newest")
      ->delimiter(',')
      ->check(CLI::Range(0, 4095));
  app.add_option("--modes", options.modes,
                 "usual, in_place, or allocated: in place, with buffers that the library allocates")
      ->delimiter(',')
      ->check(CLI::IsMember({"usual", "in_place", "allocated"}));
  app.add_option("--repetitions", options.repetitions, "counted repetitions")->check(CLI::PositiveNumber);
  app.add_option("--warmup", options.warmup, "repetitions before them, not counted")->check(CLI::NonNegativeNumber);
  app.add_option("--path", options.path, "how data gets to other ranks; default: the library chooses")
      ->check(CLI::IsMember({"map", "fabric", "window", "auto"}));
  app.add_option("--spares", options.spares, "ranks held in reserve, out of those started; for restore")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--latency-iterations", options.latency_iterations, "for latency and instructions")
      ->check(CLI::PositiveNumber);
  app.add_option("--compute-factor", options.compute_factor,
                 "for istore: length of the loop, in times of the protection")
      ->check(CLI::PositiveNumber);
  app.add_flag("--count-allocations", count_allocations, "adds the operation allocations");
  app.add_flag("--thread-multiple", options.thread_multiple, "start MPI with MPI_THREAD_MULTIPLE");
  app.add_option("--csv", options.csv, "file to write all figures to, as comma-separated values");
  app.add_option("--json", options.json, "file to write all figures to, as JSON, with those of each repetition");
  app.add_flag("--quiet", options.quiet, "no progress on stderr");
}

}  // namespace

bool Options::wants(const std::string& operation) const {
  return std::find(operations.begin(), operations.end(), operation) != operations.end();
}

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  bool count_allocations = false;
  CLI::App app(kAbout, "fenix-bench");
  app.footer(kMore);
  app.option_defaults()->always_capture_default();
  declare(app, parsed.options, count_allocations);
  try {
    app.parse(argc, argv);
    spell_out(parsed.options.operations);
    if (count_allocations && !parsed.options.wants("allocations")) parsed.options.operations.push_back("allocations");
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    parsed.ends = true;
    parsed.status = app.exit(error, text, text) == 0 ? 0 : 2;
    parsed.text = text.str();
  }
  return parsed;
}

}  // namespace bench
