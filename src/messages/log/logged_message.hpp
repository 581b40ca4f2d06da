// SPDX-License-Identifier: BSD-3-Clause
// A message in the log of its sender: in a journal, or in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "messages/journal/journal.hpp"
#include "messages/journal/spill_reader.hpp"

namespace fenix_impl {

struct LoggedMessage {
  Entry entry;
  const Journal* journal = nullptr;          ///< where it is, or
  std::shared_ptr<const SpillReader> spill;  ///< in which files
  std::uint32_t file = 0;                    ///< of those

  /// Returns false if it has been replaced meanwhile, or is damaged in all places. slot: of its sender. Local. Throws PeerFailure.
  [[nodiscard]] bool read(int slot, std::span<std::byte> to) const {
    return journal != nullptr ? journal->reader().read(slot, entry, to) : spill->read({file, entry}, to);
  }
};

}  // namespace fenix_impl
