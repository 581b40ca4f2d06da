// SPDX-License-Identifier: BSD-3-Clause
#include "store/part.hpp"

#include <algorithm>

#include "store/fields.hpp"
#include "store/file_system.hpp"
#include "store/sealed_file.hpp"

namespace fenix_impl {
namespace {

// Extents follow each other in the file as they do in the part.
bool extents_fit(const StoredPart& part) {
  std::uint64_t end = 0;
  for (const StoredRank& rank : part.ranks) {
    for (const Extent& extent : rank.extents) {
      if (extent.offset < end || extent.offset % FileSystem::kAlignment != 0) return false;
      if (extent.offset > part.data_bytes || extent.bytes > part.data_bytes - extent.offset) return false;
      end = extent.offset + extent.bytes;
    }
  }
  return true;
}

bool ranks_ascend(const StoredPart& part) {
  for (std::size_t i = 1; i < part.ranks.size(); ++i) {
    if (part.ranks[i].rank <= part.ranks[i - 1].rank) return false;
  }
  return true;
}

}  // namespace

const Extent* StoredRank::find(std::int32_t member) const {
  const auto found =
      std::find_if(extents.begin(), extents.end(), [member](const Extent& each) { return each.member == member; });
  return found != extents.end() ? &*found : nullptr;
}

std::string part_file(std::uint32_t writer) { return "p." + std::to_string(writer); }

std::string data_file(std::uint32_t writer, std::uint32_t attempt) {
  return "d." + std::to_string(writer) + "." + std::to_string(attempt);
}

std::vector<std::byte> encode(const DatasetName& name, const StoredPart& part) {
  FieldWriter fields;
  fields.number(part.writer);
  fields.number(part.attempt);
  fields.number(part.data_bytes);
  fields.number(static_cast<std::uint32_t>(part.ranks.size()));
  for (const StoredRank& rank : part.ranks) {
    fields.number(rank.rank);
    fields.bytes(rank.record);
    fields.number(static_cast<std::uint32_t>(rank.extents.size()));
    for (const Extent& extent : rank.extents) {
      fields.number(extent.member);
      fields.number(extent.offset);
      fields.number(extent.bytes);
      for (const std::uint64_t hash : extent.hashes) fields.number(hash);
    }
  }
  return seal(SealedKind::part, name.text(), fields.all());
}

std::optional<StoredPart> decode_part(const DatasetName& name, std::uint32_t writer, std::span<const std::byte> file) {
  const auto body = unseal(SealedKind::part, name.text(), file);
  if (!body) return std::nullopt;
  FieldReader fields(*body);
  StoredPart part;
  part.writer = fields.number<std::uint32_t>();
  part.attempt = fields.number<std::uint32_t>();
  part.data_bytes = fields.number<std::uint64_t>();
  constexpr std::size_t kRankBytes = 12;
  constexpr std::size_t kExtentBytes = 20;
  part.ranks.resize(fields.count(kRankBytes));
  for (StoredRank& rank : part.ranks) {
    rank.rank = fields.number<std::int32_t>();
    const auto record = fields.bytes();
    rank.record.assign(record.begin(), record.end());
    rank.extents.resize(fields.count(kExtentBytes));
    for (Extent& extent : rank.extents) {
      extent.member = fields.number<std::int32_t>();
      extent.offset = fields.number<std::uint64_t>();
      extent.bytes = fields.number<std::uint64_t>();
      // Memory is taken for hashes that are there, whatever number of bytes the file claims.
      const std::size_t pieces = Extent::pieces(extent.bytes);
      for (std::size_t i = 0; i < pieces && fields.is_good(); ++i) {
        extent.hashes.push_back(fields.number<std::uint64_t>());
      }
    }
  }
  if (!fields.is_at_end() || part.writer != writer || !ranks_ascend(part) || !extents_fit(part)) return std::nullopt;
  return part;
}

}  // namespace fenix_impl
