// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/client/client_socket.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "base/simd/hash.hpp"
#include "keeper/client/launch.hpp"
#include "keeper/request_error.hpp"

namespace fenix_impl {
namespace {

// Ranks of one user that use the same store on a node meet there. Nodes may share the folder: a name counts within one network namespace of
// one host.
std::string name_for(const std::string& root) {
  utsname host{};
  struct stat network {};
  (void)::uname(&host);
  (void)::stat("/proc/self/ns/net", &network);
  const std::string all = root + "\n" + host.nodename + "\n" + std::to_string(network.st_ino);
  return std::to_string(hash_bytes(std::as_bytes(std::span(all))));
}

// Other ranks may wait for this one meanwhile.
Deadline::Clock::duration time_to_connect() {
  constexpr int kPart = 4;
  return std::min<Deadline::Clock::duration>(kPatienceWithKeeper, Deadline::timeout() / kPart);
}

}  // namespace

ClientSocket::ClientSocket(std::string program, Hello hello)
    : program_(std::move(program)), hello_(std::move(hello)), name_(name_for(hello_.root)) {}

bool ClientSocket::set_run(const StoreRun& run) {
  if (hello_.run == run.number && hello_.store == run.store) return false;
  hello_.run = run.number;
  hello_.store = run.store;
  return true;
}

void ClientSocket::connect() {
  if (socket_) return;
  for (const Deadline deadline(time_to_connect()); !deadline.passed();) {
    socket_ = connect_to(name_);
    if (socket_) {
      const Message hello{KeeperOp::hello, 0, KeeperCode::done, {}, encode_body(hello_)};
      if (send_datagram(socket_.get(), encode(hello), {}) == Sent::sent) {
        ++connections_;
        return;
      }
      socket_ = {};
    }
    // The process that gets the name starts the keeper. One that is about to end gives the name up.
    if (const Listener listener = listen_at(name_)) {
      launch_keeper(program_, listener, time_to_connect());
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  fail_request("no keeper can be reached on this node");
}

Sent ClientSocket::send(const Message& request, std::span<const int> files, std::span<const int> regions, bool waits) {
  try {
    connect();
  } catch (const std::system_error& error) {
    fail_request(error.what());
  }
  const Sent sent = send_regions(regions);
  return sent == Sent::sent ? send_datagram(socket_.get(), encode(request), files, waits) : sent;
}

Sent ClientSocket::send_regions(std::span<const int> regions) {
  if (regions.empty()) return Sent::sent;
  const std::vector<std::byte> message = encode({KeeperOp::regions, 0, KeeperCode::done, {}, {}});
  Sent sent = Sent::sent;
  for (std::size_t done = 0; sent == Sent::sent && done < regions.size(); done += kMostDatagramFiles) {
    const auto some = regions.subspan(done, std::min(kMostDatagramFiles, regions.size() - done));
    sent = send_datagram(socket_.get(), message, some);
  }
  return sent;
}

}  // namespace fenix_impl
