// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "report.hpp"

namespace bench {

namespace {

std::string text_of(const Case& of) {
  return "policy " + of.policy + ", depth " + std::to_string(of.depth) + ", hashes " + of.hashes + ", mode " + of.mode;
}

std::string list(const Description& description) {
  std::string text;
  for (const auto& [name, value] : description) text += (text.empty() ? "" : "; ") + name + " " + value;
  return text;
}

void print_times(const Times& times) {
  const Summary of = summarize(times.slowest);
  std::printf(" %13.3f %13.3f %13.3f %7.1f", of.median * 1e6, of.min * 1e6, of.max * 1e6,
              summarize(times.spread).median * 100);
}

void print_ratio(const Times& times, const Times& copy) {
  const Ratio of = ratio(times, copy);
  std::printf(" %13.3f %8.3f %8.3f %8.3f %8.3f", summarize(copy.slowest).median * 1e6, of.median, of.min, of.max,
              of.of_least);
}

}  // namespace

Report::Report(Description machine, Description run) : machine_(std::move(machine)), run_(std::move(run)) {}

void Report::print_header() const {
  std::printf("# fenix-bench: the data functions of fenix against memcpy\n");
  std::printf("# machine: %s\n", list(machine_).c_str());
  std::printf("# run: %s\n", list(run_).c_str());
  std::printf("# Times are those of the slowest rank, in microseconds: median, least and most of the repetitions.\n");
  std::printf(
      "# Ranks: how much faster the fastest rank was. Memcpy: median for the same bytes, on all ranks at once.\n");
  std::printf(
      "# Ratio: of the two medians; least and most of any one repetition; of the least times, which other work on the\n"
      "# machine disturbs least.\n");
  std::fflush(stdout);
}

void Report::print_case(const Case& of) {
  if (text_of(of) == printed_) return;
  printed_ = text_of(of);
  std::printf("\n# %s\n%-21s %12s %13s %13s %13s %7s %13s %8s %8s %8s %8s\n", printed_.c_str(), "# Operation", "Bytes",
              "Median", "Min", "Max", "Ranks/%", "Memcpy", "Ratio", "Min", "Max", "Least");
}

void Report::add(const Result& result) {
  print_case(result.of);
  std::printf("%-21s %12llu", result.operation.c_str(), static_cast<unsigned long long>(result.of.bytes));
  if (result.times) print_times(*result.times);
  if (result.times && result.copy) print_ratio(*result.times, *result.copy);
  for (const auto& [name, value] : result.more) std::printf("  %s=%.6g", name.c_str(), value);
  std::printf("\n");
  std::fflush(stdout);
  results_.push_back(result);
}

void Report::leave_out(const std::string& what, const std::string& why) const {
  std::printf("\n# %s: left out: %s\n", what.c_str(), why.c_str());
  std::fflush(stdout);
}

void Report::add_refused(const Case& of, const std::string& why) {
  leave_out(text_of(of) + ", " + std::to_string(of.bytes) + " bytes", why);
  refused_.emplace_back(of, why);
}

}  // namespace bench
