// SPDX-License-Identifier: BSD-3-Clause
// A dataset in a store, to be read. Whether it is complete follows from its files alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/file_system.hpp"
#include "store/part.hpp"
#include "store/plan.hpp"

namespace fenix_impl {

/// The entry of a rank, and the file with its data.
struct RankData {
  StoredRank stored;
  std::string data_file;
};

class Dataset {
 public:
  /// Returns nullopt if there is no plan, or a damaged one. root: folder of the store. Throws StoreError, as all functions here do.
  [[nodiscard]] static std::optional<Dataset> open(FileSystem& files, const std::string& root, const DatasetName& name);
  /// Returns the part of a writer if it is there, has all its ranks, and has its data file.
  [[nodiscard]] static std::optional<StoredPart> read_part(FileSystem& files, const std::string& folder,
                                                           const DatasetPlan& plan, std::uint32_t writer);

  [[nodiscard]] const DatasetPlan& plan() const { return plan_; }
  /// Returns the writers whose parts are missing. The dataset is complete if there are none.
  [[nodiscard]] std::vector<std::uint32_t> missing() const;
  /// Returns what a rank has stored; nullopt if its part is missing.
  [[nodiscard]] std::optional<RankData> rank(std::int32_t rank) const;
  /// Reads data of a member into memory of the same size. Returns false if it is damaged: then the memory has any bytes.
  [[nodiscard]] bool read(const RankData& rank, std::int32_t member, std::span<std::byte> to) const;
  /// Reads a part of it, from an offset on. begin, and the end unless it is that of the data, are multiples of Extent::kPiece.
  [[nodiscard]] bool read_part_of(const RankData& rank, std::int32_t member, std::uint64_t begin,
                                  std::span<std::byte> to) const;

 private:
  Dataset(FileSystem& files, std::string folder, DatasetPlan plan);

  FileSystem* files_;
  std::string folder_;
  DatasetPlan plan_;
};

}  // namespace fenix_impl
