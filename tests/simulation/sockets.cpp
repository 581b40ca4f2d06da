// SPDX-License-Identifier: BSD-3-Clause
#include "sockets.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "disk.hpp"
#include "event.hpp"
#include "world.hpp"

namespace fenix_simulation {
namespace {

constexpr std::size_t kMostWaiting = 278;  // messages of a rank that the system has room for, as measured
constexpr Time kPatience = 1'000'000'000;  // of a send: the library asks for it

Process& self() { return *present_process(); }

void note(const char* what, long number) {
  world().note(8, [&] { return std::string(what) + " " + std::to_string(number); });
}

bool has_room(const Socket& socket) {
  return socket.connection->to[static_cast<std::size_t>(1 - socket.end)].size() < kMostWaiting;
}

std::vector<OpenFile> files_in(const msghdr& message) {
  std::vector<OpenFile> files;
  auto* const header = const_cast<msghdr*>(&message);
  for (cmsghdr* part = CMSG_FIRSTHDR(header); part != nullptr; part = CMSG_NXTHDR(header, part)) {
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof descriptor);
      if (const OpenFile* const file = file_of(descriptor)) files.push_back(*file);
    }
  }
  return files;
}

void give_files(msghdr& message, std::vector<OpenFile> files) {
  if (files.empty()) {
    message.msg_controllen = 0;
    return;
  }
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const int descriptor = open_file(std::move(files[i]));
    std::memcpy(CMSG_DATA(rights) + i * sizeof(int), &descriptor, sizeof descriptor);
  }
  message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
}

/// Returns what poll tells of a descriptor, and notes who waits.
short events_of(int descriptor, short wanted) {
  if (descriptor < 0) return 0;
  if (const auto event = opened_as<Event64>(descriptor)) {
    event->reader = &self();
    return static_cast<short>(event->count > 0 ? wanted & POLLIN : 0);
  }
  const auto socket = opened_as<Socket>(descriptor);
  if (!socket) return POLLNVAL;
  if (!socket->connection) {
    socket->reader = &self();
    return static_cast<short>(!socket->waiting.empty() ? wanted & POLLIN : 0);
  }
  Connection& connection = *socket->connection;
  const auto end = static_cast<std::size_t>(socket->end);
  connection.readers[end] = &self();
  const bool is_over = connection.closed[1 - end];
  int events = is_over ? POLLHUP : 0;
  if (is_over || connection.reset[end] || !connection.to[end].empty()) events |= wanted & POLLIN;
  if (is_over || has_room(*socket)) events |= wanted & POLLOUT;
  return static_cast<short>(events);
}

}  // namespace

void tell(Process* reader) {
  if (has_world() && reader != nullptr && reader->alive) world().stir(*reader);
}

void Connection::close(int end) {
  const auto own = static_cast<std::size_t>(end);
  closed[own] = true;
  reset[1 - own] = !to[own].empty();
  to[own].clear();
  tell(readers[1 - own]);
}

void Socket::close() {
  listens = false;
  if (connection) connection->close(end);
  for (const auto& each : std::exchange(waiting, {})) each->close(1);
}

ssize_t Event64::add(const void* from) {
  std::uint64_t more = 0;
  std::memcpy(&more, from, sizeof more);
  count += more;
  tell(reader);
  return sizeof more;
}

ssize_t Event64::take(void* to) {
  if (count == 0) return refuse(EAGAIN);
  std::memcpy(to, &count, sizeof count);
  count = 0;
  return sizeof count;
}

}  // namespace fenix_simulation

using namespace fenix_simulation;

