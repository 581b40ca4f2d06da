// SPDX-License-Identifier: BSD-3-Clause
// What members contain: a pure function of seed, group, member, rank, step and element. Nothing is remembered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "plan.hpp"

namespace torture {

using Blocks = std::vector<std::pair<std::int64_t, std::int64_t>>;  // first and last element of each
using Bytes = std::vector<unsigned char>;

/// A number that follows from the seed and from what it is for.
std::uint64_t draw(std::uint64_t seed, std::initializer_list<std::uint64_t> what);

/// How a group stores a step: the same on all ranks.
enum class GroupForm { each, all, checkpoint };
enum class Form { store, storev, istore, istorev, stage, stage_inplace, stage_memory, file };
enum class Extent { none, full, parts };  // which elements of a member are stored

class Contents {
 public:
  explicit Contents(const Plan& plan) : plan_(plan) {}

  [[nodiscard]] GroupForm group_form(int group, std::int64_t step) const;
  [[nodiscard]] Extent extent(int group, int member, std::int64_t step, std::int64_t base) const;
  [[nodiscard]] Form form(int group, int member, std::int64_t step, std::int64_t base) const;
  /// The elements that a rank stores in a step; may be none.
  [[nodiscard]] Blocks blocks(int group, int member, int rank, std::int64_t step, std::int64_t base) const;

  /// Writes the elements of a step into a buffer of the whole member, and touches nothing else.
  void fill(std::span<unsigned char> buffer, int group, int member, int rank, std::int64_t step,
            const Blocks& blocks) const;
  /// The same with what a snapshot has, in which steps from base to step were stored. Tells which elements these are.
  std::vector<bool> fill_snapshot(Bytes& buffer, int group, int member, int rank, std::int64_t step,
                                  std::int64_t base) const;
  /// Elements of the member as of a step in which it is stored.
  [[nodiscard]] std::int64_t count(int group, int member, int rank, std::int64_t step) const;
  /// Whether all ranks have committed for certain when one has come through a step.
  [[nodiscard]] bool barrier_after(int group, std::int64_t step) const;

  /// Room for count elements, filled with what no element is.
  [[nodiscard]] Bytes room(int group, int member, std::int64_t count) const;
  [[nodiscard]] const MemberPlan& member(int group, int member) const;

 private:
  const Plan& plan_;
};

std::size_t bytes_of(Type type);

}  // namespace torture
