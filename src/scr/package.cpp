// SPDX-License-Identifier: BSD-3-Clause
#include "scr/package.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "scr/file_copy.hpp"

namespace scr_impl {
namespace {

constexpr std::uint64_t kMagic = 0x31524353584e4546U;  // "FENXSCR1"
constexpr std::size_t kNameBytes = 1024;

struct HeadBytes {
  std::uint64_t magic;
  std::uint64_t id;
  std::uint64_t count;
  std::uint64_t flags;
  std::uint64_t files;
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

bool put(std::FILE* to, const void* from, std::size_t bytes) { return std::fwrite(from, 1, bytes, to) == bytes; }

/// Tells whether a name stays below the prefix folder.
bool is_inside(const std::string& name) {
  const std::filesystem::path path(name);
  return !path.empty() && path.is_relative() && path.has_filename() &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
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
  HeadBytes bytes{kMagic, head.id, head.count, head.flags, head.files, head.bytes, {}};
  std::memcpy(bytes.name, head.name.data(), std::min(head.name.size(), kNameBytes - 1));
  if (!put(to, &bytes, sizeof bytes)) return false;
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

std::optional<PackageHead> read_head(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(HeadBytes)) return std::nullopt;
  HeadBytes head{};
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kMagic) return std::nullopt;
  head.name[kNameBytes - 1] = 0;
  return PackageHead{head.id, head.count, static_cast<std::uint32_t>(head.flags), head.files, head.bytes, head.name};
}

bool unpack(std::span<const std::byte> package, Cache& cache) {
  const auto head = read_head(package);
  if (!head) return false;
  auto rest = package.subspan(sizeof(HeadBytes));
  if (head->bytes > rest.size()) return false;
  rest = rest.first(head->bytes);
  for (std::uint64_t i = 0; i < head->files; ++i) {
    FileHead file{};
    if (rest.size() < sizeof file) return false;
    std::memcpy(&file, rest.data(), sizeof file);
    rest = rest.subspan(sizeof file);
    if (file.name_bytes > rest.size() || file.size > rest.size() - file.name_bytes) return false;
    const std::string name(reinterpret_cast<const char*>(rest.data()), file.name_bytes);
    if (!is_inside(name)) return false;
    const std::filesystem::path path = cache.add(name);
    if (path.empty() || !write_file(path, file.mode, rest.subspan(file.name_bytes, file.size))) return false;
    rest = rest.subspan(file.name_bytes + file.size);
  }
  return true;
}

}  // namespace scr_impl
