// SPDX-License-Identifier: BSD-3-Clause
// Has the job that runs on a store end, by itself: Fenix_Process_should_halt says so on all its ranks. Needs no MPI.
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include "base/environment.hpp"
#include "run_tool.hpp"
#include "store/halt.hpp"
#include "store/posix_file_system.hpp"
#include "store/store.hpp"

using namespace fenix_impl;

namespace {

constexpr int kGoesOn = 2;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Runs are counted, and fenix-run is the only one that starts them.
void pass_on(FileSystem& files, const std::string& root, HaltConditions wish) {
  ++wish.run;
  write_halt(files, root, wish);
}

int print_settings() {
  const auto mistakes = environment::mistakes_in_files();
  for (const std::string& each : mistakes) std::fprintf(stderr, "%s\n", each.c_str());
  for (const std::string& each : environment::set_values()) std::puts(each.c_str());
  return mistakes.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Has the job that runs on a store of Fenix end by itself, at the next call of Fenix_Process_should_halt. Without "
      "an option: at once. The next start by fenix-run is told, too; a job that is started in another way is not."};
  std::string root = environment::text("FENIX_STORE");
  std::optional<std::uint64_t> commits;
  std::optional<std::int64_t> after;
  std::optional<std::int64_t> before;
  std::string reason;
  bool removes = false;
  bool shows = false;
  bool checks = false;
  bool passes_on = false;
  bool tells_settings = false;
  app.add_option("store", root, "folder of the store (FENIX_STORE)");
  app.add_option("--commits", commits, "after so many more commits of its first rank");
  app.add_option("--after", after, "in so many seconds");
  app.add_option("--before", before, "FENIX_HALT_SECONDS before this time, in seconds since 1970");
  app.add_option("--reason", reason, "one line for its log");
  app.add_flag("--remove", removes, "takes the wish back");
  app.add_flag("--show", shows, "prints the wish");
  app.add_flag("--relaunch", passes_on, "has the wish hold for the next start of the latest job; fenix-run does so");
  app.add_flag(
      "--check", checks,
      "status 0 if the latest job has come to its end, or a time to end has passed; 2 if it should be started again");
  app.add_flag("--settings", tells_settings, "prints all settings that are not defaults, a line each, for fenix-run");
  CLI11_PARSE(app, argc, argv);
  if (tells_settings) return print_settings();
  if (root.empty()) throw CLI::RequiredError("store");
  PosixFileSystem files;
  const Store store_of_job(files, root);
  const std::uint32_t latest = store_of_job.latest_run();
  const auto there = read_halt(files, root);
  if (checks) {
    const bool has_ended = latest != 0 && store_of_job.has_finished(latest);
    const bool is_over = there && there->run == latest &&
                         ((there->at && now() >= *there->at) || (there->before && now() >= *there->before));
    return has_ended || is_over ? EXIT_SUCCESS : kGoesOn;
  }
  if (shows) {
    if (there) std::printf("%s", text_of(*there).c_str());
    return EXIT_SUCCESS;
  }
  if (passes_on) {
    if (there && there->run == latest) pass_on(files, root, *there);
    return EXIT_SUCCESS;
  }
  if (removes) {
    files.remove(root + "/halt");
    files.sync_folder(root);
    return EXIT_SUCCESS;
  }
  if (latest == 0) throw std::runtime_error(root + " is no store, or no job has run on it");
  if (reason.find('\n') != std::string::npos) throw CLI::ValidationError("--reason", "has several lines");
  if (reason.size() > HaltConditions::kMostReasonBytes)
    throw CLI::ValidationError("--reason", "is longer than 1000 bytes");
  HaltConditions conditions{latest, commits, {}, before, reason};
  if (after) conditions.at = now() + *after;
  if (!commits && !after && !before) conditions.at = 0;
  write_halt(files, root, conditions);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) { return run_tool("fenix-halt", run, argc, argv); }
