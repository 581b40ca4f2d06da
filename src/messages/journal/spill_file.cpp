// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/spill_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/descriptor.hpp"
#include "rma/processes.hpp"

namespace fenix_impl {
namespace {

constexpr const char* kSpillName = "fenix-mlog-";

/// Reads heads, which lie close together where messages are small: many at once.
class SpillHeads {
 public:
  explicit SpillHeads(int fd) : fd_(fd) {}

  /// Returns false if there is none.
  bool read(std::uint64_t position, EntryHead& head) {
    if (position < begin_ || position + sizeof head > begin_ + window_.size()) {
      window_.resize(kWindow);
      begin_ = position;
      window_.resize(read_spilled(fd_, window_, position).value_or(0));
      if (window_.size() < sizeof head) return false;
    }
    std::memcpy(&head, window_.data() + (position - begin_), sizeof head);
    return true;
  }

 private:
  static constexpr std::size_t kWindow = std::size_t{64} << 10;

  int fd_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> window_;
};

}  // namespace

SpillFileHead spill_head_of(const SpillPlace& place, std::uint32_t file) {
  static const std::uint64_t node = node_id();
  static const pid_t launcher = launcher_of_this_process();
  return {SpillFileHead().magic, place.id, place.slot, file, node, launcher, 0, {}};
}

bool write_spilled(int fd, std::span<const std::byte> bytes, std::uint64_t position) {
  // To write beyond the limit of the process would raise SIGXFSZ.
  rlimit limit{};
  const bool is_limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (is_limited && position + bytes.size() > limit.rlim_cur) {
    errno = EFBIG;
    return false;
  }
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    position += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

std::optional<std::size_t> read_spilled(int fd, std::span<std::byte> to, std::uint64_t position) {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t read = ::pread(fd, to.data() + done, to.size() - done, static_cast<off_t>(position + done));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return std::nullopt;
    if (read == 0) break;
    done += static_cast<std::size_t>(read);
  }
  return done;
}

std::string spill_file_path(const std::string& folder, const SpillPlace& of, std::uint32_t file) {
  std::array<char, 96> name{};
  std::snprintf(name.data(), name.size(), "/%s%016llx.%d.%u", kSpillName, static_cast<unsigned long long>(of.id),
                static_cast<int>(of.slot), file);
  return folder + name.data();
}

std::vector<std::uint32_t> spill_files(const std::string& folder, const SpillPlace& of) {
  const std::string path = spill_file_path(folder, of, 0);
  const std::string prefix = path.substr(folder.size() + 1, path.size() - folder.size() - 2);
  std::vector<std::uint32_t> files;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = each.path().filename();
    std::uint32_t number = 0;
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const auto read = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (read.ec == std::errc() && read.ptr == name.data() + name.size()) files.push_back(number);
  }
  std::sort(files.begin(), files.end());
  return files;
}

void remove_spill_files(const std::string& folder, const SpillPlace& of) {
  for (const std::uint32_t file : spill_files(folder, of)) ::unlink(spill_file_path(folder, of, file).c_str());
}

std::optional<std::uint64_t> scan_spill_file(const std::string& path, const SpillPlace& of, std::uint32_t file,
                                             std::uint64_t from, const std::function<void(const Entry&)>& see) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  SpillFileHead head;
  const auto read = read_spilled(fd.get(), std::as_writable_bytes(std::span(&head, 1)), 0);
  if (read != sizeof head || !head.is_of(of, file)) return std::nullopt;
  std::uint64_t position = std::max<std::uint64_t>(from, sizeof head);
  SpillHeads heads(fd.get());
  EntryHead entry;
  while (position <= bytes && bytes - position >= journal_format::kHeadBytes && heads.read(position, entry)) {
    const std::uint64_t room = bytes - position - journal_format::kHeadBytes;
    const bool is_whole = entry.seal == seal_of(entry, position) && entry.kind == EntryKind::message &&
                          entry.version == journal_format::kVersion && entry.bytes <= room &&
                          entry_bytes(entry.bytes) <= room + journal_format::kHeadBytes;
    if (!is_whole) break;
    see({entry, position});
    position += entry_bytes(entry.bytes);
  }
  return position;
}

void remove_spill_files_of_ended_jobs(const std::string& folder) {
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(folder, error)) {
    if (each.path().filename().string().rfind(kSpillName, 0) != 0) continue;
    const Descriptor fd(::open(each.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) continue;
    SpillFileHead head;
    const auto read = read_spilled(fd.get(), std::as_writable_bytes(std::span(&head, 1)), 0);
    if (read != sizeof head || head.magic != SpillFileHead().magic || head.node != node_id()) continue;
    if (head.launcher > 0 && ::kill(head.launcher, 0) != 0 && errno == ESRCH) ::unlink(each.path().c_str());
  }
}

}  // namespace fenix_impl
