// SPDX-License-Identifier: BSD-3-Clause
// The message logs of a program: Fenix_Mlog_create. Messages on the communicator of the active log are logged. The numbers of messages at
// the begin of each region are kept with them, so that a rank can go back to it.
#pragma once

#include <fenix/codes.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "interposition/determinant_kind.hpp"
#include "messages/log/message_log.hpp"
#include "messages/persistent/persistence.hpp"

namespace fenix_impl {

class RegionLogs {
 public:
  /// It must outlive this.
  explicit RegionLogs(Persistence& persistence) : persistence_(persistence) {}

  /// Makes a log for the messages on a communicator. comm_id: number of the log, the same on all members. depth: older regions that are
  /// kept. Where a repair has sent control back to Fenix_Init, a log that there was goes on. Collective over the resilient
  /// communicator, if no journal has been made yet. Throws as LoggedComms::log_messages does, and Error.
  void create(int id, MPI_Comm name, std::uint64_t comm_id, int depth, const LogOptions& options);
  /// Does the same, and has journals made by the next repair: a rank has died. Local. Throws Error.
  void create_after_repair(int id, MPI_Comm name, std::uint64_t comm_id, int depth, const LogOptions& options);
  /// Local, as all that follow. Throw Error(FENIX_ERROR_INVALID_MLOGID) for a log that is not there.
  void remove(int id);
  /// id: FENIX_MLOG_NONE for none.
  void activate(int id);
  [[nodiscard]] int active() const { return active_; }
  [[nodiscard]] bool has(int id) const;
  /// Returns the communicator of the active log. There has to be one.
  [[nodiscard]] MPI_Comm active_comm() const { return at(active_).name; }
  /// Returns the answer of this rank to a question, which is logged: a replacement says what its predecessor had said. ask: called if neither
  /// has answered yet. The same answer is returned until forget_answer(). Throws as LoggedComms::with_determinants does.
  [[nodiscard]] int answer(DeterminantKind question, const std::function<int()>& ask);
  void forget_answer() { answer_.reset(); }
  /// Throws Error(FENIX_ERROR_INVALID_ARGUMENT) if the region comes before the present one.
  void begin_region(int id, int region);
  /// Goes back to the begin of a region. FENIX_MLOG_CONTINUE: stays. Throws Error(FENIX_ERROR_NODATA_FOUND) if the region is not kept.
  void sync(int id, int region);

  /// Whether the program logs messages on communicators of its choice. Local.
  [[nodiscard]] bool in_use() const {
    return std::any_of(logs_.begin(), logs_.end(), [](const auto& each) { return !each.second.is_stale; });
  }
  /// Tells all ranks what has been received. Collective over the resilient communicator: all are about to store their states.
  void meet_at_checkpoint() { persistence_.checkpoints().meet(); }
  /// Returns the state of a log that is about to be stored in a data group: numbers, and messages that have not been received.
  [[nodiscard]] std::vector<std::byte> store_state(int id);
  /// Goes on with a state. Messages that may not have been received are sent once more, as soon as messages are logged. Throws Error(FENIX_ERROR_NODATA_FOUND) if it is none.
  void restore(int id, std::span<const std::byte> state);

  /// Notes that all ranks have to go back, as logs lack something. Calls are not repeated until then. Local.
  void fall_back();
  /// Whether this rank has not gone back since. Local.
  [[nodiscard]] bool falls_back() const { return falls_back_; }
  /// Notes that this rank has stored its state with the others. Local.
  void note_checkpoint(bool is_on_all) { persistence_.checkpoints().note(is_on_all); }
  /// Notes a repair. starts_over: survivors come out of Fenix_Init again.
  void note_repair(bool starts_over);
  void clear();

 private:
  using Number = FlowNumber;

  /// The begin of a region.
  struct Mark {
    std::int64_t region = 0;
    std::vector<Number> numbers;
  };
  struct Log {
    MPI_Comm name = MPI_COMM_NULL;
    std::uint64_t comm_id = 0;
    int depth = 0;
    bool is_stale = false;  ///< the program will make it again
    std::int64_t region = kNoRegion;
    bool is_stored = false;  ///< in a data group: ranks go back to such a state, and not to the begin of a region
    std::deque<Mark> marks;  ///< of the regions that are kept, oldest first
  };
  static constexpr std::int64_t kNoRegion = -1;

  void require_none(int id) const;
  void note(int id, MPI_Comm name, std::uint64_t comm_id, int depth);
  void leave_calls();
  [[nodiscard]] const Log& at(int id) const;
  [[nodiscard]] Log& at(int id);
  [[nodiscard]] static std::vector<std::byte> bytes_of(const Mark& mark);
  [[nodiscard]] static Mark mark_of(std::span<const std::byte> bytes);

  Persistence& persistence_;
  std::map<int, Log> logs_;
  int active_ = FENIX_MLOG_NONE;
  std::optional<int> answer_;
  bool falls_back_ = false;
  bool has_left_calls_ = false;  // the program has left calls behind, as a repair has sent it back to Fenix_Init
};

}  // namespace fenix_impl
