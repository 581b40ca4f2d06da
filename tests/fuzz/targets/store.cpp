// SPDX-License-Identifier: BSD-3-Clause
// Files of a store, as another job, another version or a broken disk may have left them. One that can be read is written again with
// the same bytes.
#include "store/manifest.hpp"
#include "store/part.hpp"
#include "store/plan.hpp"
#include "store/sealed_file.hpp"

#include "fuzz/support.hpp"

using namespace fenix_impl;

namespace {

const DatasetName kName{7, 3, 2, 1};
constexpr std::uint32_t kWriter = 1;

void check_plan(std::span<const std::byte> file) {
  const auto plan = decode_plan(kName, file);
  if (!plan) return;
  fuzz::require(std::ranges::equal(encode(*plan), file), "a plan is written as it was read");
  fuzz::require(plan->number_of_writers() <= plan->writers.size(), "each writer of a plan has a rank");
}

void check_part(std::span<const std::byte> file) {
  const auto part = decode_part(kName, kWriter, file);
  if (!part) return;
  fuzz::require(std::ranges::equal(encode(kName, *part), file), "a part is written as it was read");
  std::uint64_t end = 0;
  for (const StoredRank& rank : part->ranks) {
    for (const Extent& extent : rank.extents) {
      fuzz::require(extent.offset >= end && extent.offset + extent.bytes <= part->data_bytes,
                    "extents lie in the file");
      fuzz::require(extent.hashes.size() == Extent::pieces(extent.bytes), "each piece has a hash");
      end = extent.offset + extent.bytes;
    }
  }
}

void check_manifest(std::span<const std::byte> file) {
  const auto manifest = decode_manifest(kName, file);
  if (manifest)
    fuzz::require(std::ranges::equal(encode(kName, *manifest), file), "a manifest is written as it was read");
}

void check_name(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto name = DatasetName::parse(text);
  if (name) fuzz::require(name->text() == text, "a name has one spelling");
}

void check(std::span<const std::byte> given) {
  // In memory of just that size: the sanitizer sees what reads beyond.
  const fuzz::Bytes file(given.begin(), given.end());
  check_plan(file);
  check_part(file);
  check_manifest(file);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes);
  // Without the right hashes, fuzzing would not get further.
  for (const SealedKind kind : {SealedKind::plan, SealedKind::part, SealedKind::manifest}) {
    check(seal(kind, kName.text(), bytes));
  }
  check_name(bytes);
  return 0;
}
