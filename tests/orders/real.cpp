// SPDX-License-Identifier: BSD-3-Clause
// Random programs on real ranks, with real deaths. Every process makes the plan of the same program, and does the steps of its own rank. At
// the end of a phase, or in its last commits, the ranks that are to die kill themselves. Spares take their places, and all go on.
//
//   orders_under_mpirun --ranks N [--seed N] [--programs N] [--mode jump] [--keep N,N,…] [--show yes]
//
// Programs have the seeds N, N + 1, … Ranks of mpirun beyond --ranks are spares; the job ends before a program that has more deaths than
// spares are left. --keep: of the calls of a program, only those with these numbers. tests/orders/under-mpirun runs many jobs.
#include <fenix.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "orders/played.hpp"

namespace fenix_orders {

std::string expect_code(const char* call, int code, int expected) {
  if (code == expected) return {};
  const std::string why = code < 0 ? std::string(" (") + Fenix_Error_message() + ")" : "";
  return std::string(call) + " returned " + number(code) + " instead of " + number(expected) + why;
}

namespace {

/// Steps of a rank in which others may die.
struct Progress {
  std::uint64_t begun = 0;  ///< commits
  std::uint64_t done = 0;
};

constexpr std::uint64_t kManyCommits = 1000;

const std::string kCancelled = "returned " + number(FENIX_ERROR_CANCELLED) + " ";

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
    played_ = std::make_unique<Played>(options_, seed_, 0, 0);
    return true;
  }

  /// Does the steps up to the next deaths, or to the end of the program.
  void play() {
    while (played_->next()) {
      const Phase& phase = played_->phase();
      before_ = repairs;
      progress_ = {};
      // A jump would leave the frames of steps.
      cuts_ = !options_.jumps && !phase.open_from.empty();
      play_steps(phase.steps[static_cast<std::size_t>(rank_)]);
      if (!phase.stamps.empty()) look(phase);
      if (!phase.dying.empty()) return;
    }
    played_.reset();
    ++seed_;
  }

  void play_steps(const std::vector<Step>& steps) {
    const auto at_rank = static_cast<std::size_t>(rank_);
    const bool ends = cuts_ && played_->ends(rank_);
    const std::size_t open = cuts_ ? played_->phase().open_from[at_rank] : steps.size();
    for (std::size_t at = 0; at < steps.size(); ++at) {
      if (at == open) MPI_Barrier(comm);
      if (at >= open && repairs != before_) return;
      if (ends && at == played_->phase().dies_before[at_rank]) die(steps[at]);
      if (at >= open) progress_.begun += steps[at].commits ? 1 : 0;
      const std::string difference = played_->play(steps[at], rank_, comm);
      if (repairs != before_ && at < open) fail("a failure, without a death; " + difference);
      const bool is_cut = repairs != before_ && difference.find(kCancelled) != std::string::npos;
      if (!difference.empty() && !is_cut) fail(difference);
      if (at >= open && difference.empty()) progress_.done += steps[at].commits ? 1 : 0;
    }
  }

  /// Dies before a step, or in it: when, is up to the clock.
  void die(const Step& step) {
    if (!played_->dies_in_step(rank_)) raise(SIGKILL);
    std::thread([microseconds = played_->microseconds(rank_)] {
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
      raise(SIGKILL);
    }).detach();
    played_->play(step, rank_, comm);
    raise(SIGKILL);
  }

  /// Finds out which commits are there. A commit that all ranks had done has to be, and one that no rank had begun cannot be.
  void look(const Phase& phase) {
    int count = 0;
    int stamp = kNone;
    Fenix_Data_group_get_number_of_snapshots(phase.cut_group, &count);
    if (count > 0) Fenix_Data_group_get_snapshot_at_position(phase.cut_group, 0, &stamp);
    const std::array<int, 2> own = {stamp, -stamp};
    std::array<int, 2> most{};
    if (MPI_Allreduce(own.data(), most.data(), 2, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS) fail("MPI_Allreduce");
    const std::string text = "after the deaths, the newest time stamp is " + number(stamp);
    if (most[0] != -most[1]) fail(text + ", and another one on another rank");
    const auto found = std::find(phase.stamps.begin(), phase.stamps.end(), stamp);
    const auto commits = static_cast<std::uint64_t>(found - phase.stamps.begin());
    if (found == phase.stamps.end() || commits < least_ || commits > most_) {
      fail(text + ", which is none of those after " + std::to_string(least_) + " to " + std::to_string(most_) +
           " commits, which begin with " + number(phase.stamps[0]));
    }
    if (rank_ == 0 && most_ > least_)
      std::printf("orders: %d commits, %d at least\n", static_cast<int>(commits), static_cast<int>(least_));
    played_->tell(commits);
  }

  /// Returns after a repair. Deaths after all steps come when all ranks have done theirs.
  void meet_deaths() {
    expects_deaths_ = true;
    if (!cuts_) MPI_Barrier(comm);
    if (played_->ends(rank_)) raise(SIGKILL);
    while (repairs == before_) MPI_Barrier(comm);
  }

  /// Tells replacements where the program is. When this is done, all that were to die have died and have been replaced: they take no part.
  void agree() {
    if (played_ && played_->ends(rank_)) raise(SIGKILL);
    std::array<std::uint64_t, 6> own{};
    if (played_) {
      own = {seed_,
             played_->number(),
             static_cast<std::uint64_t>(spares_),
             played_->outcomes(),
             progress_.begun,
             kManyCommits - progress_.done};
    }
    std::array<std::uint64_t, 6> all{};
    while (MPI_Allreduce(own.data(), all.data(), 6, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS) {
      if (++failures_ > 100) fail("MPI_Allreduce fails again and again");
    }
    expects_deaths_ = false;
    seed_ = all[0];
    if (!played_) {
      played_ = std::make_unique<Played>(options_, seed_, all[1], all[3]);
      if (!played_->ends(rank_)) fail("a rank has been replaced that was not to die");
    }
    spares_ = static_cast<int>(all[2]) - static_cast<int>(played_->phase().dying.size());
    if (!played_->phase().open_from.empty()) limit(all[4], kManyCommits - all[5]);
  }

  /// Notes how many of the last commits may be there.
  void limit(std::uint64_t begun, std::uint64_t done) {
    const Phase& phase = played_->phase();
    most_ = begun;
    least_ = done;
    if (options_.jumps) {
      most_ = least_ = static_cast<std::uint64_t>(
          std::count_if(phase.steps[0].begin() + static_cast<std::ptrdiff_t>(phase.open_from[0]), phase.steps[0].end(),
                        [](const Step& step) { return step.commits; }));
      return;
    }
    for (const int rank : phase.dying) {
      most_ = std::max(most_, played_->commits_before_death(rank) + (played_->dies_in_step(rank) ? 1 : 0));
      // The death of another one may have cut it short earlier.
      least_ = phase.dying.size() > 1 ? 0 : std::min(least_, played_->commits_before_death(rank));
    }
  }

  Options options_;
  int spares_;
  std::uint64_t seed_;
  int rank_ = -1;
  int failures_ = 0;
  int before_ = 0;  ///< repairs before the phase
  bool expects_deaths_ = false;
  bool cuts_ = false;  ///< ranks die while others do their steps
  Progress progress_;
  std::uint64_t least_ = 0;  ///< of the last commits are there
  std::uint64_t most_ = 0;
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
