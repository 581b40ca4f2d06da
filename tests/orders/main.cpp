// SPDX-License-Identifier: BSD-3-Clause
// Random programs against the model: orders_of_calls [--seed N] [--programs N] [--seconds N].
//
// Each program has a seed, which repeats it. Programs run in child processes, because what is searched for may crash. A
// program that fails is made smaller, and printed as calls.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>

#include "orders/plan.hpp"
#include "support/one_processor.hpp"

namespace fenix_orders {
namespace {

constexpr int kDiffers = 3;
constexpr int kSecondsEach = 60;

struct Options {
  std::uint64_t seed = 1;
  long programs = 1000000000;
  long seconds = 1000000000;
  bool shows = false;
  std::set<int> without;  ///< calls that are left out
  int failures = 1;       ///< after so many it stops
};

Program program_of(std::uint64_t seed, const Options& options) {
  Program program = fenix_orders::program_of(seed);
  std::erase_if(program.calls, [&](const Call& call) { return options.without.count(static_cast<int>(call.op)) != 0; });
  return program;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int at = 1; at < argc; ++at) {
    const std::string name = argv[at];
    if (name == "--show") {
      options.shows = true;
      continue;
    }
    if (at + 1 == argc) std::exit(2);
    const std::string value = argv[++at];
    if (name == "--without") options.without.insert(std::stoi(value));
    if (name == "--seed") options.seed = value == "random" ? std::random_device{}() : std::stoull(value);
    if (name == "--programs") options.programs = std::stol(value);
    if (name == "--failures") options.failures = std::stoi(value);
    if (name == "--seconds") options.seconds = std::stol(value);
  }
  return options;
}

/// Message of a child process to its parent, in memory that both have.
struct Told {
  std::uint64_t seed = 0;  ///< of the program that it has begun
  long programs = 0;
  long steps = 0;
  char difference[2000] = {};
};

template <class Body>
int in_child(Body&& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::_Exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

std::string ending(int status, const Told& told) {
  if (WIFSIGNALED(status)) return "  ended by signal " + std::to_string(WTERMSIG(status)) + "\n";
  return told.difference;
}

void start_mpi() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  (void)kinds();
}

Told& shared() {
  static Told& told =
      *new (mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Told;
  return told;
}

/// Returns what differences of the same kind have in common.
std::string kind_of(const std::string& difference) {
  constexpr std::size_t kBegin = 30;
  std::string kind;
  for (const char each : difference.substr(difference.find(':') + 1)) {
    if (std::isalpha(each) != 0 || each == '-') kind += each;
    if (kind.size() == kBegin) break;
  }
  return kind;
}

/// Whether a program still fails in the same way.
bool fails(const Program& program, const std::string& kind) {
  Told& told = shared();
  told.difference[0] = 0;
  const int status = in_child([&] {
    alarm(kSecondsEach);
    const fenix_test::OneProcessor here;
    const Verdict verdict = execute(program);
    std::snprintf(told.difference, sizeof told.difference, "%s", verdict.difference.c_str());
    return verdict.difference.empty() ? 0 : kDiffers;
  });
  if (status != 0)
    std::snprintf(told.difference, sizeof told.difference, "%s", std::string(ending(status, told)).c_str());
  return status != 0 && kind_of(told.difference) == kind;
}

/// Takes calls out as long as it fails, but not for ever: one that waits for others in vain takes long each time.
Program smaller(Program program, const std::string& kind) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kSecondsEach);
  for (std::size_t piece = program.calls.size() / 2; piece > 0;) {
    bool some = false;
    for (std::size_t at = 0; at + piece <= program.calls.size();) {
      Program less = program;
      if (std::chrono::steady_clock::now() > end) return program;
      const auto first = less.calls.begin() + static_cast<std::ptrdiff_t>(at);
      less.calls.erase(first, first + static_cast<std::ptrdiff_t>(piece));
      if (fails(less, kind)) {
        program = less;
        some = true;
      } else {
        at += piece;
      }
    }
    if (!some || piece > 1) piece /= 2;
  }
  return program;
}

void report(const Program& program, const char* name) {
  std::printf("FAILED: seed %llu, %zu calls\n%s", static_cast<unsigned long long>(program.seed), program.calls.size(),
              shared().difference);
  // In a process of its own: MPI must not be started in the one that makes others.
  in_child([&] {
    start_mpi();
    const std::string kind = kind_of(shared().difference);
    const Program small = smaller(program, kind);
    const bool again = fails(small, kind);
    std::printf("minimal program%s: %s%s", again ? "" : " (does not fail each time)", text_of(small).c_str(),
                shared().difference);
    std::fflush(stdout);
    MPI_Finalize();
    return 0;
  });
  std::printf("repeat it with: %s --seed %llu --programs 1\n", name, static_cast<unsigned long long>(program.seed));
  std::fflush(stdout);
}

/// Runs programs until one fails, or enough have been run.
int run_some(const Options& options, std::chrono::steady_clock::time_point end) {
  constexpr long kInAProcess = 5000;
  Told& told = shared();
  return in_child([&] {
    start_mpi();
    const fenix_test::OneProcessor here;
    for (long count = 0;
         count < kInAProcess && told.programs < options.programs && std::chrono::steady_clock::now() < end; ++count) {
      alarm(kSecondsEach);
      const Verdict verdict = execute(program_of(told.seed, options));
      ++told.programs;
      told.steps += verdict.steps;
      if (!verdict.difference.empty()) {
        std::snprintf(told.difference, sizeof told.difference, "%s", verdict.difference.c_str());
        MPI_Finalize();
        return kDiffers;
      }
      ++told.seed;
    }
    MPI_Finalize();  // or a segment of Open MPI stays in /dev/shm
    return 0;
  });
}

int run(const Options& options, const char* name) {
  const auto start = std::chrono::steady_clock::now();
  const auto end = start + std::chrono::seconds(options.seconds);
  Told& told = shared();
  told.seed = options.seed;
  int failures = 0;
  while (failures < options.failures && told.programs < options.programs && std::chrono::steady_clock::now() < end) {
    const int status = run_some(options, end);
    if (status == 0) continue;
    if (WIFSIGNALED(status)) ++told.programs;
    std::snprintf(told.difference, sizeof told.difference, "%s", std::string(ending(status, told)).c_str());
    ++failures;
    report(program_of(told.seed, options), name);
    ++told.seed;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%ld programs from seed %llu on, %ld steps of ranks, %.0f s, %d failed\n", told.programs,
              static_cast<unsigned long long>(options.seed), told.steps, seconds, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace fenix_orders

int main(int argc, char** argv) {
  const auto options = fenix_orders::options_of(argc, argv);
  if (!options.shows) return fenix_orders::run(options, argv[0]);
  fenix_orders::start_mpi();
  std::fputs(fenix_orders::text_of(fenix_orders::program_of(options.seed)).c_str(), stdout);
  return 0;
}
