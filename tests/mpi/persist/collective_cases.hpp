// SPDX-License-Identifier: BSD-3-Clause
// Calls of all collective functions, each in three forms: for tests that compare what MPI gives with what is restored.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

/// The forms of a collective function.
enum class Form { blocking, immediate, started };

/// The communicators that cases need: several cases of one operation on one communicator would replace each other's contributions.
enum class Kind { plain, in_place, typed, cart, torus, graph, dist_graph };
constexpr int kKinds = 7;

/// Integers of a buffer.
constexpr int kRoom = 320;

struct Buffers {
  std::vector<int> sent = std::vector<int>(kRoom);
  std::vector<int> received = std::vector<int>(kRoom);

  bool operator==(const Buffers&) const = default;
};

struct Case {
  std::string name;
  Kind kind;
  std::function<int(Form form, MPI_Comm comm, Buffers& buffers)> call;
  /// Where the contribution is, if the buffer receives in place: [first, first + count).
  std::function<std::pair<int, int>(int rank, int size)> in_place = {};
  /// Integers of the buffer from its begin on that the operation defines.
  std::function<int(int rank, int size)> defined = {};
  int step = 1;  ///< from one integer of the contribution to the next
};

/// Returns all of them, for so many ranks.
std::vector<Case> all_cases(int size);

/// Makes an ordinary communicator of this kind with the ranks of comm, or returns comm.
MPI_Comm make_comm(MPI_Comm comm, Kind kind);

/// Fills the buffers before a call. with_contribution: also what is given in place.
void fill(const Case& which, int rank, int size, bool with_contribution, Buffers& buffers);
