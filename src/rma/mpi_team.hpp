// SPDX-License-Identifier: BSD-3-Clause
// A team over an MPI communicator with ULFM.
#pragma once

#include <mpi.h>

#include "rma/team.hpp"

namespace fenix_impl {

/// True for the MPI error classes that tell of a dead rank or a revoked communicator.
[[nodiscard]] bool is_failure(int mpi_error);

/// Throws PeerFailure for a failure, Error(FENIX_ERROR_NOCATEGORY) naming the call for another error.
void check_mpi(int mpi_error, const char* call);

class MpiTeam final : public Team {
 public:
  /// Collective over comm: duplicates it. resilient is the communicator that every repair revokes on all ranks; it is what
  /// ends waits for a living rank that has left for a repair. Neither is owned; resilient must outlive the team's use.
  MpiTeam(MPI_Comm comm, MPI_Comm resilient);
  ~MpiTeam() override;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void check() override;
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void broadcast(std::span<std::byte> data, int root) override;
  void dissolve() noexcept override;

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  /// Waits for a request of this team. If it throws, MPI may still use the request's buffers, unless settle is set: then
  /// it first sees to it that MPI has let go of them (for requests that a dissolved team ends: all but those of windows).
  void wait(MPI_Request request, const char* waited_for, bool settle);
  /// True if all ranks of the team share a node.
  [[nodiscard]] bool on_one_node() const { return on_one_node_; }

 private:
  void find_node();

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm resilient_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  bool on_one_node_ = false;
};

}  // namespace fenix_impl
