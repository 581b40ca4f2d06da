// SPDX-License-Identifier: BSD-3-Clause
#include "scr/package.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "scr/file_copy.hpp"

namespace scr_impl {
namespace {

constexpr std::uint64_t kMagic = 0x32524353584e4546U;  // "FENXSCR2"
constexpr std::uint32_t kList = 1;
constexpr std::size_t kNameBytes = 1024;

struct HeadBytes {
  std::uint64_t magic;
  std::uint64_t id;
  std::uint32_t count;
  std::uint32_t files;
  std::uint32_t flags;
  std::uint32_t kind;
  std::uint64_t created;
  std::uint64_t bytes;
  char name[kNameBytes];
};
static_assert(sizeof(HeadBytes) == kHeadBytes);

/// Stands before the name and the bytes of a file.
struct FileHead {
  std::uint32_t name_bytes;
  std::uint32_t mode;
  std::uint64_t size;
};
static_assert(sizeof(FileHead) == 16);

/// Stands before the name of a file in a list.
struct ListEntry {
  std::uint32_t name_bytes;
  std::uint32_t is_own;
  std::uint64_t size;
  std::uint64_t hash;
};
static_assert(sizeof(ListEntry) == 24);

bool put(std::FILE* to, const void* from, std::size_t bytes) { return std::fwrite(from, 1, bytes, to) == bytes; }

/// Tells whether a name stays below the prefix folder.
bool is_inside(const std::string& name) {
  const std::filesystem::path path(name);
  return !path.empty() && path.is_relative() && path.has_filename() &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}

bool put_head(std::FILE* to, const PackageHead& head) {
  HeadBytes bytes{kMagic,
                  head.id,
                  static_cast<std::uint32_t>(head.count),
                  static_cast<std::uint32_t>(head.files),
                  head.flags,
                  head.is_list ? kList : 0,
                  head.created,
                  head.bytes,
                  {}};
  std::memcpy(bytes.name, head.name.data(), std::min(head.name.size(), kNameBytes - 1));
  return put(to, &bytes, sizeof bytes);
}

/// Takes a part of fixed size from the front.
template <class Part>
bool take_part(std::span<const std::byte>& bytes, Part& part) {
  if (bytes.size() < sizeof part) return false;
  std::memcpy(&part, bytes.data(), sizeof part);
  bytes = bytes.subspan(sizeof part);
  return true;
}

/// Takes a name of a file, which must be one below the prefix folder.
std::optional<std::string> take_file_name(std::span<const std::byte>& bytes, std::size_t size) {
  if (size > bytes.size()) return std::nullopt;
  std::string name(reinterpret_cast<const char*>(bytes.data()), size);
  bytes = bytes.subspan(size);
  return is_inside(name) ? std::optional(std::move(name)) : std::nullopt;
}

/// Returns what follows the head of a package that is whole.
std::optional<std::span<const std::byte>> body_of(std::span<const std::byte> package, bool is_list) {
  const auto head = read_head(package);
  if (!head || head->is_list != is_list) return std::nullopt;
  const auto body = package.subspan(sizeof(HeadBytes));
  return head->bytes > body.size() ? std::nullopt : std::optional(body.first(head->bytes));
}

}  // namespace

bool pack(std::FILE* to, PackageHead head, const std::vector<CachedFile>& files) {
  std::vector<FileHead> heads;
  head.files = files.size();
  head.bytes = 0;
  for (const CachedFile& each : files) {
    const auto status = status_of_file(each.path);
    if (!status) return false;
    heads.push_back({static_cast<std::uint32_t>(each.name.size()), status->mode, status->size});
    head.bytes += sizeof(FileHead) + each.name.size() + status->size;
  }
  if (!put_head(to, head)) return false;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& name = files[i].name;
    const bool is_put = put(to, &heads[i], sizeof heads[i]) && put(to, name.data(), name.size()) &&
                        read_file(files[i].path, heads[i].size, [to](std::span<const std::byte> piece) {
                          return put(to, piece.data(), piece.size());
                        });
    if (!is_put) return false;
  }
  return true;
}

bool pack_list(std::FILE* to, PackageHead head, const std::vector<ListedFile>& files) {
  head.is_list = true;
  head.files = files.size();
  head.bytes = 0;
  for (const ListedFile& each : files) head.bytes += sizeof(ListEntry) + each.name.size();
  if (!put_head(to, head)) return false;
  for (const ListedFile& each : files) {
    const ListEntry entry{static_cast<std::uint32_t>(each.name.size()), each.is_own ? 1U : 0U, each.seal.size,
                          each.seal.hash};
    if (!put(to, &entry, sizeof entry) || !put(to, each.name.data(), each.name.size())) return false;
  }
  return true;
}

std::optional<PackageHead> read_head(std::span<const std::byte> bytes) {
  HeadBytes head{};
  if (!take_part(bytes, head) || head.magic != kMagic || head.kind > kList) return std::nullopt;
  head.name[kNameBytes - 1] = 0;
  return PackageHead{head.id,      head.count, head.flags, head.kind == kList,
                     head.created, head.files, head.bytes, head.name};
}

bool unpack(std::span<const std::byte> package, Cache& cache) {
  const auto head = read_head(package);
  auto rest = body_of(package, false);
  if (!rest) return false;
  for (std::uint64_t i = 0; i < head->files; ++i) {
    FileHead file{};
    if (!take_part(*rest, file)) return false;
    const auto name = take_file_name(*rest, file.name_bytes);
    if (!name || file.size > rest->size()) return false;
    const std::filesystem::path path = cache.add(*name);
    if (path.empty() || !write_file(path, file.mode, rest->first(file.size))) return false;
    rest = rest->subspan(file.size);
  }
  return true;
}

std::optional<std::vector<ListedFile>> unpack_list(std::span<const std::byte> package) {
  const auto head = read_head(package);
  auto rest = body_of(package, true);
  if (!rest) return std::nullopt;
  std::vector<ListedFile> files;
  for (std::uint64_t i = 0; i < head->files; ++i) {
    ListEntry entry{};
    if (!take_part(*rest, entry)) return std::nullopt;
    auto name = take_file_name(*rest, entry.name_bytes);
    if (!name) return std::nullopt;
    files.push_back({std::move(*name), {entry.size, entry.hash}, entry.is_own != 0});
  }
  return files;
}

}  // namespace scr_impl
