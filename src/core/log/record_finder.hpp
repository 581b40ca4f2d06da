// SPDX-License-Identifier: BSD-3-Clause
// Where the records of other ranks are in their logs. A log has an entry for each snapshot that is kept: to look through it for each of
// them would take the square of their number in reads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/log/record_log.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

class RecordFinder {
 public:
  /// Returns the record that a rank has committed under an epoch, if it is in its log. Reads the heads of all its entries if the record is
  /// not where it was when it last did so. Throws std::bad_alloc.
  [[nodiscard]] std::optional<Record> find(RemoteRegions& control, int rank, const RecordLog& log, Epoch epoch);

 private:
  using Entries = std::multimap<Epoch, std::uint32_t>;

  static Entries read_heads(RemoteRegions& control, int rank, const RecordLog& log);

  std::map<int, Entries> entries_;  // by rank. Owners write records at any time: each is looked at again
};

}  // namespace fenix_impl
