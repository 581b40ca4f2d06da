// SPDX-License-Identifier: BSD-3-Clause
//
// Count of the cells that a process has computed. It outlives the process, so that work that is done twice is known.
#ifndef HEAT2D_WORK_HPP
#define HEAT2D_WORK_HPP

#include <cstdint>
#include <filesystem>

namespace heat2d {

class Work {
 public:
  /// Makes the file: one number of 8 bytes. Throws std::runtime_error if it cannot be made.
  explicit Work(const std::filesystem::path& path);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void add(std::int64_t cells) { *count_ = *count_ + cells; }

 private:
  volatile std::int64_t* count_;  // in the file: a process that is killed has written it
};

}  // namespace heat2d

#endif
