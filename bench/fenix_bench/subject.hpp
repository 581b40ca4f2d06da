// SPDX-License-Identifier: BSD-3-Clause
// The protected data: a group with one member, its buffer, and the buffer that memcpy copies to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "result.hpp"
#include "team.hpp"

namespace bench {

constexpr int kMember = 0;

class Subject {
 public:
  /// All pages of the buffers are there when it returns.
  Subject(const Team& team, Case of, int group);
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  /// Makes the group and the member. Returns why the library refuses this case; nothing if it does not.
  [[nodiscard]] std::string create();
  /// After a death, instead of create().
  void take_up_group();
  void define_member();
  /// Deletes the group, on all ranks.
  void drop();

  [[nodiscard]] const Team& team() const { return team_; }
  [[nodiscard]] const Case& of() const { return of_; }
  [[nodiscard]] int group() const { return group_; }
  [[nodiscard]] std::size_t count() const { return data_.size(); }
  [[nodiscard]] std::int64_t step() const { return step_; }

  /// New values, as a program would have computed them.
  void compute();
  /// Changes a word in so many percent of the blocks that the library hashes, others each time.
  void change_blocks(int percent);
  /// The same for some of the elements only.
  void compute(std::size_t first, std::size_t number);
  /// Computes the values of this step once more, to other memory.
  void compute_to(std::int64_t* memory) const;
  /// The same to the member's buffer.
  void compute_again() { compute_to(data_.data()); }
  /// Has the values of that step, as if it had been computed last.
  void set_step(std::int64_t step);

  /// Seconds for so many memcpys of the buffer; until_all: until all ranks have done theirs.
  [[nodiscard]] double copy(int iterations, bool until_all);
  /// Seconds for so many exchanges of the buffer with the rank half of all ranks further on, by MPI_Sendrecv.
  [[nodiscard]] double exchange(int iterations);
  void store() const;
  void commit_barrier() const;
  /// Restores into the other buffer. Seconds on this rank.
  [[nodiscard]] double restore();
  /// Fails unless the other buffer is as the member's.
  void compare() const;
  /// Restores what was committed last, and compares.
  void verify();

 private:
  void fill(std::size_t first, std::size_t number);
  void set_mode() const;
  void allocate();

  const Team& team_;
  Case of_;
  int group_;
  std::int64_t step_ = 0;
  std::size_t first_changed_ = 0;
  std::vector<std::int64_t> owned_;
  std::span<std::int64_t> data_;  // the buffer: owned, or the library's
  std::vector<std::int64_t> other_;
};

}  // namespace bench
