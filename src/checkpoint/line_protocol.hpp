// SPDX-License-Identifier: BSD-3-Clause
// The messages by which ranks come to a recovery line without waiting for each other (Bronevetsky et al., 3.1 and 3.4). Ranks are asked for the next
// checkpoint. Each tells its peers how many messages it has sent them. It finds out when all are beyond the line, and when all logs are complete.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "checkpoint/flow.hpp"

namespace fenix_impl {

/// A barrier in steps, of which none waits. Throws PeerFailure.
class SplitBarrier {
 public:
  /// line: the number that all ranks give. refuses: whether this rank wants that nothing comes of it.
  void begin(MPI_Comm comm, int tag, std::uint32_t line, bool refuses = false);
  /// Returns whether all ranks have begun.
  bool step();
  /// Whether some rank refuses, where all have begun: the same on all.
  [[nodiscard]] bool is_refused() const { return round_->own.refusals != 0; }
  void abandon() noexcept;

 private:
  struct Word {
    std::uint32_t line = 0;
    std::uint32_t refusals = 0;  ///< not 0: it knows of a rank that refuses
  };
  struct Round {
    Word own;    ///< of this rank
    Word other;  ///< of the rank that this one hears from
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Request received = MPI_REQUEST_NULL;
  };

  void begin_round();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0;
  int rank_ = 0;
  int size_ = 0;
  int distance_ = 0;
  std::unique_ptr<Round> round_ = std::make_unique<Round>();
};

class LineControl {
 public:
  enum class Phase {
    idle,       ///< no checkpoint since the latest line, or none at all
    telling,    ///< counts are on their way to their receivers
    gathering,  ///< all counts of this rank have come; some ranks may not be beyond the line
    refused,    ///< all are beyond the line, or have refused it: nothing comes of it
    logging,    ///< all are beyond the line, and all counts are known
    stopping,   ///< this rank is ready to stop logging; others may not be
    stopped,    ///< all were ready
    ending,     ///< this rank has stored its log; others may not have
  };

  /// comm: of the library alone. All ranks begin at the same line.
  LineControl(MPI_Comm comm, std::uint32_t line);
  LineControl(const LineControl&) = delete;
  LineControl& operator=(const LineControl&) = delete;
  /// Leaves what is under way: after a failure, or at the end.
  ~LineControl();

  // All that follow are local, and throw PeerFailure.

  /// Asks all ranks for the next checkpoint. On rank 0.
  void request();
  /// Returns whether this rank is asked for a checkpoint. Passes the request on.
  bool is_requested();
  /// Number of the latest line that this rank has passed.
  [[nodiscard]] std::uint32_t passed() const { return passed_; }

  /// Passes the line: Phase::telling, until the next step. sent: counts for each rank to which something was sent.
  void pass(const std::map<int, std::vector<FlowCount>>& sent);
  /// Refuses the line for all, instead of passing it. In Phase::idle, where a checkpoint is asked for.
  void refuse();
  /// Goes on as far as is possible without a wait.
  void step();
  [[nodiscard]] Phase phase() const { return phase_; }
  /// Returns what others have told. Complete from Phase::logging on.
  [[nodiscard]] const std::vector<FlowCount>& told() const { return told_; }
  /// Tells that the log of this rank is complete. In Phase::logging.
  void stop();
  /// Tells that the log of this rank is stored, or that it has dropped a refused line. In Phase::stopped or Phase::refused. There is no next
  /// request before all have said so.
  void end();

 private:
  struct Message {
    std::vector<FlowCount> counts;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void pass_on();
  void receive_counts();
  static bool forget_those_done(std::list<Message>& messages);

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 0;
  std::uint32_t line_;       // asked for
  std::uint32_t passed_;     // by this rank
  std::uint32_t requested_;  // rank 0 only
  Phase phase_ = Phase::idle;
  MPI_Request request_ = MPI_REQUEST_NULL;  // from the rank above
  bool are_beyond_ = false;                 // all ranks
  bool refuses_ = false;                    // this rank
  std::list<Message> sent_;
  std::list<Message> coming_;
  std::vector<FlowCount> told_;
  SplitBarrier barrier_;
};

}  // namespace fenix_impl
