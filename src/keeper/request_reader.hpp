// SPDX-License-Identifier: BSD-3-Clause
// The reader of the keeper: a thread that answers requests to the store which write no data.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "keeper/keeper_peer.hpp"
#include "keeper/keeper_thread.hpp"
#include "keeper/local_socket.hpp"
#include "keeper/message.hpp"
#include "keeper/writes_under_way.hpp"
#include "store/file_system.hpp"

namespace fenix_impl {

class RequestReader {
 public:
  /// under_way: what this keeper writes.
  RequestReader(FileSystem& files, WritesUnderWay& under_way) : files_(files), under_way_(under_way) {}
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// when_done: called in the thread after each piece of work.
  void start(std::function<void()> when_done) { thread_.start(std::move(when_done)); }
  /// Ends the thread when its work is done. It must not be stuck.
  void stop() { thread_.stop(); }
  [[nodiscard]] bool is_busy() { return thread_.is_busy(); }
  /// Whether work has not moved for as long as the file system has.
  [[nodiscard]] bool is_stuck(std::chrono::seconds limit) { return thread_.is_stuck(limit); }

  /// Has a request answered. settings: of the job that began last.
  void submit(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram,
              const Hello& settings);
  /// Writes a line into the log of a run. root: of the store.
  void note(const std::string& root, std::uint32_t run, const std::string& line);

 private:
  FileSystem& files_;
  WritesUnderWay& under_way_;
  KeeperThread thread_;
};

}  // namespace fenix_impl
