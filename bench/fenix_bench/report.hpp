// SPDX-License-Identifier: BSD-3-Clause
// The table on stdout, and files with all figures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "result.hpp"

namespace bench {

using Description = std::vector<std::pair<std::string, std::string>>;

class Report {
 public:
  /// machine, run: names as in JSON, and texts.
  Report(Description machine, Description run);

  void print_header() const;
  /// Prints a row, and keeps it for the files.
  void add(const Result& result);
  /// A case that the library refuses.
  void add_refused(const Case& of, const std::string& why);
  void leave_out(const std::string& what, const std::string& why) const;

  /// Fails if there cannot be such a file: better now than when all has been measured.
  static void require_writable(const std::string& path);

  void write_csv(const std::string& path) const;
  void write_json(const std::string& path) const;

 private:
  void print_case(const Case& of);

  Description machine_;
  Description run_;
  std::vector<Result> results_;
  std::vector<std::pair<Case, std::string>> refused_;
  std::string printed_;  // the case that the rows printed last belong to
};

}  // namespace bench
