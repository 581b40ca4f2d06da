// SPDX-License-Identifier: BSD-3-Clause
// The connection of a rank to the keeper of its node, which is started when it is needed.
//
// Threads may use it at the same time. No wait is longer than the limit; the caller's check runs while it waits, and may throw.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/descriptor.hpp"
#include "base/lived_clock.hpp"
#include "keeper/local_socket.hpp"
#include "keeper/message.hpp"
#include "keeper/offer.hpp"
#include "store/halt.hpp"
#include "store/part.hpp"
#include "store/plan.hpp"
#include "store/store_run.hpp"

namespace fenix_impl {

class KeeperClient {
 public:
  using Check = std::function<void()>;

  /// How a flush has ended.
  struct Outcome {
    KeeperCode code = KeeperCode::done;
    std::string text;
  };

  /// program: path of fenix-keeper. hello: for it; the root is a folder that exists.
  KeeperClient(std::string program, Hello hello);
  KeeperClient(const KeeperClient&) = delete;
  KeeperClient& operator=(const KeeperClient&) = delete;

  /// Returns the name at which the keeper is reached.
  [[nodiscard]] const std::string& socket_name() const { return socket_name_; }

  // All of these throw Error(FENIX_ERROR_STORE), and what check throws.

  struct Run {
    StoreRun run;
    std::string warning;  ///< about the folder of the store; or empty
  };
  /// Begins a new run. Ranks of another one on this node have a while for their end. Throws Error(FENIX_ERROR_STORE) if they do not end, too.
  [[nodiscard]] Run begin_run(const Check& check);
  /// Tells the keeper of this node, and each later one, which run this rank belongs to. Does not wait.
  void join(const StoreRun& run);

  /// Notes that a run has come to its end.
  void finish_run(std::uint32_t run, const Check& check);

  /// Offers the data of this rank, and returns a number for outcome(). plan: sealed; writer: of this rank. regions: of the members, in the
  /// order of the offer. Does not wait.
  [[nodiscard]] std::uint64_t flush(const DatasetPlan& plan, const RankOffer& offered,
                                    std::span<const SharedFile> regions);
  /// Offers the data of this rank, to be written if all ranks die and no other job takes it. Does not wait: an offer that has no room is
  /// left out, since the next one takes its place.
  void keep(const DatasetPlan& plan, const RankOffer& offered, std::span<const SharedFile> regions);
  /// Memory of a group on a rank of an earlier run, as the keeper of this node has it.
  struct KeptGroup {
    std::vector<std::byte> description;
    KeptGroupAt at;
  };
  /// Keeps the memory of a group on this rank for the next job. regions: in the order of the description. Does not wait.
  /// Returns the connection() by which it goes.
  std::uint64_t keep_group(const KeptGroupOf& of, std::span<const std::byte> description, std::span<const int> regions);
  /// Has it forgotten, and what is older of the group on this rank. Does not wait.
  void drop_group(const KeptGroupOf& of);
  /// Returns the memory that the rank of this number had in an earlier run, or nullopt. Processes of that run have a while for their end.
  /// limit: for all of this.
  [[nodiscard]] std::optional<KeptGroup> kept_group(const KeptSearch& search, std::chrono::milliseconds limit,
                                                    const Check& check);
  /// Returns whose memory the keeper has.
  [[nodiscard]] std::vector<KeptGroupOf> kept_groups(const Check& check);
  /// Takes what the keeper has said. Does not wait.
  void look();
  /// Returns why the keeper has last refused to keep memory, once; nullopt if it has not.
  [[nodiscard]] std::optional<std::string> refusal();
  /// Has commits of earlier runs written that nobody has taken, and forgets their memory. run: this one. Does not wait.
  void release(std::uint32_t run);
  /// Returns a number that changes when another keeper has taken the place of one that has ended.
  [[nodiscard]] std::uint64_t connection();
  /// Tells that some flushes will not get the offers that they lack. Does not wait.
  void abandon(const Abandoned& abandoned);
  /// Has the memory of a run forgotten, as it has come to its end. Does not wait.
  void forget(std::uint32_t run);
  /// Whether outcome() has not told yet how a flush has ended.
  [[nodiscard]] bool knows(std::uint64_t flush);
  /// Returns how a flush has ended, once; nullopt while it has not.
  [[nodiscard]] std::optional<Outcome> outcome(std::uint64_t flush);
  /// Returns the bytes that are written of a flush that has not ended.
  [[nodiscard]] std::uint64_t written(std::uint64_t flush);

