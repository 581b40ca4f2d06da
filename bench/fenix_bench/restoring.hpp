// SPDX-License-Identifier: BSD-3-Clause
// Deaths, and what comes after them until all ranks have their data again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options.hpp"
#include "result.hpp"
#include "team.hpp"

namespace bench {

/// Cases of which each takes deaths out of the spares. Runs on all ranks; a rank that takes a dead one's place comes in
/// the midst of it.
class Restoring {
 public:
  using Report = std::function<void(const std::vector<Result>&)>;
  using Say = std::function<void(const std::string&)>;
  using LeaveOut = std::function<void(const std::string& what, const std::string& why)>;

  Restoring(const Team& team, const Options& options, std::vector<Case> cases, int first_group, Report report, Say say,
            LeaveOut leave_out);

  /// is_new: this process has come for a dead one.
  void run(bool is_new);

 private:
  struct Place;
  struct Rows;

  void run_case(Place place, bool is_new);
  [[nodiscard]] int deaths() const;

  const Team& team_;
  const Options& options_;
  std::vector<Case> cases_;
  int first_group_;
  Report report_;
  Say say_;
  LeaveOut leave_out_;
};

}  // namespace bench
