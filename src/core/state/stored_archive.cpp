// SPDX-License-Identifier: BSD-3-Clause
#include "core/state/stored_archive.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace fenix_impl {
namespace {

constexpr std::uint64_t kReadAtOnce = std::uint64_t{64} << 20U;
static_assert(kReadAtOnce % Extent::kPiece == 0);

// Returns where memory is in a region; nullopt if it is not there.
std::optional<std::uint64_t> offset_in(const Region& region, std::span<const std::byte> memory) {
  const auto all = region.bytes();
  if (all.empty() || memory.data() < all.data() || memory.data() + memory.size() > all.data() + all.size()) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(memory.data() - all.data());
}

}  // namespace

bool read_stored(KeeperClient& keeper, const StoredData& from, std::span<std::byte> to, const Region& region,
                 Team& team) {
  const std::string name = from.dataset.text();
  const auto check = [&team] { team.check(); };
  const auto place = offset_in(region, to);
  Region beside;
  if (!place && !to.empty()) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), kReadAtOnce));
    beside = Region(bytes);
    beside.reserve(0, Region::kHeaderBytes + bytes);
  }
  const int file = (place ? region : beside).address().fd;
  for (std::uint64_t done = 0; done < to.size(); done += kReadAtOnce) {
    const std::uint64_t bytes = std::min<std::uint64_t>(to.size() - done, kReadAtOnce);
    const std::uint64_t offset = place ? *place + done : Region::kHeaderBytes;
    if (!keeper.datasets().read({name, from.rank, from.member, done, bytes, offset}, file, check)) return false;
    if (!place) std::memcpy(to.data() + done, beside.bytes().data() + offset, bytes);
  }
  return true;
}

std::optional<Fetched> StoredArchive::fetch(std::int32_t member_id, int stored_by, Team& team) {
  const auto stored = keeper_->datasets().rank(plan_.name, stored_by, [&team] { team.check(); });
  const auto record = stored ? decode(stored->record) : std::nullopt;
  const MemberVersion* const version = record ? record->find(member_id) : nullptr;
  const Extent* const extent = stored ? stored->find(member_id) : nullptr;
  if (version == nullptr || extent == nullptr || extent->bytes != version->bytes()) return std::nullopt;
  Fetched fetched{*version, std::vector<std::byte>(extent->bytes)};
  if (!read_stored(*keeper_, {plan_.name, stored_by, member_id}, fetched.data, {}, team)) return std::nullopt;
  return fetched;
}

}  // namespace fenix_impl
