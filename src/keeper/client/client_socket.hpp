// SPDX-License-Identifier: BSD-3-Clause
// The socket of a rank to the keeper of its node, which is started when it is needed. For one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "keeper/local_socket.hpp"
#include "keeper/message.hpp"
#include "store/store_run.hpp"

namespace fenix_impl {

/// Time after which a keeper that does not take what it is sent counts as hung.
constexpr std::chrono::seconds kPatienceWithKeeper{10};

class ClientSocket {
 public:
  /// program: path of fenix-keeper. hello: for it; the root is a folder that exists.
  ClientSocket(std::string program, Hello hello);
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  /// Returns the name at which the keeper is reached.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Hello& hello() const { return hello_; }
  /// Notes which run this rank belongs to. Returns false if that is known.
  [[nodiscard]] bool set_run(const StoreRun& run);

  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
  [[nodiscard]] int get() const { return socket_.get(); }
  /// Returns how often it has been opened.
  [[nodiscard]] std::uint64_t connections() const { return connections_; }
  /// Sends the regions, and then the request; opens the socket for them. Throws Error(FENIX_ERROR_STORE) if no keeper can be reached.
  [[nodiscard]] Sent send(const Message& request, std::span<const int> files, std::span<const int> regions, bool waits);
  [[nodiscard]] Received receive(Datagram& datagram) { return receive_datagram(socket_.get(), datagram); }
  void close() { socket_ = {}; }

 private:
  void connect();
  [[nodiscard]] Sent send_regions(std::span<const int> regions);

  std::string program_;
  Hello hello_;
  std::string name_;
  Descriptor socket_;
  std::uint64_t connections_ = 0;
};

}  // namespace fenix_impl
