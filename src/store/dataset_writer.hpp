// SPDX-License-Identifier: BSD-3-Clause
// Writes a dataset. All writers may work at the same time, in any order; each part counts when it is there, and anyone may write what is
// missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "store/file_system.hpp"
#include "store/part.hpp"
#include "store/plan.hpp"

namespace fenix_impl {

/// Data of a member of one rank, to be written.
struct MemberSource {
  std::int32_t member = 0;
  std::uint64_t bytes = 0;
  /// Gives the piece from an offset on: Extent::kPiece bytes, or what is left. Returns false if it is not there any more, or damaged.
  std::function<bool(std::uint64_t offset, std::span<std::byte> to)> read;
};

struct RankSource {
  std::int32_t rank = 0;
  std::vector<std::byte> record;
  std::vector<MemberSource> members;
};

class DatasetWriter {
 public:
  /// Called after so many bytes have been written, with room to wait.
  using Pace = std::function<void(std::uint64_t bytes)>;

  /// root: folder of the store, which exists. files has to outlive this object.
  DatasetWriter(FileSystem& files, const std::string& root, const DatasetPlan& plan);

  /// Writes the plan: one of the writers does. A plan that is there already stays, and gets the label of this one beside its own. When this
  /// returns, it survives the end of the system, as all that the functions here write. Throws StoreError.
  void write_plan();
  /// Writes the part of a writer, unless it is there. ranks: all of this writer, in ascending order. Returns false if a source had no data
  /// any more: then nothing counts. Throws StoreError.
  bool write_part(std::uint32_t writer, std::span<const RankSource> ranks, const Pace& pace = {});
  /// Writes the manifest if all parts are there. Returns whether they are. Throws StoreError.
  bool write_manifest();

 private:
  void make_folder();
  void add_label();
  [[nodiscard]] std::uint32_t next_attempt(std::uint32_t writer) const;
  [[nodiscard]] bool may_have_part(std::uint32_t writer) const noexcept;
  void take_back(const std::string& data) noexcept;

  FileSystem& files_;
  std::string root_;
  std::string folder_;
  DatasetPlan plan_;
};

}  // namespace fenix_impl
