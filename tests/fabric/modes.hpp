// SPDX-License-Identifier: BSD-3-Clause
// Modes of the provider of the tests: words of FENIX_TEST_PROVIDER, with commas between them.
#pragma once

#include <cstddef>

namespace hostile {

struct Modes {
  bool basic = false;         ///< demands virtual addresses, memory that is there, keys of its own, and descriptors
  bool endpoint = false;      ///< demands that memory is bound to an endpoint, and memory that is there
  bool lowest = false;        ///< keys of its own: the lowest that no registration has
  bool cache = false;         ///< keys of its own: the same one for the same memory, unless FI_MR_CACHE_MAX_COUNT is 0
  bool cache_always = false;  ///< the same without a look at the variable, as if somebody had used libfabric before
  bool stale = false;         ///< what has been deregistered can be written to
  bool deaf = false;          ///< writes never end
  bool early = false;         ///< writes end before they are carried out
  bool late = false;          ///< writes come late, in pieces and in any order
  bool slow = false;          ///< each transfer takes milliseconds, and a MiB twenty of them
  bool shaky = false;         ///< the first write fails, and the next does not
  std::size_t pinned = 0;     ///< the most bytes that can be registered; they become real memory
  std::size_t few = 0;        ///< the most registrations

  [[nodiscard]] bool chooses_keys() const { return basic || lowest || cache || cache_always; }
  [[nodiscard]] bool needs_memory() const { return basic || endpoint; }
  [[nodiscard]] bool delays() const { return late || slow || early || deaf; }
};

/// Of this process. An unknown word ends it.
const Modes& modes();

}  // namespace hostile
