// SPDX-License-Identifier: BSD-3-Clause
// Replacements for dead ranks when no spare is left: new processes of the same program, and how they find their way in.
//
// One rank, the recruiter, spawns them, so that nobody else is inside MPI_Comm_spawn, which cannot be called off. They report to
// it when they reach Fenix_Init. Only when all have is everybody asked to connect.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace fenix_impl {

/// What a replacement is told.
struct Invitation {
  std::int32_t welcome = 0;   ///< 0: nobody needs it any more
  std::int32_t spawn = 0;     ///< how many times there has been spawning
  std::int32_t ranks = 0;     ///< size of the resilient communicator
  std::int32_t spares = 0;    ///< how many spares there have been, dead ones too
  std::int32_t recruits = 0;  ///< how many replacements come
  std::array<char, MPI_MAX_PORT_NAME> port{};
};

/// True if the library has spawned this process. Local.
[[nodiscard]] bool is_replacement();

/// The recruiter's side.
class Recruits {
 public:
  /// Spawns the processes and waits until all of them are in Fenix_Init. keys: for MPI_Comm_spawn, or MPI_INFO_NULL. Throws
  /// Error(FENIX_ERROR_SPAWNING_FAILED).
  Recruits(const Invitation& invitation, MPI_Info keys);
  Recruits(const Recruits&) = delete;
  Recruits& operator=(const Recruits&) = delete;
  /// Tells those that have not been invited that they are not needed.
  ~Recruits();

  void invite(const Invitation& invitation);

 private:
  void spawn(int number, MPI_Info keys);
  void meet();

  MPI_Comm children_ = MPI_COMM_NULL;
  int count_ = 0;
  bool told_ = false;
};

/// The replacement's side: reports to the recruiter and waits for its answer. One that says no if the recruiter has died.
[[nodiscard]] Invitation report_to_recruiter();

/// Connects those that are there with the replacements: collective over living, where rank 0 has opened the port, and over
/// MPI_COMM_WORLD of the replacements. The new communicator holds living first, in order. Every pair that may not have talked
/// before has done so when it returns: Open MPI cannot look up the address of a process that has died. Throws PeerFailure or
/// MpiError. A death meanwhile may leave all waiting inside of MPI: kills this process then, after FENIX_TIMEOUT.
[[nodiscard]] MPI_Comm join_with_recruits(MPI_Comm living, const Invitation& invitation);
[[nodiscard]] MPI_Comm join_as_recruit(const Invitation& invitation);

/// Rank 0 tells the replacements in joined, which are its last ranks, that all others have joined as well.
void confirm_to_recruits(MPI_Comm joined, const Invitation& invitation);
/// Throws PeerFailure or Error if that does not come, because a rank did not get so far.
void wait_for_confirmation(MPI_Comm joined);

}  // namespace fenix_impl
