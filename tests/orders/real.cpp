// SPDX-License-Identifier: BSD-3-Clause
// Random programs on real ranks, with real deaths. Every process makes the plan of the same program, and does the steps of its own rank;
// at the end of a phase the ranks that are to die kill themselves, spares take their places, and all go on.
//
//   orders_under_mpirun --ranks N [--seed N] [--programs N] [--mode jump] [--keep N,N,…] [--show yes]
//
// Programs have the seeds N, N + 1, … Ranks of mpirun beyond --ranks are spares; the job ends before a program that has more deaths than
// spares are left. --keep: of the calls of a program, only those with these numbers. tests/orders/under-mpirun runs many jobs.
#include <fenix.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <set>

#include "orders/plan.hpp"

namespace fenix_orders {

std::string expect_code(const char* call, int code, int expected) {
  if (code == expected) return {};
  const std::string why = code < 0 ? std::string(" (") + Fenix_Error_message() + ")" : "";
  return std::string(call) + " returned " + number(code) + " instead of " + number(expected) + why;
}

namespace {

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t programs = 1;
  int ranks = 1;
  bool jumps = false;
  bool shows = false;
  std::set<int> keep;  ///< empty: all
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string name = argv[at];
    std::string value = argv[at + 1];
    if (name == "--seed") options.seed = std::stoull(value);
    if (name == "--programs") options.programs = std::stoull(value);
    if (name == "--ranks") options.ranks = std::stoi(value);
    if (name == "--mode") options.jumps = value == "jump";
    if (name == "--show") options.shows = true;
    if (name != "--keep") continue;
    options.keep.insert(-1);
    for (std::size_t end = 0; !value.empty(); value.erase(0, end + 1)) {
      options.keep.insert(std::stoi(value, &end));
      if (end == value.size()) break;
    }
  }
  return options;
}

/// Returns the program of a seed, which deletes its groups at its end.
Program program_of(std::uint64_t seed, const Options& options) {
  Program whole = fenix_orders::program_of(seed);
  Program program{seed, options.ranks, {}};
  std::set<int> groups;
  for (std::size_t at = 0; at < whole.calls.size(); ++at) {
    if (!options.keep.empty() && options.keep.count(static_cast<int>(at)) == 0) continue;
    program.calls.push_back(whole.calls[at]);
    groups.insert(whole.calls[at].group);
  }
  for (const int group : groups) program.calls.push_back({Op::delete_group, group, 0, seed});
  return program;
}

int deaths_of(const Program& program) {
  Planner planner(program, false);
  Phase phase;
  std::size_t deaths = 0;
  while (planner.next(phase)) deaths += phase.dying.size();
  return static_cast<int>(deaths);
}

/// A program on this rank.
class Played {
 public:
  /// phase: number of phases that others have done, and this rank has not.
  Played(const Options& options, std::uint64_t seed, std::uint64_t phase)
      : program_(program_of(seed, options)), planner_(program_, true) {
    while (number_ < phase && next()) {
    }
  }

  bool next() {
    ++number_;
    return planner_.next(phase_);
  }
  [[nodiscard]] std::uint64_t seed() const { return program_.seed; }
  /// Returns the number of phases that have begun.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const std::vector<int>& dying() const { return phase_.dying; }
  [[nodiscard]] bool ends(int rank) const {
    return std::find(phase_.dying.begin(), phase_.dying.end(), rank) != phase_.dying.end();
  }

  /// Does the steps of a rank in this phase. Returns the first difference.
  std::string play(int rank, MPI_Comm comm) {
    real_.rank = rank;
    real_.comm = comm;
    for (const Step& step : phase_.steps[static_cast<std::size_t>(rank)]) {
      const std::string difference = step.work(real_);
      if (!difference.empty()) return difference + " [" + step.text + "]";
    }
    return {};
  }

 private:
  Program program_;
  Planner planner_;
  Phase phase_;
  std::uint64_t number_ = 0;
  Real real_;
};

/// The programs of a job, on this rank. In resume mode "jump", control leaves agree() and meet_deaths() for Fenix_Init: no object with a
/// destructor lives in the frames between.
class Job {
 public:
  Job(const Options& options, int spares) : options_(options), spares_(spares), seed_(options.seed) {}

  MPI_Comm comm = MPI_COMM_NULL;
  int role = -1;
  int repairs = 0;

