// SPDX-License-Identifier: BSD-3-Clause
#include "store/manifest.hpp"

#include "base/simd/hash.hpp"
#include "store/fields.hpp"
#include "store/part.hpp"
#include "store/sealed_file.hpp"

namespace fenix_impl {

std::optional<Manifest> manifest_of(FileSystem& files, const std::string& folder, const DatasetPlan& plan) {
  Manifest manifest;
  for (std::uint32_t writer = 0; writer < plan.number_of_writers(); ++writer) {
    const auto bytes = read_sealed(files, folder + "/" + part_file(writer));
    if (!bytes) return std::nullopt;
    const auto part = decode_part(plan.name, writer, *bytes);
    if (!part) return std::nullopt;
    manifest.parts.push_back({bytes->size(), hash_bytes(*bytes), part->data_bytes});
  }
  return manifest;
}

std::vector<std::byte> encode(const DatasetName& name, const Manifest& manifest) {
  FieldWriter fields;
  fields.number(static_cast<std::uint32_t>(manifest.parts.size()));
  for (const Manifest::Entry& part : manifest.parts) {
    fields.number(part.part_bytes);
    fields.number(part.part_hash);
    fields.number(part.data_bytes);
  }
  return seal(SealedKind::manifest, name.text(), fields.all());
}

std::optional<Manifest> decode_manifest(const DatasetName& name, std::span<const std::byte> file) {
  const auto body = unseal(SealedKind::manifest, name.text(), file);
  if (!body) return std::nullopt;
  FieldReader fields(*body);
  Manifest manifest;
  constexpr std::size_t kEntryBytes = 24;
  manifest.parts.resize(fields.count(kEntryBytes));
  for (Manifest::Entry& part : manifest.parts) {
    part.part_bytes = fields.number<std::uint64_t>();
    part.part_hash = fields.number<std::uint64_t>();
    part.data_bytes = fields.number<std::uint64_t>();
  }
  if (!fields.is_at_end()) return std::nullopt;
  return manifest;
}

}  // namespace fenix_impl