extern "C" {

int simulated_eventfd(unsigned count, int /*flags*/) {
  auto made = std::make_shared<Event64>();
  made->count = count;
  return open_file(std::move(made));
}

int simulated_socket(int /*domain*/, int /*type*/, int /*protocol*/) { return open_file(std::make_shared<Socket>()); }

int simulated_bind(int descriptor, const sockaddr* address, socklen_t /*bytes*/) {
  world().step();
  const auto socket = opened_as<Socket>(descriptor);
  const char* const path = reinterpret_cast<const sockaddr_un*>(address)->sun_path;
  Disk& disk = disk_at(self().node, path);
  const auto spot = disk.find(path);
  if (!socket) return refuse(EBADF);
  if (spot.inode) return refuse(EADDRINUSE);
  if (!spot.folder) return refuse(ENOENT);
  const InodePtr made = disk.make(Inode::Type::socket, 0755, geteuid());
  made->listener = socket;
  socket->path = path;
  spot.folder->change({self().node, {}, spot.name, made});
  return 0;
}

int simulated_listen(int descriptor, int /*backlog*/) {
  const auto socket = opened_as<Socket>(descriptor);
  if (!socket) return refuse(EBADF);
  socket->listens = true;
  socket->listener = self().pid;
  return 0;
}

int simulated_connect(int descriptor, const sockaddr* address, socklen_t /*bytes*/) {
  world().step();
  const auto socket = opened_as<Socket>(descriptor);
  const char* const path = reinterpret_cast<const sockaddr_un*>(address)->sun_path;
  const auto spot = disk_at(self().node, path).find(path);
  if (!socket) return refuse(EBADF);
  if (!spot.inode) return refuse(ENOENT);
  const auto listener = std::dynamic_pointer_cast<Socket>(spot.inode->listener.lock());
  note("connects", listener && listener->listens ? 1 : 0);
  if (!listener || !listener->listens) return refuse(ECONNREFUSED);
  socket->connection = std::make_shared<Connection>();
  socket->connection->pids = {listener->listener, self().pid};
  listener->waiting.push_back(socket->connection);
  tell(listener->reader);
  return 0;
}

int simulated_accept4(int descriptor, sockaddr* /*address*/, socklen_t* /*bytes*/, int /*flags*/) {
  world().step();
  const auto listener = opened_as<Socket>(descriptor);
  if (!listener) return refuse(EBADF);
  if (listener->waiting.empty()) return refuse(EAGAIN);
  auto made = std::make_shared<Socket>();
  made->connection = listener->waiting.front();
  made->end = 1;
  listener->waiting.pop_front();
  return open_file(std::move(made));
}

int simulated_getsockname(int descriptor, sockaddr* address, socklen_t* /*bytes*/) {
  const auto socket = opened_as<Socket>(descriptor);
  if (!socket) return refuse(EBADF);
  auto* const name = reinterpret_cast<sockaddr_un*>(address);
  name->sun_family = AF_UNIX;
  std::memset(name->sun_path, 0, sizeof name->sun_path);
  socket->path.copy(name->sun_path, sizeof name->sun_path - 1);
  return 0;
}

int simulated_getsockopt(int descriptor, int /*level*/, int option, void* value, socklen_t* /*bytes*/) {
  const auto socket = opened_as<Socket>(descriptor);
  if (!socket || !socket->connection || option != SO_PEERCRED) return refuse(EINVAL);
  // Each end is told of the other one.
  const ucred peer{socket->connection->pids[static_cast<std::size_t>(socket->end)], geteuid(), getegid()};
  std::memcpy(value, &peer, sizeof peer);
  return 0;
}

int simulated_setsockopt(int /*descriptor*/, int /*level*/, int /*option*/, const void* /*value*/,
                         socklen_t /*bytes*/) {
  return 0;
}

ssize_t simulated_sendmsg(int descriptor, const msghdr* message, int flags) {
  world().step();
  const auto socket = opened_as<Socket>(descriptor);
  if (!socket || !socket->connection) return refuse(ENOTCONN);
  Connection& connection = *socket->connection;
  const auto other = static_cast<std::size_t>(1 - socket->end);
  for (const Time end = world().now() + kPatience; !connection.closed[other] && !has_room(*socket);) {
    connection.readers[1 - other] = &self();
    if ((flags & MSG_DONTWAIT) != 0 || world().now() >= end) return refuse(EAGAIN);
    wait_for_news(end);
  }
  if (connection.closed[other]) return refuse(EPIPE);
  const auto* const begin = static_cast<const std::byte*>(message->msg_iov[0].iov_base);
  const std::size_t bytes = message->msg_iov[0].iov_len;
  connection.to[other].push_back({{begin, begin + bytes}, files_in(*message)});
  note("sends", static_cast<long>(bytes));
  tell(connection.readers[other]);
  return static_cast<ssize_t>(bytes);
}

ssize_t simulated_recvmsg(int descriptor, msghdr* message, int /*flags*/) {
  const auto socket = opened_as<Socket>(descriptor);
  if (!socket || !socket->connection) return refuse(ENOTCONN);
  Connection& connection = *socket->connection;
  const auto end = static_cast<std::size_t>(socket->end);
  connection.readers[end] = &self();
  // A thread that looks again and again without finding anything waits longer each time.
  if (!connection.reset[end] && connection.to[end].empty() && !connection.closed[1 - end]) {
    world().pass_place();
    return refuse(EAGAIN);
  }
  world().step();
  if (std::exchange(connection.reset[end], false)) return refuse(ECONNRESET);
  if (connection.to[end].empty()) return connection.closed[1 - end] ? 0 : refuse(EAGAIN);
  const bool was_full = connection.to[end].size() >= kMostWaiting;
  Packet packet = std::move(connection.to[end].front());
  connection.to[end].pop_front();
  if (was_full) tell(connection.readers[1 - end]);
  const std::size_t bytes = std::min(packet.bytes.size(), message->msg_iov[0].iov_len);
  std::memcpy(message->msg_iov[0].iov_base, packet.bytes.data(), bytes);
  message->msg_flags = 0;
  give_files(*message, std::move(packet.files));
  note("receives", static_cast<long>(bytes));
  return static_cast<ssize_t>(bytes);
}

int simulated_poll(pollfd* watched, nfds_t number, int milliseconds) {
  world().step();
  const Time end = milliseconds < 0 ? kNever : world().now() + static_cast<Time>(milliseconds) * 1'000'000;
  while (true) {
    int ready = 0;
    for (nfds_t i = 0; i < number; ++i) {
      watched[i].revents = events_of(watched[i].fd, watched[i].events);
      ready += watched[i].revents != 0 ? 1 : 0;
    }
    if (ready > 0 || world().now() >= end) return ready;
    wait_for_news(end);
  }
}
}
