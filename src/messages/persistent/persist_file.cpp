// SPDX-License-Identifier: BSD-3-Clause
#include "messages/persistent/persist_file.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/simd/hash.hpp"
#include "messages/journal/ring.hpp"

namespace fenix_impl {
namespace {

using journal_format::kUnit;

/// First bytes of a file.
struct FileHead {
  std::array<char, 8> magic{'F', 'E', 'N', 'I', 'X', 'P', 'M', '1'};
  std::uint64_t comm_id = 0;
  std::int32_t slot = 0;
  std::int32_t version = journal_format::kVersion;
  std::array<std::uint64_t, 5> zero{};

  bool operator==(const FileHead&) const = default;
};
static_assert(sizeof(FileHead) == kUnit);

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw MpiError(MPI_ERR_IO, "persist_dir: " + what + " " + path + ": " + std::strerror(errno));
}

// The place is given: a write that has failed may have left a part there.
void write_all(int fd, std::span<const std::byte> bytes, std::size_t position, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("writing", path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    position += static_cast<std::size_t>(written);
  }
}

}  // namespace

PersistFile::PersistFile(const std::string& folder, std::uint64_t comm_id, int slot) : comm_id_(comm_id), slot_(slot) {
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "/fenix-%016llx.%d", static_cast<unsigned long long>(comm_id), slot);
  path_ = folder + name.data();
}

PersistFile::PersistFile(PersistFile&& other) noexcept
    : path_(std::move(other.path_)),
      comm_id_(other.comm_id_),
      slot_(other.slot_),
      fd_(std::exchange(other.fd_, -1)),
      end_(other.end_) {}

PersistFile& PersistFile::operator=(PersistFile&& other) noexcept {
  close();
  path_ = std::move(other.path_);
  comm_id_ = other.comm_id_;
  slot_ = other.slot_;
  fd_ = std::exchange(other.fd_, -1);
  end_ = other.end_;
  return *this;
}

PersistFile::~PersistFile() { close(); }

void PersistFile::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::vector<FiledMessage> PersistFile::read() const {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return {};
    fail("opening", path_);
  }
  std::vector<std::byte> bytes;
  struct stat status {};
  if (fstat(fd, &status) == 0) bytes.resize(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t read = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) break;
    done += static_cast<std::size_t>(read);
  }
  ::close(fd);
  bytes.resize(done);
  return messages_in(bytes, comm_id_, slot_);
}

std::vector<FiledMessage> messages_in(std::span<const std::byte> file, std::uint64_t comm_id, std::int32_t slot) {
  std::vector<FiledMessage> kept;
  FileHead head;
  const FileHead wanted{FileHead().magic, comm_id, slot, journal_format::kVersion, {}};
  if (file.size() < sizeof head) return kept;
  std::memcpy(&head, file.data(), sizeof head);
  if (head != wanted) return kept;
  // Each signature keeps as many as its depth: so many are found from behind.
  std::size_t position = sizeof head;
  while (file.size() - position >= journal_format::kHeadBytes) {
    EntryHead entry;
    std::memcpy(&entry, file.data() + position, sizeof entry);
    const std::size_t room = file.size() - position - journal_format::kHeadBytes;
    if (entry.seal != seal_of(entry, position) || entry.kind != EntryKind::message || entry.depth == 0) break;
    if (entry.bytes > room || entry_bytes(entry.bytes) > room + journal_format::kHeadBytes) break;
    const auto payload = file.subspan(position + journal_format::kHeadBytes, entry.bytes);
    if (hash_bytes(payload) != entry.hash) break;
    const auto is_same = [&](const FiledMessage& each) { return each.head.signature == entry.signature; };
    const auto same = static_cast<std::size_t>(std::count_if(kept.begin(), kept.end(), is_same));
    if (same >= entry.depth) kept.erase(std::find_if(kept.begin(), kept.end(), is_same));
    kept.push_back({entry, {payload.begin(), payload.end()}});
    position += entry_bytes(entry.bytes);
  }
  return kept;
}

void PersistFile::open_new(const std::string& path) {
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd_ < 0) fail("making", path);
  const FileHead head{FileHead().magic, comm_id_, slot_, journal_format::kVersion, {}};
  write_all(fd_, std::as_bytes(std::span(&head, 1)), 0, path);
  end_ = sizeof head;
}

void PersistFile::replace(const std::function<void(const Write&)>& write_messages) {
  const std::string path = path_ + ".new";
  const int old_fd = std::exchange(fd_, -1);
  const std::size_t old_end = end_;
  try {
    open_new(path);
    write_messages([this](const EntryHead& head, std::span<const std::byte> payload) { append(head, payload); });
    // The new name must not come to the disk before the bytes.
    if (fdatasync(fd_) != 0) fail("writing", path);
    fault_point("persist.file_ready");
    if (std::rename(path.c_str(), path_.c_str()) != 0) fail("renaming", path);
  } catch (...) {
    // Later messages go to the old one, which a later job reads.
    close();
    ::unlink(path.c_str());
    fd_ = old_fd;
    end_ = old_end;
    throw;
  }
  if (old_fd >= 0) ::close(old_fd);
  fault_point("persist.file_replaced");
}

void PersistFile::append(const EntryHead& of, std::span<const std::byte> payload) {
  EntryHead head = of;
  head.seal = seal_of(head, end_);
  const std::size_t bytes = entry_bytes(payload.size());
  std::vector<std::byte> entry(bytes);
  std::memcpy(entry.data(), &head, sizeof head);
  std::copy(payload.begin(), payload.end(), entry.begin() + journal_format::kHeadBytes);
  // In two parts, for tests: a death in between leaves half an entry.
  const std::size_t half = bytes / 2;
  write_all(fd_, std::span(entry).first(half), end_, path_);
  fault_point("persist.file_half");
  write_all(fd_, std::span(entry).subspan(half), end_ + half, path_);
  end_ += bytes;
  fault_point("persist.filed");
}

}  // namespace fenix_impl
