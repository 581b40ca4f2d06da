// SPDX-License-Identifier: BSD-3-Clause
// Messages with file descriptors between processes of one user on one node. The sockets have names that are in no file system, and go
// with the last process that has them open.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace fenix_impl {

struct Datagram {
  std::vector<std::byte> bytes;
  std::vector<Descriptor> files;
};

/// Most bytes and descriptors of a message. More of them need a file in memory, or several messages.
constexpr std::size_t kMostDatagramBytes = std::size_t{32} << 10U;
constexpr std::size_t kMostDatagramFiles = 64;

/// Takes the name and waits for connections there. Returns none if another process has the name. Throws std::system_error.
[[nodiscard]] Descriptor listen_at(const std::string& name);
/// Returns none if nobody has the name, or another user. Throws std::system_error.
[[nodiscard]] Descriptor connect_to(const std::string& name);
/// Accepts a connection. Returns none if there is none that waits, or it is of another user.
[[nodiscard]] Descriptor accept_from(const Descriptor& listener);

/// Sends a message. Returns false if the other side has gone, or has not read for a second.
[[nodiscard]] bool send_datagram(int socket, std::span<const std::byte> bytes, std::span<const int> files);
enum class Received { message, nothing, end };
/// Receives a message if there is one.
[[nodiscard]] Received receive_datagram(int socket, Datagram& datagram);

/// Makes a file in memory with these bytes. Throws std::system_error.
[[nodiscard]] Descriptor to_memory_file(std::span<const std::byte> bytes);
/// Returns the bytes of a file in memory that another process has made. Throws std::system_error.
[[nodiscard]] std::vector<std::byte> read_memory_file(const Descriptor& file);

}  // namespace fenix_impl
