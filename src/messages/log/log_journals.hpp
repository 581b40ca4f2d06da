// SPDX-License-Identifier: BSD-3-Clause
// The journals of a log of messages.
#pragma once

#include "messages/journal/journal.hpp"

namespace fenix_impl {

struct LogJournals {
  /// One journal for all.
  LogJournals(Journal& journal) : held(journal), messages(journal) {}  // NOLINT(google-explicit-constructor)
  LogJournals(Journal& held_elsewhere, Journal& of_messages) : held(held_elsewhere), messages(of_messages) {}

  [[nodiscard]] bool are_one() const { return &held == &messages; }

  Journal& held;      ///< with copies on other ranks, for what a dead rank cannot make again
  Journal& messages;  ///< perhaps without copies
};

}  // namespace fenix_impl
