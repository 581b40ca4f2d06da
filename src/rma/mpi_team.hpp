// SPDX-License-Identifier: BSD-3-Clause
// A team over an MPI communicator with ULFM.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "rma/mpi_errors.hpp"
#include "rma/quiet_comm.hpp"
#include "rma/silence_watch.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

[[nodiscard]] int size_of(MPI_Comm comm);

class MpiTeam final : public Team {
 public:
  /// Collective over comm: duplicates it. resilient is the communicator of all active ranks, comm's among them. A death
  /// there, or its revocation, calls off the work of the team: every repair begins with it. Neither communicator is
  /// owned. For each rank, near says whether it is on the node of this one; it is empty if all are. The handler for
  /// errors that comm has while it is duplicated is meanwhile. Both communicators and watch must outlive the team's use.
  MpiTeam(MPI_Comm comm, MPI_Comm resilient, SilenceWatch& watch, std::vector<bool> near = {},
          MPI_Errhandler meanwhile = library_errors_return());
  /// Local: the first size ranks of comm, which is borrowed.
  MpiTeam(MPI_Comm comm, int size, MPI_Comm resilient);
  ~MpiTeam() override;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] bool sound() const override { return sound_; }
  [[nodiscard]] Location location() const override;
  void check() override;
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void allgather_among(std::span<const int> ranks, std::span<const std::byte> mine, std::span<std::byte> all) override;
  void broadcast(std::span<std::byte> data, int root) override;
  void allreduce(std::span<std::byte> mine, const Merge& merge) override;
  void allreduce_lists(std::vector<std::byte>& mine, const MergeLists& merge) override;
  std::vector<std::vector<std::byte>> exchange_with(std::span<const int> peers,
                                                    std::span<const std::byte> mine) override;
  Words deliver(const Words& words) override;
  void withdraw() noexcept override;
  void dissolve() noexcept override;

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  /// For waits inside of MPI. Only of teams that own their communicator.
  [[nodiscard]] SilenceWatch& watch() { return *watch_; }
  /// For each rank of the team, whether it is on the node of this one. Empty if all are, or if that is not known.
  [[nodiscard]] const std::vector<bool>& near() const { return near_; }
  [[nodiscard]] bool on_one_node() const { return std::find(near_.begin(), near_.end(), false) == near_.end(); }
  /// Waits for a request with the checks that the class promises. If it throws, MPI may still use the request's buffers.
  void wait(MPI_Request request, const char* waited_for);
  /// Does the same as check_mpi() for a call that goes to ranks of the team. After an error messages to this rank may be under way.
  void check_access(int mpi_error, const char* call);

 private:
  void look_for_failures();
  void look_for_withdrawals();
  template <class RankAt>
  void spread(std::size_t ranks, std::size_t self, std::span<const std::byte> mine, std::span<std::byte> all,
              RankAt&& rank_at);
  /// Sends to one rank and receives from another, MPI_PROC_NULL for none. MPI has given the buffers back when it throws.
  void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from);
  /// Returns what each rank has for this one: a number of each. mine: one for each rank.
  std::vector<std::uint64_t> swap_numbers(std::span<const std::uint64_t> mine);
  /// One way of a message. Of at most 2^31 - 1 bytes.
  struct Message {
    void* data = nullptr;
    std::size_t bytes = 0;
    int peer = MPI_PROC_NULL;
    bool is_sent = false;  ///< else received
  };
  static Message incoming(std::span<std::byte> data, int from);
  static Message outgoing(std::span<const std::byte> data, int to);
  /// All at once. requests: one for each.
  void carry(std::span<const Message> messages, std::span<MPI_Request> requests);
  void finish(std::span<const Message> messages, std::span<MPI_Request> requests) noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm resilient_ = MPI_COMM_NULL;
  SilenceWatch* watch_ = nullptr;
  bool owns_comm_ = false;
  bool withdrawn_ = false;
  bool sound_ = true;          // no message is under way that nobody will receive
  int failure_ = MPI_SUCCESS;  // what check() has thrown, and always will
  int rank_ = 0;
  int size_ = 0;
  std::array<std::byte, kMostReduced> reduced_{};  // what comes from others
  std::vector<bool> near_;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace fenix_impl
