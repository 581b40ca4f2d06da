// SPDX-License-Identifier: BSD-3-Clause
// The folder of this user for sockets, on this node. It has mode 0700: no other user can use a name in it, take one, or block one.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/descriptor.hpp"

namespace fenix_impl {

/// Folders in which it may be, the best one first. All processes of a user on a node have the same ones, in all jobs: TMPDIR may differ, and
/// what is in XDG_RUNTIME_DIR and /dev/shm may go when the user logs out.
[[nodiscard]] std::span<const std::string> places_of_sockets();

/// Returns the folder, or nullopt if there is none.
[[nodiscard]] std::optional<std::string> find_socket_folder(std::span<const std::string> places = places_of_sockets());
/// Returns the folder, which is made if there is none. Throws std::system_error.
[[nodiscard]] std::string make_socket_folder(std::span<const std::string> places = places_of_sockets());

/// Locks a name in the folder for this process and those that inherit the descriptor. Returns none if others have it. Throws
/// std::system_error.
[[nodiscard]] Descriptor lock_name(const std::string& path);
/// Removes socket and lock of a name that this process has locked, those that dead processes have left, and the folder if it is empty then.
void remove_name(const std::string& path) noexcept;

}  // namespace fenix_impl
