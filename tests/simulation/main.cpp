// SPDX-License-Identifier: BSD-3-Clause
// Command line of the simulator: scripts/simulate --help describes it.
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "image.hpp"
#include "isolated.hpp"
#include "run.hpp"
#include "scale.hpp"
#include "search.hpp"
#include "shrink.hpp"

namespace fenix_simulation {
namespace {

Image* the_image = nullptr;

struct Options {
  std::string replay;
  std::string shrink;
  std::string print;
  std::string to;
  bool trace = false;
  bool hashes = false;
  std::uint64_t seeds = 0;
  SearchOptions search;
};

// An exception that nothing catches ends the process that it is in.
void end_by_exception() {
  if (has_world() && present_process() != nullptr) {
    std::string text = "an exception that nobody catches";
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const std::exception& error) {
      text += std::string(": ") + error.what();
    } catch (...) {
      text += " of an unknown type";
    }
    world().violate(text, "P3");
  }
  std::abort();
}

std::uint64_t seed_in(const std::string& text) { return text == "random" ? std::random_device()() : std::stoull(text); }

Options read_options(const std::vector<std::string>& words) {
  Options options;
  options.search.seconds = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&]() -> const std::string& {
      if (++i == words.size()) throw std::runtime_error(word + " needs a value");
      return words[i];
    };
    if (word == "--minutes")
      options.search.seconds = 60 * std::stod(value());
    else if (word == "--seconds")
      options.search.seconds = std::stod(value());
    else if (word == "--schedules")
      options.search.schedules = std::stoull(value());
    else if (word == "--jobs")
      options.search.jobs = std::stoi(value());
    else if (word == "--seed")
      options.search.first_seed = seed_in(value());
    else if (word == "--seeds")
      options.seeds = std::stoull(value());
    else if (word == "--folder")
      options.search.folder = value();
    else if (word == "--unguided")
      options.search.guided = false;
    else if (word == "--stores")
      draw_stores_only();
    else if (word == "--coverage")
      options.search.lists_points = true;
    else if (word == "--until-failure")
      options.search.until_failure = true;
    else if (word == "--replay")
      options.replay = value();
    else if (word == "--print")
      options.print = value();
    else if (word == "--shrink")
      options.shrink = value();
    else if (word == "--to")
      options.to = value();
    else if (word == "--trace")
      options.trace = true;
    else if (word == "--hashes")
      options.hashes = true;
    else
      throw std::runtime_error("unknown option " + word);
  }
  return options;
}

/// Reads a schedule from a file, or draws that of a seed.
Schedule schedule_of(const std::string& what) {
  if (std::ifstream file(what); file) return schedule_in({std::istreambuf_iterator<char>(file), {}});
  return draw_schedule(std::stoull(what));
}

void print(const Outcome& outcome) {
  for (const std::string& line : outcome.lines) std::puts(line.c_str());
  std::printf("%s%s%s; %.3f virtual ms, %llu switches, %zu events, %d restores, %d ranks done, hash %016llx\n",
              outcome.verdict.is_good() ? "good" : outcome.verdict.promise.c_str(),
              outcome.verdict.is_good() ? "" : " BROKEN: ", outcome.verdict.text.c_str(),
              static_cast<double>(outcome.time) / 1e6, static_cast<unsigned long long>(outcome.switches),
              outcome.happened.size(), outcome.restores, outcome.done, static_cast<unsigned long long>(outcome.hash));
}

int run_seeds(const Options& options) {
  std::uint64_t failures = 0;
  for (std::uint64_t i = 0; i < options.seeds; ++i) {
    const std::uint64_t seed = options.search.first_seed + i;
    const Outcome outcome = run_isolated(draw_schedule(seed));
    if (options.hashes)
      std::printf("%llu %016llx\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(outcome.hash));
    if (outcome.verdict.is_good()) continue;
    ++failures;
    std::printf("seed %llu: ", static_cast<unsigned long long>(seed));
    print(outcome);
  }
  return failures == 0 ? 0 : 1;
}

int replay(const Options& options) {
  const Outcome outcome = run(schedule_of(options.replay), options.trace);
  print(outcome);
  return outcome.verdict.is_good() ? 0 : 1;
}

int shrink(const Options& options) {
  const Schedule smallest = shrunk(schedule_of(options.shrink));
  const std::string text = text_of(smallest);
  if (!options.to.empty()) std::ofstream(options.to) << text;
  std::fputs(text.c_str(), stdout);
  print(run_isolated(smallest));
  return 0;
}

int act(const Options& options) {
  if (!options.print.empty()) return std::fputs(text_of(schedule_of(options.print)).c_str(), stdout) < 0 ? 1 : 0;
  if (!options.replay.empty()) return replay(options);
  if (!options.shrink.empty()) return shrink(options);
  if (options.seeds > 0) return run_seeds(options);
  return search(options.search) == 0 ? 0 : 1;
}

}  // namespace

Image& image_of_program() { return *the_image; }

}  // namespace fenix_simulation

extern "C" int fenix_simulation_main(int argc, char** argv, char* begin, char* end) {
  using namespace fenix_simulation;
  the_image = new Image({reinterpret_cast<std::byte*>(begin), reinterpret_cast<std::byte*>(end)});
  std::set_terminate(end_by_exception);
  // A program that crashes would leave a file of the size of all that is reserved.
  const rlimit no_file{0, 0};
  setrlimit(RLIMIT_CORE, &no_file);
  int status = 2;
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    status = !words.empty() && words[0] == "--scale" ? run_scale(words) : act(read_options(words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulate: %s\n", error.what());
  }
  // All that the library has for the end of a process is not for this one.
  std::fflush(stdout);
  _exit(status);
}
