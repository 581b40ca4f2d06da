// SPDX-License-Identifier: BSD-3-Clause
// A member of a group on this rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/record.hpp"
#include "core/slots.hpp"
#include "rma/path.hpp"
#include "rma/region.hpp"

namespace fenix_impl {

/// What is the same on all ranks; sent to ranks that have to learn of the member.
struct MemberInfo {
  std::int32_t id = 0;
  std::int32_t datatype = 0;  ///< Fortran handle of the MPI datatype
  std::uint32_t element_bytes = 0;
};

struct Member {
  MemberInfo info;
  std::uint64_t own_count = 0;        ///< elements, of this rank
  std::vector<std::uint64_t> counts;  ///< elements, of every rank of the team; empty until they are all known
  const void* buffer = nullptr;       ///< source of stores; belongs to the application

  Region region;                         ///< own slots, then those held for another rank
  SlotLayout layout;                     ///< of the own region
  SlotLayout holder_layout;              ///< of the region of the rank that protects this one
  std::unique_ptr<Exposure> exposure;    ///< the members' regions of all ranks
  std::optional<MemberVersion> working;  ///< stored since the last commit

  [[nodiscard]] std::uint64_t bytes_of(int rank) const {
    return counts.at(static_cast<std::size_t>(rank)) * info.element_bytes;
  }
  [[nodiscard]] std::span<std::byte> own_slot(const MemberVersion& version) const {
    return region.bytes().subspan(layout.own_offset(version.slot), version.bytes());
  }
  [[nodiscard]] std::span<std::byte> held_slot(const MemberVersion& version) const {
    return region.bytes().subspan(layout.held_offset(version.slot), version.bytes());
  }
};

}  // namespace fenix_impl
