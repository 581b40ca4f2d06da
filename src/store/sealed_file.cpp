// SPDX-License-Identifier: BSD-3-Clause
#include "store/sealed_file.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "store/fields.hpp"

namespace fenix_impl {
namespace {

constexpr std::size_t kHashedBytes = store_format::kHeadBytes - sizeof(std::uint64_t);
// Parts of the largest datasets are far below.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32U;

std::uint64_t hash_of_name(const std::string& name) { return hash_bytes(std::as_bytes(std::span(name))); }

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
  FieldReader hash(file.subspan(kHashedBytes, sizeof(std::uint64_t)));
  return hash.number<std::uint64_t>() == hash_bytes(file.first(kHashedBytes));
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

std::optional<std::vector<std::byte>> read_whole(FileSystem& files, const std::string& path) {
  const auto file = files.open(path, FileSystem::Use::small);
  if (!file) return std::nullopt;
  const std::uint64_t size = file->size();
  if (size > kMostBytes) return std::nullopt;
  std::vector<std::byte> bytes(size);
  bytes.resize(file->read(0, bytes));
  return bytes;
}

}  // namespace fenix_impl
