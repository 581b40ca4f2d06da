// SPDX-License-Identifier: BSD-3-Clause
// Replacements for dead ranks when no spare is left: new processes of the same program, and how they join the others.
//
// One rank, the recruiter, spawns them: no other rank is inside MPI_Comm_spawn, which cannot be called off. They report
// to it when they reach Fenix_Init. Only when all of them have reported, all ranks connect.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fenix_impl {

/// The message to a replacement.
struct Invitation {
  std::int32_t welcome = 0;   ///< 0: it is not needed any more
  std::int32_t spawn = 0;     ///< number of spawns so far
  std::int32_t ranks = 0;     ///< size of the resilient communicator
  std::int32_t spares = 0;    ///< number of spares, dead ones too
  std::int32_t recruits = 0;  ///< number of replacements that come
  std::array<char, MPI_MAX_PORT_NAME> port{};
};

/// Whether the library has spawned this process. Local.
[[nodiscard]] bool is_replacement();
/// Returns the number of the use of Fenix that a replacement has to join, from 1. Local.
[[nodiscard]] int use_of_replacement();

/// The recruiter's side of spawning.
class Recruits {
 public:
  /// Spawns the processes and waits until all of them are in Fenix_Init. keys: for MPI_Comm_spawn, or MPI_INFO_NULL. use: number of the
  /// use of Fenix that they have to join; 0: they could not. Throws Error(FENIX_ERROR_SPAWNING_FAILED).
  Recruits(const Invitation& invitation, MPI_Info keys, int use);
  Recruits(const Recruits&) = delete;
  Recruits& operator=(const Recruits&) = delete;
  /// Tells processes that have not been invited that they are not needed.
  ~Recruits();

  void invite(const Invitation& invitation);

 private:
  explicit Recruits(int count) : count_(count) {}
  void spawn(int number, MPI_Info keys, int use);
  void meet();
  void note_told_deaths();

  MPI_Comm children_ = MPI_COMM_NULL;
  int count_ = 0;
  std::vector<int> dead_;  ///< those of which others have told
  bool told_ = false;
};

/// Reports to the recruiter and waits for its answer: the replacement's side. The answer is no if the recruiter has
/// died.
[[nodiscard]] Invitation report_to_recruiter();

/// Connects the living with the replacements: collective over living, where rank 0 has opened the port, and over
/// MPI_COMM_WORLD of the replacements. The new communicator holds living first, in order. When it returns, every pair
/// of ranks that may not have talked before has done so: Open MPI cannot look up the address of a process that has
/// died. Throws PeerFailure or MpiError. A death in the meantime may leave all waiting inside of MPI: after
/// FENIX_TIMEOUT it kills this process.
[[nodiscard]] MPI_Comm join_with_recruits(MPI_Comm living, const Invitation& invitation);
[[nodiscard]] MPI_Comm join_as_recruit(const Invitation& invitation);

/// Tells the replacements in joined, which are its last ranks, that all others have joined as well. Called on rank 0.
void confirm_to_recruits(MPI_Comm joined, const Invitation& invitation);
/// Waits for that message. Throws PeerFailure or Error if it does not come, because a rank did not get so far.
void wait_for_confirmation(MPI_Comm joined);

}  // namespace fenix_impl
