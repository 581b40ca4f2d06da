// SPDX-License-Identifier: BSD-3-Clause
#include "store/posix_file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace fenix_impl {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

/// Repeats a call that a signal has interrupted.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class PosixFile : public StoreFile {
 public:
  PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override { ::close(fd_); }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written =
          uninterrupted([&] { return ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
      if (written <= 0) throw StoreError(written == 0 ? EIO : errno, "write", path_);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    }
  }

  std::size_t read(std::uint64_t offset, std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size()) {
      const ssize_t got = uninterrupted(
          [&] { return ::pread(fd_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done)); });
      if (got < 0) throw StoreError(errno, "read", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  std::uint64_t size() override {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) throw StoreError(errno, "fstat", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  void sync() override {
    // An fsync that has failed must not be repeated: the second one would succeed.
    if (uninterrupted([&] { return ::fsync(fd_); }) != 0) throw StoreError(errno, "fsync", path_);
  }

 private:
  int fd_;
  std::string path_;
};

/// Opens a file. Some file systems have no O_DIRECT: they refuse it, and the file is used without.
int open_file(const std::string& path, int flags, FileSystem::Use use) {
  const int fd = uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, kFileMode); });
  if (fd < 0 || use == FileSystem::Use::small) return fd;
  // Not with open(), which may have made the file, or not, when it refuses O_DIRECT.
  const int status = ::fcntl(fd, F_GETFL);
  if (status >= 0) (void)::fcntl(fd, F_SETFL, status | O_DIRECT);
  return fd;
}

}  // namespace

StoreError::StoreError(int error, const std::string& operation, const std::string& path)
    : std::runtime_error(operation + " of " + path + ": " + std::strerror(error)), error_(error) {}

std::unique_ptr<StoreFile> PosixFileSystem::create(const std::string& path, Use use) {
  const int fd = open_file(path, O_RDWR | O_CREAT | O_EXCL, use);
  if (fd < 0 && errno == EEXIST) return nullptr;
  if (fd < 0) throw StoreError(errno, "creation", path);
  return std::make_unique<PosixFile>(fd, path);
}

std::unique_ptr<StoreFile> PosixFileSystem::open(const std::string& path, Use use) {
  const int fd = open_file(path, O_RDONLY, use);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return nullptr;
  if (fd < 0) throw StoreError(errno, "open", path);
  return std::make_unique<PosixFile>(fd, path);
}

void PosixFileSystem::append(const std::string& path, std::span<const std::byte> bytes) {
  const int fd = open_file(path, O_WRONLY | O_APPEND | O_CREAT, Use::small);
  if (fd < 0) throw StoreError(errno, "open", path);
  const PosixFile file(fd, path);
  const auto written = uninterrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
  if (written < 0) throw StoreError(errno, "write", path);
}

void PosixFileSystem::rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) throw StoreError(errno, "rename", from);
}

void PosixFileSystem::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw StoreError(errno, "unlink", path);
}

void PosixFileSystem::make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) throw StoreError(errno, "mkdir", path);
}

void PosixFileSystem::remove_folder(const std::string& path) {
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT) throw StoreError(errno, "rmdir", path);
}

std::vector<std::string> PosixFileSystem::list(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (!folder && errno == ENOENT) return {};
  if (!folder) throw StoreError(errno, "opendir", path);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  if (errno != 0) throw StoreError(errno, "readdir", path);
  return names;
}

void PosixFileSystem::sync_folder(const std::string& path) {
  const int fd = uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) throw StoreError(errno, "open", path);
  const int result = uninterrupted([&] { return ::fsync(fd); });
  const int error = errno;
  ::close(fd);
  if (result != 0) throw StoreError(error, "fsync", path);
}

}  // namespace fenix_impl
