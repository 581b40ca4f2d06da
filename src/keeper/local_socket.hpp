// SPDX-License-Identifier: BSD-3-Clause
// Messages with file descriptors between processes of one user on one node. The sockets have names in a folder that only this user can
// enter (socket_folder.hpp). A name is free again when the last process that has it has ended.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace fenix_impl {

struct Datagram {
  std::vector<std::byte> bytes;
  std::vector<Descriptor> files;
  bool lacks_files = false;  ///< this process has no descriptors left for them
};

/// Most bytes and descriptors of a message. More of them need a file in memory, or several messages.
constexpr std::size_t kMostDatagramBytes = std::size_t{32} << 10U;
constexpr std::size_t kMostDatagramFiles = 64;

/// A socket that waits for connections, and the lock of its name. Processes that inherit both have the name as well.
struct Listener {
  Descriptor socket;
  Descriptor lock;
  explicit operator bool() const { return static_cast<bool>(socket); }
};

/// Takes the name and waits for connections there. Returns none if another process has the name. Throws std::system_error.
[[nodiscard]] Listener listen_at(const std::string& name);
/// Gives the name up, of which this process is the last user.
void close_listener(Listener& listener) noexcept;
/// Returns none if nobody has the name, or another user. Throws std::system_error.
[[nodiscard]] Descriptor connect_to(const std::string& name);
/// Accepts a connection. Returns none if there is none that waits, or it is of another user.
[[nodiscard]] Descriptor accept_from(const Descriptor& listener);

enum class Sent {
  sent,
  full,  ///< the other side has not read what it was sent before
  end    ///< it has gone
};
/// Sends a message. Waits for a second if there is no room for it; with waits == false, not at all.
[[nodiscard]] Sent send_datagram(int socket, std::span<const std::byte> bytes, std::span<const int> files,
                                 bool waits = true);
enum class Received { message, nothing, end };
/// Receives a message if there is one.
[[nodiscard]] Received receive_datagram(int socket, Datagram& datagram);

/// Makes a file in memory with these bytes. Throws std::system_error.
[[nodiscard]] Descriptor to_memory_file(std::span<const std::byte> bytes);
/// Returns the bytes of a file in memory that another process has made. Throws std::system_error.
[[nodiscard]] std::vector<std::byte> read_memory_file(const Descriptor& file);

/// Returns the process at the other end of a connection; 0 if it is unknown.
[[nodiscard]] pid_t process_at(int socket);

}  // namespace fenix_impl
