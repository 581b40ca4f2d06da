// SPDX-License-Identifier: BSD-3-Clause
#include "store/posix_file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "store/dataset_name.hpp"

namespace fenix_impl {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;
constexpr mode_t kPermissions = 0777;
constexpr mode_t kWrittenByOthers = 022;

/// Repeats a call that a signal has interrupted.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class PosixFile : public StoreFile {
 public:
  PosixFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const auto place = static_cast<off_t>(offset);
      const ssize_t written = moved([&] { return ::pwrite(file_.get(), bytes.data(), bytes.size(), place); });
      if (written <= 0) throw StoreError(written == 0 ? EIO : errno, "write", path_);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    }
  }

  std::size_t read(std::uint64_t offset, std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size()) {
      const auto place = static_cast<off_t>(offset + done);
      const ssize_t got = moved([&] { return ::pread(file_.get(), to.data() + done, to.size() - done, place); });
      if (got < 0) throw StoreError(errno, "read", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  std::uint64_t size() override {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) throw StoreError(errno, "fstat", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  void sync() override {
    // An fsync that has failed must not be repeated: the second one would succeed.
    if (uninterrupted([&] { return ::fsync(file_.get()); }) != 0) throw StoreError(errno, "fsync", path_);
  }

 private:
  // A file system may want larger multiples than FileSystem::kAlignment with O_DIRECT: then the file is used without.
  template <class Call>
  ssize_t moved(const Call& call) {
    const ssize_t result = uninterrupted(call);
    if (result >= 0 || errno != EINVAL) return result;
    const int status = ::fcntl(file_.get(), F_GETFL);
    const bool is_direct = status >= 0 && (status & O_DIRECT) != 0;
    if (is_direct && ::fcntl(file_.get(), F_SETFL, status & ~O_DIRECT) == 0) return uninterrupted(call);
    errno = EINVAL;
    return result;
  }

  Descriptor file_;
  std::string path_;
};

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Whether a folder is one of a dataset. The folder of a store itself may be a link, and be another user's.
bool is_dataset(const std::string& folder) { return DatasetName::parse(last_name(folder)).has_value(); }

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

// Undoes what the umask has taken away, or an access control list given. Other bits stay: a folder may pass its group on.
void give_mode(const Descriptor& opened, mode_t mode) {
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0 || (status.st_mode & kPermissions) == mode) return;
  // Some file systems have no modes: then those of the mount count.
  const std::string same = "/proc/self/fd/" + std::to_string(opened.get());
  (void)::chmod(same.c_str(), (status.st_mode & ~kPermissions & ~static_cast<mode_t>(S_IFMT)) | mode);
}

/// Returns the names in an open folder. path: for texts.
std::vector<std::string> names_in(const Descriptor& opened, const std::string& path) {
  const int same = ::fcntl(opened.get(), F_DUPFD_CLOEXEC, 0);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(same >= 0 ? ::fdopendir(same) : nullptr, &::closedir);
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

}  // namespace

StoreError::StoreError(int error, const std::string& operation, const std::string& path)
    : std::runtime_error(operation + " of " + path + ": " + std::strerror(error)), error_(error) {}

/// Where an operation looks for a name. Folders of datasets are open, so that nobody can put a link in their place.
struct PosixFileSystem::Place {
  Descriptor folder;
  std::string name;
  [[nodiscard]] int at() const { return folder ? folder.get() : AT_FDCWD; }
  [[nodiscard]] const char* c_str() const { return name.c_str(); }
};

bool PosixFileSystem::is_own(uid_t owner) const { return owner == ::geteuid() || owner == made_as_; }

// Returns none, and errno, if it cannot be opened.
Descriptor PosixFileSystem::open_own_folder(const std::string& path, int flags) const {
  Descriptor folder(uninterrupted([&] { return ::open(path.c_str(), flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }));
  struct stat status {};
  if (folder && ::fstat(folder.get(), &status) == 0 && !is_own(status.st_uid)) {
    throw StoreError(EPERM, "the folder " + path + " is of another user");
  }
  return folder;
}

PosixFileSystem::Place PosixFileSystem::place_of(const std::string& path) const {
  const std::string folder = folder_of(path);
  if (!is_dataset(folder)) return {{}, path};
  Descriptor opened = open_own_folder(folder, O_PATH);
  if (opened) return {std::move(opened), last_name(path)};
  // The system finds nothing by an empty name. A link is no folder.
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};
  throw StoreError(errno, "open", folder);
}

void PosixFileSystem::check(const Descriptor& file, const std::string& path, int flags) const {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw StoreError(errno, "fstat", path);
  if (!S_ISREG(status.st_mode)) throw StoreError(EINVAL, path + " is no file");
  if (!is_own(status.st_uid)) throw StoreError(EPERM, path + " is of another user");
  // Another name of it may be that of anything.
  const bool is_written = (flags & O_ACCMODE) != O_RDONLY;
  if (is_written && status.st_nlink > 1) throw StoreError(EMLINK, path + " has another name as well");
}

// Returns none, and errno, if it cannot be opened. Does not wait for the other end of what is no file.
Descriptor PosixFileSystem::open_file(const std::string& path, int flags, Use use) const {
  const Place place = place_of(path);
  Descriptor file(uninterrupted(
      [&] { return ::openat(place.at(), place.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kFileMode); }));
  if (!file) return file;
  if ((flags & O_CREAT) != 0) give_mode(file, kFileMode);
  if ((flags & O_EXCL) == 0) check(file, path, flags);
  // Some file systems have no O_DIRECT. Not with open(), which may have made the file, or not, when it refuses it.
  const int status = use == Use::large ? ::fcntl(file.get(), F_GETFL) : -1;
  if (status >= 0) (void)::fcntl(file.get(), F_SETFL, status | O_DIRECT);
  return file;
}

std::unique_ptr<StoreFile> PosixFileSystem::create(const std::string& path, Use use) {
  Descriptor file = open_file(path, O_RDWR | O_CREAT | O_EXCL, use);
  if (!file && errno == EEXIST) return nullptr;
  if (!file) throw StoreError(errno, "creation", path);
  struct stat status {};
  // Servers of files may have another name for the user root.
  if (::fstat(file.get(), &status) == 0 && status.st_uid != ::geteuid()) made_as_ = status.st_uid;
  return std::make_unique<PosixFile>(std::move(file), path);
}

std::unique_ptr<StoreFile> PosixFileSystem::open(const std::string& path, Use use) {
  Descriptor file = open_file(path, O_RDONLY, use);
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return nullptr;
  if (!file) throw StoreError(errno, "open", path);
  return std::make_unique<PosixFile>(std::move(file), path);
}

std::unique_ptr<StoreFile> PosixFileSystem::modify(const std::string& path) {
  Descriptor file = open_file(path, O_RDWR, Use::small);
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return nullptr;
  if (!file) throw StoreError(errno, "open", path);
  return std::make_unique<PosixFile>(std::move(file), path);
}

void PosixFileSystem::append(const std::string& path, std::span<const std::byte> bytes) {
  const Descriptor file = open_file(path, O_WRONLY | O_APPEND | O_CREAT, Use::small);
  if (!file) throw StoreError(errno, "open", path);
  const auto written = uninterrupted([&] { return ::write(file.get(), bytes.data(), bytes.size()); });
  if (written < 0) throw StoreError(errno, "write", path);
}

void PosixFileSystem::rename(const std::string& from, const std::string& to) {
  const Place old_place = place_of(from);
  const Place new_place = place_of(to);
  if (::renameat(old_place.at(), old_place.c_str(), new_place.at(), new_place.c_str()) != 0) {
    throw StoreError(errno, "rename", from);
  }
}

void PosixFileSystem::remove(const std::string& path) {
  const Place place = place_of(path);
  if (::unlinkat(place.at(), place.c_str(), 0) != 0 && errno != ENOENT) throw StoreError(errno, "unlink", path);
}

void PosixFileSystem::make_folder(const std::string& path) {
  const bool is_new = ::mkdir(path.c_str(), kFolderMode) == 0;
  if (!is_new && errno != EEXIST) throw StoreError(errno, "mkdir", path);
  if (!is_new && !is_dataset(path)) return;
  const Descriptor made = open_own_folder(path, O_PATH);
  if (!made) throw StoreError(errno, "open", path);
  if (is_new) give_mode(made, kFolderMode);
}

void PosixFileSystem::remove_tree(const std::string& path) { remove_tree_at(AT_FDCWD, path, path); }

// By open folders: others could put a link in the place of a name. path: for texts.
void PosixFileSystem::remove_tree_at(int folder, const std::string& name, const std::string& path) const {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return;
  if (errno != EISDIR && errno != EPERM) throw StoreError(errno, "unlink", path);
  Descriptor opened(
      uninterrupted([&] { return ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }));
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0) throw StoreError(errno, "open", path);
  if (!is_own(status.st_uid)) throw StoreError(EPERM, "the folder " + path + " is of another user");
  for (const std::string& each : names_in(opened, path)) remove_tree_at(opened.get(), each, path + "/" + each);
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) throw StoreError(errno, "rmdir", path);
}

std::vector<std::string> PosixFileSystem::list(const std::string& path) {
  const Descriptor opened = is_dataset(path) ? open_own_folder(path, O_RDONLY) : Descriptor(uninterrupted([&] {
    return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }));
  if (!opened && errno == ENOENT) return {};
  if (!opened) throw StoreError(errno, "opendir", path);
  return names_in(opened, path);
}

void PosixFileSystem::sync_folder(const std::string& path) {
  const Descriptor folder(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!folder) throw StoreError(errno, "open", path);
  if (uninterrupted([&] { return ::fsync(folder.get()); }) != 0) throw StoreError(errno, "fsync", path);
}

std::string PosixFileSystem::trust_in(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  if (!is_own(status.st_uid)) return "it is a folder of another user (" + std::to_string(status.st_uid) + ")";
  if ((status.st_mode & kWrittenByOthers) == 0) return {};
  return "other users may write to it";
}

}  // namespace fenix_impl
