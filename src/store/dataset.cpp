// SPDX-License-Identifier: BSD-3-Clause
#include "store/dataset.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/scratch.hpp"
#include "base/simd/hash.hpp"
#include "store/sealed_file.hpp"

namespace fenix_impl {
namespace {

constexpr std::size_t kReadBytes = std::size_t{8} << 20U;
static_assert(kReadBytes % Extent::kPiece == 0);

/// Reads an extent from an offset on, piece by piece. Returns false if it is damaged.
bool read_extent(StoreFile& file, const Extent& extent, std::uint64_t begin, std::span<std::byte> to) {
  // Large files are read in whole units of the alignment.
  const std::size_t aligned =
      (to.size() + FileSystem::kAlignment - 1) / FileSystem::kAlignment * FileSystem::kAlignment;
  const Scratch buffer(std::min(kReadBytes, aligned));
  std::size_t piece = begin / Extent::kPiece;
  for (std::size_t done = 0; done < to.size();) {
    const std::size_t wanted = std::min(buffer.bytes().size(), aligned - done);
    const std::size_t got =
        std::min(file.read(extent.offset + begin + done, buffer.bytes().first(wanted)), to.size() - done);
    if (got < std::min(wanted, to.size() - done)) return false;
    const auto bytes = buffer.bytes().first(got);
    for (std::size_t at = 0; at < got; at += Extent::kPiece, ++piece) {
      if (hash_bytes(bytes.subspan(at, std::min<std::size_t>(Extent::kPiece, got - at))) != extent.hashes[piece])
        return false;
    }
    std::memcpy(to.data() + done, bytes.data(), got);
    done += got;
  }
  return true;
}

bool has_ranks_of(const StoredPart& part, const DatasetPlan& plan) {
  std::vector<std::int32_t> wanted;
  for (std::size_t rank = 0; rank < plan.writers.size(); ++rank) {
    if (plan.writers[rank] == part.writer) wanted.push_back(static_cast<std::int32_t>(rank));
  }
  return std::equal(wanted.begin(), wanted.end(), part.ranks.begin(), part.ranks.end(),
                    [](std::int32_t rank, const StoredRank& stored) { return rank == stored.rank; });
}

}  // namespace

Dataset::Dataset(FileSystem& files, std::string folder, DatasetPlan plan)
    : files_(&files), folder_(std::move(folder)), plan_(std::move(plan)) {}

std::optional<Dataset> Dataset::open(FileSystem& files, const std::string& root, const DatasetName& name) {
  std::string folder = root + "/" + name.text();
  const auto bytes = read_sealed(files, folder + "/plan");
  if (!bytes) return std::nullopt;
  auto plan = decode_plan(name, *bytes);
  if (!plan) return std::nullopt;
  return Dataset(files, std::move(folder), std::move(*plan));
}

std::optional<StoredPart> Dataset::read_part(FileSystem& files, const std::string& folder, const DatasetPlan& plan,
                                             std::uint32_t writer) {
  const auto bytes = read_sealed(files, folder + "/" + part_file(writer));
  if (!bytes) return std::nullopt;
  auto part = decode_part(plan.name, writer, *bytes);
  if (!part || !has_ranks_of(*part, plan)) return std::nullopt;
  const auto data = files.open(folder + "/" + data_file(writer, part->attempt), FileSystem::Use::large);
  if (!data || data->size() < part->data_bytes) return std::nullopt;
  return part;
}

std::vector<std::uint32_t> Dataset::missing() const {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t writer = 0; writer < plan_.number_of_writers(); ++writer) {
    if (!read_part(*files_, folder_, plan_, writer)) missing.push_back(writer);
  }
  return missing;
}

std::optional<RankData> Dataset::rank(std::int32_t rank) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= plan_.writers.size()) return std::nullopt;
  const std::uint32_t writer = plan_.writers[static_cast<std::size_t>(rank)];
  auto part = read_part(*files_, folder_, plan_, writer);
  if (!part) return std::nullopt;
  const auto found = std::find_if(part->ranks.begin(), part->ranks.end(),
                                  [rank](const StoredRank& each) { return each.rank == rank; });
  return RankData{std::move(*found), data_file(writer, part->attempt)};
}

bool Dataset::read(const RankData& rank, std::int32_t member, std::span<std::byte> to) const {
  const Extent* const extent = rank.stored.find(member);
  return extent != nullptr && extent->bytes == to.size() && read_part_of(rank, member, 0, to);
}

bool Dataset::read_part_of(const RankData& rank, std::int32_t member, std::uint64_t begin,
                           std::span<std::byte> to) const {
  const Extent* const extent = rank.stored.find(member);
  if (extent == nullptr || begin > extent->bytes || to.size() > extent->bytes - begin) return false;
  const bool ends_well = begin + to.size() == extent->bytes || to.size() % Extent::kPiece == 0;
  if (begin % Extent::kPiece != 0 || !ends_well) return false;
  const auto file = files_->open(folder_ + "/" + rank.data_file, FileSystem::Use::large);
  return file && read_extent(*file, *extent, begin, to);
}

}  // namespace fenix_impl
