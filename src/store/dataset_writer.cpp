// SPDX-License-Identifier: BSD-3-Clause
#include "store/dataset_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <optional>
#include <utility>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/scratch.hpp"
#include "base/simd/hash.hpp"
#include "store/dataset.hpp"
#include "store/dataset_state.hpp"
#include "store/manifest.hpp"
#include "store/sealed_file.hpp"
#include "store/write_behind.hpp"

namespace fenix_impl {
namespace {

using namespace dataset_files;

constexpr std::size_t kBufferBytes = std::size_t{8} << 20U;
static_assert(kBufferBytes % Extent::kPiece == 0);

/// Writes extents one behind the other, each at a multiple of the alignment, in large pieces. One buffer is filled while the other one is
/// being written.
class DataFile {
 public:
  DataFile(StoreFile& file, const DatasetWriter::Pace& pace) : file_(file), out_(file, pace) {}

  /// Returns nullopt if the source has no data any more.
  std::optional<Extent> add(const MemberSource& source) {
    Extent extent{source.member, end(), source.bytes, {}};
    for (std::uint64_t done = 0; done < source.bytes; done += Extent::kPiece) {
      const auto bytes = static_cast<std::size_t>(std::min(source.bytes - done, Extent::kPiece));
      if (bytes > kBufferBytes - filled_) write_out();
      const auto piece = buffer().subspan(filled_, bytes);
      if (!source.read(done, piece)) return std::nullopt;
      extent.hashes.push_back(hash_bytes(piece));
      filled_ += bytes;
    }
    pad();
    return extent;
  }

  /// Returns the bytes of the file, when all has been written.
  std::uint64_t finish() {
    write_out();
    out_.finish();
    file_.sync();
    return written_;
  }

 private:
  [[nodiscard]] std::uint64_t end() const { return written_ + filled_; }

  void pad() {
    const std::size_t rest = filled_ % FileSystem::kAlignment;
    if (rest == 0) return;
    const auto padding = buffer().subspan(filled_, FileSystem::kAlignment - rest);
    std::fill(padding.begin(), padding.end(), std::byte{0});
    filled_ += padding.size();
  }

  void write_out() {
    if (filled_ == 0) return;
    out_.write(written_, buffer().first(filled_));
    written_ += filled_;
    current_ = 1 - current_;
    filled_ = 0;
  }

  [[nodiscard]] std::span<std::byte> buffer() const { return buffers_[current_].bytes(); }

  StoreFile& file_;
  std::array<Scratch, 2> buffers_{Scratch(kBufferBytes), Scratch(kBufferBytes)};
  std::size_t current_ = 0;
  WriteBehind out_;
  std::size_t filled_ = 0;
  std::uint64_t written_ = 0;
};

// Members may have been made or deleted since the commit.
bool is_same_snapshot(DatasetPlan one, const DatasetPlan& other) {
  one.label = other.label;
  one.members = other.members;
  return one == other;
}

/// Writes the data, and notes in the part where it is. Returns false if a source had none any more.
bool write_data(StoreFile& file, std::span<const RankSource> ranks, const DatasetWriter::Pace& pace, StoredPart& part) {
  DataFile out(file, pace);
  for (const RankSource& source : ranks) {
    StoredRank rank{source.rank, source.record, {}};
    for (const MemberSource& member : source.members) {
      auto extent = out.add(member);
      if (!extent) return false;
      rank.extents.push_back(std::move(*extent));
      fault_point("flush.piece");
    }
    part.ranks.push_back(std::move(rank));
  }
  part.data_bytes = out.finish();
  return true;
}

}  // namespace

DatasetWriter::DatasetWriter(FileSystem& files, const std::string& root, const DatasetPlan& plan)
    : files_(files), root_(root), folder_(root + "/" + plan.name.text()), plan_(plan) {}

void DatasetWriter::make_folder() {
  files_.make_folder(folder_);
  files_.sync_folder(root_);
}

// A snapshot may be flushed again: under another name, or without one when the job has died. No name goes by that.
void DatasetWriter::write_plan() {
  make_folder();
  const DatasetLook found = look_at(files_, root_, plan_.name);
  const bool is_same = found.plan && is_same_snapshot(*found.plan, plan_);
  if (found.is_whole() && !is_same) throw StoreError(EEXIST, "plan", folder_);
  if (!is_same) {
    write_durably(files_, folder_, kPlan, std::string(kPlan) + ".tmp", encode(plan_));
  } else if (!plan_.label.empty() && !found.is_called(plan_.label)) {
    add_label();
  }
  fault_point("flush.planned");
}

void DatasetWriter::add_label() {
  const std::string file = label_file(plan_.label);
  write_durably(files_, folder_, file, file + ".tmp",
                seal(SealedKind::label, plan_.name.text(), std::as_bytes(std::span(plan_.label))));
}

bool DatasetWriter::write_part(std::uint32_t writer, std::span<const RankSource> ranks, const Pace& pace) {
  if (Dataset::read_part(files_, folder_, plan_, writer)) return true;
  make_folder();
  StoredPart part;
  part.writer = writer;
  // An own name for each attempt: nobody writes to a file that a part may name, even where that file has gone.
  part.attempt = next_attempt(writer);
  std::string data = folder_ + "/" + data_file(writer, part.attempt);
  auto file = files_.create(data, FileSystem::Use::large);
  while (!file) {
    data = folder_ + "/" + data_file(writer, ++part.attempt);
    file = files_.create(data, FileSystem::Use::large);
  }
  const std::string temporary = data_file(writer, part.attempt) + ".tmp";
  try {
    if (!write_data(*file, ranks, pace, part)) {
      take_back(data);
      return false;
    }
    // The name of the data file may be lost in a crash, and the part be there: then readers take the part for missing.
    fault_point("flush.data_synced");
    write_durably(files_, folder_, part_file(writer), temporary, encode(plan_.name, part));
  } catch (...) {
    take_back(folder_ + "/" + temporary);
    if (!may_have_part(writer)) take_back(data);
    throw;
  }
  fault_point("flush.part_renamed");
  return true;
}

std::uint32_t DatasetWriter::next_attempt(std::uint32_t writer) const {
  const auto bytes = read_sealed(files_, folder_ + "/" + part_file(writer));
  const auto known = bytes ? decode_part(plan_.name, writer, *bytes) : std::nullopt;
  return known ? known->attempt + 1 : 0;
}

bool DatasetWriter::may_have_part(std::uint32_t writer) const noexcept {
  try {
    return Dataset::read_part(files_, folder_, plan_, writer).has_value();
  } catch (const std::exception&) {
    return true;
  }
}

// Others may need the room.
void DatasetWriter::take_back(const std::string& data) noexcept {
  try {
    files_.remove(data);
  } catch (const std::exception& error) {
    log().info("store: {}", error.what());
  }
}

bool DatasetWriter::write_manifest() {
  const auto manifest = manifest_of(files_, folder_, plan_);
  if (!manifest) return false;
  write_durably(files_, folder_, kManifest, std::string(kManifest) + ".tmp", encode(plan_.name, *manifest));
  fault_point("flush.manifest");
  return true;
}

}  // namespace fenix_impl
