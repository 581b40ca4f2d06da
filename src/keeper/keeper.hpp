// SPDX-License-Identifier: BSD-3-Clause
// The keeper of a node: a process beside the ranks that does all work with the store. It maps their memory, so it goes on when they die;
// and when a file system hangs, it is the keeper that hangs, and no rank.
//
// The main thread talks to the ranks, and never waits for a file. One thread writes, another one reads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/descriptor.hpp"
#include "base/lived_clock.hpp"
#include "keeper/flush_job.hpp"
#include "keeper/kept_groups.hpp"
#include "keeper/kept_snapshots.hpp"
#include "keeper/local_socket.hpp"
#include "keeper/message.hpp"
#include "keeper/writes_under_way.hpp"
#include "store/file_system.hpp"
#include "store/pruning.hpp"

namespace fenix_impl {

/// Runs pieces of work one after the other in a thread, and knows whether it moves.
class KeeperThread {
 public:
  using Clock = LivedClock;

  KeeperThread() = default;
  KeeperThread(const KeeperThread&) = delete;
  KeeperThread& operator=(const KeeperThread&) = delete;

  /// when_done: called after each piece of work.
  void start(std::function<void()> when_done);
  void submit(std::function<void()> work);
  /// Ends the thread when its work is done. It must not be stuck.
  void stop();

  /// Notes that work has moved on. Called by the work.
  void note_step() { latest_step_ = Clock::now().time_since_epoch().count(); }
  [[nodiscard]] bool is_busy();
  /// Whether work has not moved for so long.
  [[nodiscard]] bool is_stuck(std::chrono::seconds limit);

 private:
  void run(const std::function<void()>& when_done);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool busy_ = false;
  bool quit_ = false;
  std::atomic<Clock::rep> latest_step_{0};
  std::thread thread_;
};

class Keeper {
 public:
  /// listener: where ranks connect. for_the_first: time for the first one; the rank that has started this process may have died.
  Keeper(std::unique_ptr<FileSystem> files, Listener listener,
         std::chrono::milliseconds for_the_first = std::chrono::minutes(1));
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  /// Serves until the last rank has gone and nothing is left to be written, and gives the name up. Returns false if a file system does not answer: then only the
  /// end of the process ends the threads.
  [[nodiscard]] bool run();
  /// Memory that is kept is to be written as soon as no rank is left, whatever the lease says. A signal handler may call it.
  void hurry();

 private:
  /// A dataset of which the own part is there, and the manifest is not.
  struct Unfinished {
    DatasetPlan plan;
    Hello settings;
    KeeperThread::Clock::time_point since;
  };

  /// Sleeps for a moment if offers come often, so that ranks need not wake this thread. Whether it has slept.
  bool takes_a_nap();
  void serve_once();
  void receive_from(const std::shared_ptr<KeeperPeer>& peer);
  void handle(const std::shared_ptr<KeeperPeer>& peer, Datagram datagram);
  void carry_out(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram);
  void greet(KeeperPeer& peer, const Message& request);
  /// Whether ranks of another run than that of a peer are connected.
  [[nodiscard]] bool has_other_run(const KeeperPeer& peer) const;
  void submit_request(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram);
  static void refuse(KeeperPeer& peer, const Message& request, const std::string& why);
  void take_flush(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram);
  void take_group(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram);
  void refuse_group(const std::shared_ptr<KeeperPeer>& peer, const Message& request, const KeptGroupOf& of);
  void give_group(const std::shared_ptr<KeeperPeer>& peer, const Message& request);
  /// Writes what runs before this one have left, and forgets their memory.
  void release(std::uint32_t run);
  void submit(const std::shared_ptr<FlushJob>& job);
  /// Writes what is kept, when the lease is over.
  void look_after_lease();
  void wake();
  void write(FlushJob& job, const Hello& settings);
  [[nodiscard]] bool write_data(FlushJob& job, const Hello& settings);
  void finish_datasets();
  void make_room(const DatasetPlan& plan, const Hello& settings);
  void give_up_waiting();
  void give_up_when_all_is_read(const Abandoned& abandoned);
  void look_after_jobs();
  [[nodiscard]] bool has_work();
  [[nodiscard]] bool keeps_memory() const { return !kept_.empty() || !kept_groups_.empty(); }
  [[nodiscard]] std::chrono::seconds limit() const { return std::chrono::seconds(settings_.seconds); }

  std::unique_ptr<FileSystem> files_;
  Listener listener_;
  Descriptor woken_;  // an eventfd: a thread has something for the main thread
  Hello settings_;    // of the job that began last
  std::vector<std::shared_ptr<KeeperPeer>> peers_;
  std::vector<std::shared_ptr<FlushJob>>
      jobs_;                           // of the main thread: offers are collected, or the job is with the writer
  std::deque<Unfinished> unfinished_;  // of the writer
  std::atomic<std::size_t> unfinished_count_{0};
  std::atomic<bool> is_in_a_hurry_{false};
  KeeperThread writer_;
  KeeperThread reader_;
  KeeperThread::Clock::time_point latest_begin_;
  std::optional<std::chrono::steady_clock::time_point> latest_offer_;  // with no other request after it
  bool has_served_ = false;                                            // some rank has connected
  bool is_stuck_ = false;
  std::deque<std::string> given_up_;  // names of datasets
  std::vector<Abandoned> abandoned_;
  int rounds_to_read_ = 0;  // before flushes are given up
  WritesUnderWay under_way_;
  Pruning pruning_;          // of the writer
  std::uint64_t store_ = 0;  // id of the store that memory is kept for
  KeptSnapshots kept_;
  KeptGroups kept_groups_;
  std::set<std::tuple<std::uint32_t, std::int32_t, std::int32_t>> noted_refusals_;  // in the log: run, group, rank
  std::optional<KeeperThread::Clock::time_point> alone_since_;                      // no rank is left
};

}  // namespace fenix_impl
