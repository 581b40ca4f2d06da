// SPDX-License-Identifier: BSD-3-Clause
// The options of the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Options {
  std::vector<std::string> operations{"store_commit_barrier"};
  std::vector<std::uint64_t> sizes{std::uint64_t{1} << 20, std::uint64_t{1} << 24, std::uint64_t{1} << 26};
  std::vector<std::string> policies{"buddy"};
  std::vector<std::string> hashes{"on"};
  std::vector<int> depths{0};
  std::vector<std::string> modes{"usual"};
  int repetitions = 10;
  int warmup = 3;
  int spares = 0;
  int latency_iterations = 10'000;
  double compute_factor = 4;
  std::string path;  // empty: what FENIX_PATH says
  std::string csv;
  std::string json;
  bool thread_multiple = false;
  bool quiet = false;

  [[nodiscard]] bool wants(const std::string& operation) const;
};

/// What came of reading the command line: options, or a text for the user and the status to end with.
struct Parsed {
  Options options;
  bool ends = false;
  int status = 0;
  std::string text;
};

Parsed parse_options(int argc, char** argv);

}  // namespace bench
