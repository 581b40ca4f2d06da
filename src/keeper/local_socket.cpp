// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/local_socket.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "keeper/socket_folder.hpp"

namespace fenix_impl {
namespace {

[[noreturn]] void throw_errno(const char* operation) {
  throw std::system_error(errno, std::generic_category(), operation);
}

struct Address {
  sockaddr_un value{};
  socklen_t bytes = 0;
};

Address address_of(const std::string& path) {
  Address address;
  address.value.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.value.sun_path) {
    throw std::system_error(ENAMETOOLONG, std::generic_category(), "the socket " + path);
  }
  std::memcpy(address.value.sun_path, path.data(), path.size());
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

Descriptor make_socket() {
  Descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!made) throw_errno("socket");
  return made;
}

bool is_of_this_user(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == ::geteuid();
}

void limit_sends(int socket) {
  const timeval second{1, 0};
  (void)::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
}

constexpr mode_t kSocketMode = 0600;

constexpr std::size_t kFilesBytes = CMSG_SPACE(sizeof(int) * kMostDatagramFiles);

struct Ancillary {
  alignas(cmsghdr) std::array<char, kFilesBytes> bytes{};
};

void take_files(msghdr& message, std::vector<Descriptor>& files) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      files.emplace_back(fd);
    }
  }
}

// A socket with this name is of a process that has died: its lock is free.
Listener listen_once(const std::string& name) {
  constexpr int kWaiting = 4096;
  const std::string path = make_socket_folder() + "/" + name;
  Listener made;
  made.lock = lock_name(path);
  if (!made.lock) return {};
  made.socket = make_socket();
  const Address address = address_of(path);
  (void)::unlink(path.c_str());
  if (::bind(made.socket.get(), reinterpret_cast<const sockaddr*>(&address.value), address.bytes) != 0) {
    if (errno == ENOENT) return {};
    throw_errno("bind");
  }
  // Whatever the umask has left of the mode: nobody else can enter the folder.
  if (::chmod(path.c_str(), kSocketMode) != 0) throw_errno("chmod");
  if (::listen(made.socket.get(), kWaiting) != 0) throw_errno("listen");
  return made;
}

}  // namespace

Listener listen_at(const std::string& name) {
  // A keeper that ends removes each lock that it can take, and an empty folder: for a moment also what this process has just made.
  constexpr int kMostAttempts = 10;
  constexpr std::chrono::milliseconds kBetween{5};
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(kBetween);
    if (Listener made = listen_once(name)) return made;
  }
  return {};
}

void close_listener(Listener& listener) noexcept {
  sockaddr_un address{};
  socklen_t bytes = sizeof address;
  if (listener && ::getsockname(listener.socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes) == 0) {
    remove_name(address.sun_path);
  }
  listener = {};
}

Descriptor connect_to(const std::string& name) {
  const auto folder = find_socket_folder();
  if (!folder) return {};
  Descriptor made = make_socket();
  limit_sends(made.get());
  const Address address = address_of(*folder + "/" + name);
  if (::connect(made.get(), reinterpret_cast<const sockaddr*>(&address.value), address.bytes) != 0) {
    if (errno == ECONNREFUSED || errno == EAGAIN || errno == ENOENT) return {};
    throw_errno("connect");
  }
  return is_of_this_user(made.get()) ? std::move(made) : Descriptor();
}

Descriptor accept_from(const Descriptor& listener) {
  Descriptor made(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!made || !is_of_this_user(made.get())) return {};
  limit_sends(made.get());
  return made;
}

Sent send_datagram(int socket, std::span<const std::byte> bytes, std::span<const int> files, bool waits) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  Ancillary ancillary;
  if (!files.empty()) {
    message.msg_control = ancillary.bytes.data();
    message.msg_controllen = CMSG_SPACE(files.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(files.size_bytes());
    std::memcpy(CMSG_DATA(rights), files.data(), files.size_bytes());
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT));
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(bytes.size())) return Sent::sent;
  const bool is_full = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ENOMEM);
  return is_full ? Sent::full : Sent::end;
}

Received receive_datagram(int socket, Datagram& datagram) {
  // Most messages are short: a new buffer each time would take longer than the rest.
  static thread_local const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kMostDatagramBytes);
  datagram.files.clear();
  iovec part{buffer.get(), kMostDatagramBytes};
  Ancillary ancillary;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.bytes.data();
  message.msg_controllen = ancillary.bytes.size();
  ssize_t got = -1;
  // A process that ends without having read all that was sent to it resets the connection, once. Its last messages are still there.
  bool was_reset = false;
  do {
    got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(was_reset, true))));
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Received::nothing;
  if (got <= 0) return Received::end;
  take_files(message, datagram.files);
  datagram.lacks_files = (message.msg_flags & MSG_CTRUNC) != 0;
  if (datagram.lacks_files) datagram.files.clear();
  datagram.bytes.assign(buffer.get(), buffer.get() + got);
  return Received::message;
}

Descriptor to_memory_file(std::span<const std::byte> bytes) {
  Descriptor file(::memfd_create("fenix", MFD_CLOEXEC));
  if (!file) throw_errno("memfd_create");
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::pwrite(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (written < 0 && errno != EINTR) throw_errno("writing to memory");
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return file;
}

std::vector<std::byte> read_memory_file(const Descriptor& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno("fstat");
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::pread(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno != EINTR) throw_errno("reading from memory");
    if (got == 0) bytes.resize(done);
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return bytes;
}

pid_t process_at(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 ? peer.pid : 0;
}

}  // namespace fenix_impl
