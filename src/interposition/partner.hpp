// SPDX-License-Identifier: BSD-3-Clause
// The other rank of a message as the program names it, and a cache of values by partner.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace fenix_impl {

struct Partner {
  MPI_Comm name = MPI_COMM_NULL;  ///< of the program
  std::uint64_t comm_id = 0;      ///< number of the communicator
  int rank = 0;                   ///< in the communicator
  int tag = 0;

  bool operator==(const Partner&) const = default;
};

/// A cache: a value for each of the latest partners. A lookup is cheap and takes no memory.
template <class Value>
class RecentPartners {
 public:
  /// Returns the value of a partner, valid until the next change, or null.
  [[nodiscard]] const Value* find(const Partner& partner) const {
    const Place& place = places_[index_of(partner)];
    return place.is_taken && place.partner == partner ? &place.value : nullptr;
  }
  void note(const Partner& partner, const Value& value) { places_[index_of(partner)] = {true, partner, value}; }
  void forget() {
    for (Place& each : places_) each.is_taken = false;
  }

 private:
  struct Place {
    bool is_taken = false;
    Partner partner;
    Value value{};
  };
  static constexpr std::size_t kPlaces = 64;

  [[nodiscard]] static std::size_t index_of(const Partner& partner) {
    constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
    const std::uint64_t numbers = static_cast<std::uint64_t>(static_cast<std::uint32_t>(partner.rank)) << 32U |
                                  static_cast<std::uint32_t>(partner.tag);
    return static_cast<std::size_t>(((partner.comm_id ^ numbers) * kGoldenRatio) >> 32U) % kPlaces;
  }

  std::array<Place, kPlaces> places_;
};

}  // namespace fenix_impl