  struct Found {
    std::optional<DatasetPlan> plan;    ///< of the dataset to go on from
    bool is_chosen = false;             ///< by the user
    std::vector<std::string> unusable;  ///< what would have come before it, and why it cannot be used
  };
  /// Returns the dataset to go on from. Waits while a newer one of an earlier run is being written.
  [[nodiscard]] Found find(const Search& search, const Check& check);
  /// Whether all data that a rank has stored in a dataset is there, as it was written: reads it, piece by piece.
  [[nodiscard]] bool verify(const DatasetName& name, std::int32_t rank, const Check& check);
  /// Has snapshots forgotten that were deleted, if they are kept. Does not wait.
  void drop_kept(const Dropped& dropped);
  /// Returns what a rank has stored in a dataset, or nullopt if it is not there.
  [[nodiscard]] std::optional<StoredRank> rank(const DatasetName& name, std::int32_t rank, const Check& check);
  /// Reads data into a file in memory. Returns false if it is damaged, or not there.
  [[nodiscard]] bool read(const Reading& reading, int file, const Check& check);
  [[nodiscard]] std::vector<Listed> list(const Check& check);
  /// Return false if there is no such dataset.
  [[nodiscard]] bool remove(const std::string& name, const Check& check);
  [[nodiscard]] bool set_current(const std::string& name, const Check& check);
  [[nodiscard]] std::optional<HaltConditions> halt_conditions(const Check& check);
  void halt(const HaltConditions& conditions, const Check& check);
  /// Whether a dataset is complete.
  [[nodiscard]] bool is_complete(const DatasetName& name, const Check& check);
  /// Tells that this run has committed since it began with a dataset. Does not wait.
  void note_taken(const DatasetName& name);

 private:
  struct Answer {
    Message message;
    std::vector<Descriptor> files;
    bool is_lost = false;  ///< the keeper has ended before
  };

  [[noreturn]] static void fail(const std::string& why);
  void tell(KeeperOp op, std::vector<std::byte> body);
  std::uint64_t offer(KeeperOp op, const DatasetPlan& plan, const RankOffer& offer,
                      std::span<const SharedFile> regions);
  /// An offer that has not been answered: another keeper is given it again if the first one ends.
  struct Pending {
    Message message;
    std::vector<SharedFile> files;
    std::vector<SharedFile> regions;  ///< those that the message has no room for
    int attempts = 1;
    std::chrono::steady_clock::time_point since;  ///< the keeper that has it now has got it
    LivedClock::time_point since_as_lived;
  };

  [[nodiscard]] Sent send_once(const Message& request, std::span<const int> files, std::span<const int> regions,
                               bool waits = true);
  [[nodiscard]] Sent send_regions(std::span<const int> regions);
  [[nodiscard]] bool send_kept(Message& request, const Pending& offered);
  static void note_sent(Pending& pending);
  void send_again();
  void give_up(const Pending& pending);
  void connect();
  void start_keeper(const Listener& listener) const;
  std::uint64_t send(Message& request, std::span<const int> files, std::span<const int> regions);
  Answer ask(KeeperOp op, const std::vector<std::byte>& body, std::span<const int> files,
             std::chrono::milliseconds limit, const Check& check);
  Answer await(std::uint64_t id, const Deadline& deadline, const Check& check);
  Answer call_until(std::chrono::milliseconds limit, KeeperOp op, const std::vector<std::byte>& body,
                    const Check& check);
  Answer call(KeeperOp op, std::vector<std::byte> body, std::span<const int> files, const Check& check);
  bool pump();
  void lose_connection();
  void note_heard();
  template <class Entry>
  [[nodiscard]] std::vector<Entry> list_of(KeeperOp op, const Check& check);
  [[nodiscard]] bool call_about(KeeperOp op, const std::string& name, const Check& check);

  std::string program_;
  Hello hello_;
  std::string socket_name_;
  std::mutex mutex_;
  Descriptor socket_;
  std::uint64_t last_id_ = 0;
  std::uint64_t connections_ = 0;
  std::map<std::uint64_t, KeeperOp> asked_;  // and not answered
  std::map<std::uint64_t, Answer> answers_;
  std::map<std::uint64_t, Pending> pending_;  // flushes
  bool has_lost_offers_ = false;
  std::chrono::steady_clock::time_point heard_;  // of the keeper
  LivedClock::time_point heard_as_lived_;
  std::map<std::uint64_t, std::uint64_t> written_;
  std::optional<std::chrono::steady_clock::time_point> full_since_;  // no offer to keep has had room
  std::optional<std::string> refusal_;
};

}  // namespace fenix_impl
