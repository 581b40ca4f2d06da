// SPDX-License-Identifier: BSD-3-Clause
// Counters that libfenix_mpi changes by itself where nothing but counting is to be done for a message: a call of libfenix would take longer.
#pragma once

#include <atomic>
#include <cstdint>

#include "interposition/open_numbers.hpp"
#include "interposition/signature.hpp"

namespace fenix_impl {

/// For messages to a partner.
struct FastSend {
  bool is_allowed = false;
  std::uint64_t* sent = nullptr;       ///< counts them; null: they are logged when they are on their way
  const bool* has_outcomes = nullptr;  ///< whether outcomes have to be stored first, by libfenix; null: never
  Signature signature;                 ///< of those that are logged, for libfenix
  std::uint64_t* logged = nullptr;     ///< counts those that are logged, for libfenix
};

/// For messages from a partner.
struct FastReceive {
  bool is_allowed = false;
  std::uint64_t* begun = nullptr;  ///< counts receives
  /// Number of the message for which the program waits, or 0; null: nobody asks for it.
  std::uint64_t* waited_for = nullptr;
  /// Counts receives that the program can cancel; null: libfenix begins them.
  std::uint64_t* cancellable = nullptr;
  /// The numbers of receives that the program can cancel, as long as they have no message; null: nobody asks for them.
  OpenNumbers* open = nullptr;
};

/// Generation of the counters. A counter of an earlier one must not be used; libfenix may lend it again.
inline std::atomic<unsigned> generation_of_fast_path{0};

inline void close_fast_path() { generation_of_fast_path.fetch_add(1, std::memory_order_acq_rel); }

}  // namespace fenix_impl
