// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/keeper_peer.hpp"

#include <fcntl.h>

#include <span>

#include "keeper/local_socket.hpp"

namespace fenix_impl {
namespace {

Sent send_now(const KeeperPeer& peer, std::span<const std::byte> bytes, const Descriptor& file) {
  const int fd = file.get();
  return send_datagram(peer.socket.get(), bytes, std::span<const int>(&fd, file ? 1 : 0), /*waits=*/false);
}

}  // namespace

void KeeperPeer::answer(const Message& message, const Descriptor& file) {
  std::vector<std::byte> bytes = encode(message);
  const std::lock_guard lock(mutex_);
  if (rest_.empty() && send_now(*this, bytes, file) != Sent::full) return;
  Descriptor kept(file ? ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0) : -1);
  if (file && !kept) {
    bytes = encode({message.op, message.id, KeeperCode::failed, "the keeper of this node has no descriptors left", {}});
  }
  rest_.push_back({std::move(bytes), std::move(kept)});
}

void KeeperPeer::tell(const Message& message) {
  const std::lock_guard lock(mutex_);
  if (rest_.empty()) (void)send_now(*this, encode(message), {});
}

void KeeperPeer::send_rest() {
  const std::lock_guard lock(mutex_);
  while (!rest_.empty() && send_now(*this, rest_.front().bytes, rest_.front().file) != Sent::full) rest_.pop_front();
}

bool KeeperPeer::has_rest() {
  const std::lock_guard lock(mutex_);
  return !rest_.empty();
}

}  // namespace fenix_impl
