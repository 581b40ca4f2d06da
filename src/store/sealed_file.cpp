// SPDX-License-Identifier: BSD-3-Clause
#include "store/sealed_file.hpp"

#include <algorithm>

#include "base/simd/hash.hpp"
#include "store/fields.hpp"

namespace fenix_impl {
namespace {

constexpr std::size_t kHashedBytes = store_format::kHeadBytes - sizeof(std::uint64_t);
constexpr std::size_t kPlaceOfBytes = 16;

std::uint64_t hash_of_name(const std::string& name) { return hash_bytes(std::as_bytes(std::span(name))); }

std::uint64_t number_at(std::span<const std::byte> head, std::size_t offset) {
  FieldReader field(head.subspan(offset, sizeof(std::uint64_t)));
  return field.number<std::uint64_t>();
}

/// Whether a head is sound, and belongs to a file of so many bytes.
bool has_bytes(std::span<const std::byte> head, std::uint64_t size) {
  return head.size() == store_format::kHeadBytes && number_at(head, 0) == store_format::kMagic &&
         number_at(head, kHashedBytes) == hash_bytes(head.first(kHashedBytes)) &&
         number_at(head, kPlaceOfBytes) == size - store_format::kHeadBytes;
}

}  // namespace

std::vector<std::byte> seal(SealedKind kind, const std::string& name, std::span<const std::byte> body) {
  FieldWriter file;
  file.number(store_format::kMagic);
  file.number(store_format::kVersion);
  file.number(static_cast<std::uint32_t>(kind));
  file.number(static_cast<std::uint64_t>(body.size()));
  file.number(hash_bytes(body));
  file.number(hash_of_name(name));
  file.number(std::uint64_t{0});
  file.number(std::uint64_t{0});
  file.number(hash_bytes(file.all()));
  file.raw(body);
  return file.take();
}

std::optional<std::span<const std::byte>> unseal(SealedKind kind, const std::string& name,
                                                 std::span<const std::byte> file) {
  if (file.size() < store_format::kHeadBytes) return std::nullopt;
  FieldReader head(file.first(store_format::kHeadBytes));
  if (head.number<std::uint64_t>() != store_format::kMagic) return std::nullopt;
  if (head.number<std::uint32_t>() != store_format::kVersion) return std::nullopt;
  if (head.number<std::uint32_t>() != static_cast<std::uint32_t>(kind)) return std::nullopt;
  const auto bytes = head.number<std::uint64_t>();
  const auto hash = head.number<std::uint64_t>();
  if (head.number<std::uint64_t>() != hash_of_name(name)) return std::nullopt;
  const bool is_reserved_zero = head.number<std::uint64_t>() == 0 && head.number<std::uint64_t>() == 0;
  if (head.number<std::uint64_t>() != hash_bytes(file.first(kHashedBytes)) || !is_reserved_zero) return std::nullopt;
  const auto body = file.subspan(store_format::kHeadBytes);
  if (body.size() != bytes || hash_bytes(body) != hash) return std::nullopt;
  return body;
}

// The head keeps its place and its hash in all versions: otherwise each damaged byte could make a file a later one.
bool is_of_later_version(std::span<const std::byte> file) {
  if (file.size() < store_format::kHeadBytes) return false;
  FieldReader head(file.first(store_format::kHeadBytes));
  if (head.number<std::uint64_t>() != store_format::kMagic) return false;
  if (head.number<std::uint32_t>() <= store_format::kVersion) return false;
  return number_at(file, kHashedBytes) == hash_bytes(file.first(kHashedBytes));
}

// The order is what makes a file whole or absent: bytes, their sync, the name, its sync.
void write_durably(FileSystem& files, const std::string& folder, const std::string& name, const std::string& temporary,
                   std::span<const std::byte> bytes) {
  const std::string path = folder + "/" + temporary;
  // One that was left when a writer died.
  files.remove(path);
  const auto file = files.create(path, FileSystem::Use::small);
  if (!file) throw StoreError(EEXIST, "creation", path);
  file->write(0, bytes);
  file->sync();
  files.rename(path, folder + "/" + name);
  files.sync_folder(folder);
}

std::optional<std::vector<std::byte>> read_whole(FileSystem& files, const std::string& path, std::uint64_t most) {
  const auto file = files.open(path, FileSystem::Use::small);
  if (!file) return std::nullopt;
  const std::uint64_t size = file->size();
  if (size > most) return std::nullopt;
  std::vector<std::byte> bytes(size);
  bytes.resize(file->read(0, bytes));
  return bytes;
}

// A damaged file may have any length, and memory for all of it may be more than the node has.
std::optional<std::vector<std::byte>> read_sealed(FileSystem& files, const std::string& path) {
  constexpr std::uint64_t kReadAtOnce = std::uint64_t{1} << 20U;
  const auto file = files.open(path, FileSystem::Use::small);
  if (!file) return std::nullopt;
  const std::uint64_t size = file->size();
  std::vector<std::byte> bytes(size <= kReadAtOnce ? size : store_format::kHeadBytes);
  bytes.resize(file->read(0, bytes));
  if (size <= kReadAtOnce || !has_bytes(bytes, size)) return bytes;
  bytes.resize(size);
  const auto body = std::span(bytes).subspan(store_format::kHeadBytes);
  bytes.resize(store_format::kHeadBytes + file->read(store_format::kHeadBytes, body));
  return bytes;
}

}  // namespace fenix_impl