  /// Does what is left to do, from the beginning, after a jump, or on a replacement.
  void go_on() {
    MPI_Comm_rank(comm, &rank_);
    if (role == FENIX_ROLE_SURVIVOR_RANK && !expects_deaths_) fail("a failure, without a death");
    if (role != FENIX_ROLE_INITIAL_RANK) agree();
    while (played_ || begin()) {
      play();
      if (!played_) continue;
      meet_deaths();
      agree();
    }
    if (rank_ == 0) std::printf("orders: end %llu\n", static_cast<unsigned long long>(seed_));
  }
  [[nodiscard]] int rank() const { return rank_; }

 private:
  [[noreturn]] void fail(const std::string& difference) const {
    std::printf("FENIX-TEST-FAIL seed %llu, rank %d, phase %llu: %s\n", static_cast<unsigned long long>(seed_), rank_,
                static_cast<unsigned long long>(played_ ? played_->number() : 0), difference.c_str());
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 3);
    std::abort();
  }

  /// Returns false if there is no program left, or too few spares for the next one.
  bool begin() {
    if (seed_ == options_.seed + options_.programs) return false;
    const int deaths = deaths_of(program_of(seed_, options_));
    if (rank_ == 0) std::printf("orders: seed %llu has %d deaths\n", static_cast<unsigned long long>(seed_), deaths);
    if (rank_ == 0 && options_.shows) std::fputs(text_of(program_of(seed_, options_)).c_str(), stdout);
    std::fflush(stdout);
    if (deaths > spares_) return false;
    played_ = std::make_unique<Played>(options_, seed_, 0);
    return true;
  }

  /// Does the steps up to the next deaths, or to the end of the program.
  void play() {
    const int before = repairs;
    while (played_->next()) {
      const std::string difference = played_->play(rank_, comm);
      if (!difference.empty()) fail(difference);
      if (repairs != before) fail("a failure, without a death");
      if (!played_->dying().empty()) return;
    }
    played_.reset();
    ++seed_;
  }

  /// Returns after a repair. The deaths come when all ranks have done their steps.
  void meet_deaths() {
    expects_deaths_ = true;
    const int before = repairs;
    MPI_Barrier(comm);
    if (played_->ends(rank_)) raise(SIGKILL);
    while (repairs == before) MPI_Barrier(comm);
  }

  /// Tells replacements where the program is. When this is done, all that were to die have died and have been replaced: they take no part.
  void agree() {
    if (played_ && played_->ends(rank_)) raise(SIGKILL);
    const std::array<std::uint64_t, 3> own = {played_ ? seed_ : 0, played_ ? played_->number() : 0,
                                              played_ ? static_cast<std::uint64_t>(spares_) : 0};
    std::array<std::uint64_t, 3> all{};
    while (MPI_Allreduce(own.data(), all.data(), 3, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS) {
      if (++failures_ > 100) fail("MPI_Allreduce fails again and again");
    }
    take_place(all[0], all[1], static_cast<int>(all[2]));
  }

  void take_place(std::uint64_t seed, std::uint64_t phase, int spares) {
    expects_deaths_ = false;
    const bool is_new = !played_;
    seed_ = seed;
    if (is_new) played_ = std::make_unique<Played>(options_, seed, phase);
    if (is_new && !played_->ends(rank_)) fail("a rank has been replaced that was not to die");
    spares_ = spares - static_cast<int>(played_->dying().size());
  }

  Options options_;
  int spares_;
  std::uint64_t seed_;
  int rank_ = -1;
  int failures_ = 0;
  bool expects_deaths_ = false;
  std::unique_ptr<Played> played_;
};

void count_repair(MPI_Comm, int, void* job) { ++static_cast<Job*>(job)->repairs; }

}  // namespace
}  // namespace fenix_orders

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const auto options = fenix_orders::options_of(argc, argv);
  static int processes = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  static fenix_orders::Job job(options, processes - options.ranks);
  Fenix_set_option(FENIX_RESUME_MODE, options.jumps ? FENIX_RESUME_JUMP : FENIX_RESUME_RETURN);
  static int error = 0;
  Fenix_Init(&job.role, MPI_COMM_WORLD, &job.comm, &argc, &argv, processes - options.ranks, &error);
  if (error != FENIX_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  static bool registered = false;
  if (!registered) Fenix_Callback_register(fenix_orders::count_repair, &job);
  registered = true;
  job.go_on();
  Fenix_Finalize();
  std::printf("FENIX-TEST-OK rank %d\n", job.rank());
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
