// SPDX-License-Identifier: BSD-3-Clause
// The keeper of a node: a process beside the ranks that does all work with the store. It maps their memory, so it goes on when they die;
// and when a file system hangs, it is the keeper that hangs, and no rank.
//
// The main thread talks to the ranks, and never waits for a file. One thread writes, another one reads.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "keeper/flush_collection.hpp"
#include "keeper/flush_writer.hpp"
#include "keeper/local_socket.hpp"
#include "keeper/message.hpp"
#include "keeper/node_memory.hpp"
#include "keeper/request_reader.hpp"
#include "store/file_system.hpp"

namespace fenix_impl {

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
  /// Sleeps for a moment if offers come often, so that ranks need not wake this thread. Whether it has slept.
  bool takes_a_nap();
  void serve_once();
  void receive_from(const std::shared_ptr<KeeperPeer>& peer);
  void handle(const std::shared_ptr<KeeperPeer>& peer, Datagram datagram);
  void carry_out(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram);
  void greet(KeeperPeer& peer, const Message& request);
  /// Whether ranks of another run than that of a peer are connected.
  [[nodiscard]] bool has_other_run(const KeeperPeer& peer) const;
  void take_offer(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram);
  void write(const NodeMemory::Jobs& jobs);
  void wake();
  [[nodiscard]] bool has_work();
  [[nodiscard]] std::chrono::seconds limit() const { return std::chrono::seconds(settings_.seconds); }

  std::unique_ptr<FileSystem> files_;
  Listener listener_;
  Descriptor woken_;  ///< an eventfd: a thread has something for the main thread
  Hello settings_;    ///< of the job that began last
  std::vector<std::shared_ptr<KeeperPeer>> peers_;
  FlushCollection flushes_;
  NodeMemory memory_;
  FlushWriter writer_;
  RequestReader reader_;
  std::atomic<bool> is_in_a_hurry_{false};
  KeeperThread::Clock::time_point latest_begin_;  ///< time for the first rank
  std::optional<std::chrono::steady_clock::time_point>
      latest_offer_;         ///< time of an offer with no other request after it
  bool has_served_ = false;  ///< some rank has connected
  bool is_stuck_ = false;    ///< the writer
};

}  // namespace fenix_impl
