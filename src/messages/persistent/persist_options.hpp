// SPDX-License-Identifier: BSD-3-Clause
// How messages are stored, and logged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "messages/log/sender_log.hpp"

namespace fenix_impl {

/// The keys of the info of MPI_Comm_persist.
struct PersistOptions {
  static constexpr std::uint64_t kDefaultVolume = std::uint64_t{64} << 20;
  static constexpr std::uint32_t kMostDepth = 1U << 20U;

  std::uint64_t volume = kDefaultVolume;  ///< bytes of messages of this rank that are kept at once
  std::int32_t copies = 1;                ///< on other ranks
  std::uint32_t depth = 1;                ///< messages of a signature that are kept
  bool newest_first = false;              ///< order in which they are received, if there are several
  bool waits = true;                      ///< a receive waits if nothing has been stored
  bool delivers = false;                  ///< messages are delivered as well
  std::string folder;                     ///< for files, from which a later job goes on; none if empty
};

/// How messages are logged.
struct LogOptions {
  PersistOptions held;                  ///< of what other ranks hold
  std::optional<std::uint64_t> memory;  ///< bytes of logged messages of this rank, apart from the others
  std::optional<std::int32_t>
      copies{};  ///< of logged messages on other ranks; without a number they are held as all others
  SenderLog::Comparing comparing =
      SenderLog::Comparing::on;  ///< of messages that are sent once more with those in the log

  /// Whether logged messages have a journal of their own.
  [[nodiscard]] bool are_apart() const { return memory || copies.value_or(held.copies) != held.copies; }
};

}  // namespace fenix_impl
