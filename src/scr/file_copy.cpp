// SPDX-License-Identifier: BSD-3-Clause
#include "scr/file_copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;
constexpr const char* kUnfinished = ".scr-fenix.tmp";

/// An open file, which closes itself.
class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags, mode_t mode = 0) : number_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }

  [[nodiscard]] bool write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(number_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
  }

 private:
  int number_;
};

bool sync_folder(const fs::path& folder) {
  const OpenFile opened(folder, O_RDONLY | O_DIRECTORY);
  return opened.is_open() && ::fsync(opened.number()) == 0;
}

/// No entry of the list begins with a dot, and no file of the program has such a name. File systems have a limit for names.
std::string unfinished_name(const std::string& name) {
  constexpr std::size_t kMostBytes = 200;
  if (name.size() <= kMostBytes) return "." + name + kUnfinished;
  return "." + name.substr(0, kMostBytes) + "." + std::to_string(XXH3_64bits(name.data(), name.size())) + kUnfinished;
}

/// Writes a file under another name by write, and gives it its own when it is on disk.
bool replace_durably(const fs::path& to, mode_t mode, const std::function<bool(const OpenFile&)>& write) {
  std::error_code error;
  const fs::path unfinished = to.parent_path() / unfinished_name(to.filename().string());
  {
    const OpenFile file(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode);
    const bool is_written = file.is_open() && write(file) && ::fsync(file.number()) == 0;
    if (!is_written) {
      fs::remove(unfinished, error);
      return false;
    }
  }
  fs::rename(unfinished, to, error);
  return !error && sync_folder(to.parent_path());
}

bool is_own(const struct stat& status) { return status.st_uid == ::geteuid(); }

}  // namespace

bool is_unfinished_name(const std::string& name) { return name.starts_with('.') && name.ends_with(kUnfinished); }

std::optional<FileStatus> status_of_file(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || ::access(path.c_str(), R_OK) != 0)
    return std::nullopt;
  return FileStatus{static_cast<std::uint64_t>(status.st_size), status.st_mode & 0777U};
}

bool read_file(const fs::path& path, std::uint64_t size, const std::function<bool(std::span<const std::byte>)>& take) {
  const OpenFile file(path, O_RDONLY);
  if (!file.is_open()) return false;
  std::vector<std::byte> piece(kPiece);
  std::uint64_t read = 0;
  while (true) {
    const ssize_t got = ::read(file.number(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 && read == size;
    read += static_cast<std::uint64_t>(got);
    if (read > size || !take(std::span(piece).first(static_cast<std::size_t>(got)))) return false;
  }
}

std::optional<FileSeal> seal_file(const fs::path& path, bool is_durable) {
  const auto status = status_of_file(path);
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!status || !state) return std::nullopt;
  XXH3_64bits_reset(state.get());
  const bool is_read = read_file(path, status->size, [&](std::span<const std::byte> piece) {
    return XXH3_64bits_update(state.get(), piece.data(), piece.size()) == XXH_OK;
  });
  if (!is_read) return std::nullopt;
  const OpenFile file(path, O_RDONLY);
  if (is_durable && (!file.is_open() || ::fsync(file.number()) != 0)) return std::nullopt;
  return FileSeal{status->size, XXH3_64bits_digest(state.get())};
}

bool sync_folders(fs::path folder, const fs::path& top) {
  while (sync_folder(folder)) {
    if (folder == top || !folder.has_relative_path()) return true;
    folder = folder.parent_path();
  }
  return false;
}

bool write_file(const fs::path& path, std::uint32_t mode, std::span<const std::byte> bytes) {
  const OpenFile file(path, O_WRONLY | O_CREAT | O_TRUNC, mode | S_IRUSR | S_IWUSR);
  return file.is_open() && file.write(bytes);
}

bool copy_durably(const fs::path& from, const fs::path& to) {
  const auto status = status_of_file(from);
  if (!status) return false;
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  return replace_durably(to, status->mode, [&](const OpenFile& file) {
    return read_file(from, status->size, [&](std::span<const std::byte> piece) { return file.write(piece); });
  });
}

bool make_private_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno == ENOENT) {
    if (!folder.has_relative_path() || !make_private_folder(folder.parent_path())) return false;
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return false;
  }
  // A umask may have taken all rights away, also that to open it.
  const OpenFile opened(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  struct stat status {};
  if (!opened.is_open() || ::fstat(opened.number(), &status) != 0 || !is_own(status)) return false;
  if ((status.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) == S_IRWXU) return true;
  // Nobody writes to a file system that is read-only.
  return ::chmod(("/proc/self/fd/" + std::to_string(opened.number())).c_str(), S_IRWXU) == 0 || errno == EROFS;
}

bool write_durably(const fs::path& to, const std::string& text) {
  constexpr mode_t kMode = S_IRUSR | S_IWUSR;
  return make_private_folder(to.parent_path()) && replace_durably(to, kMode, [&](const OpenFile& file) {
           return ::fchmod(file.number(), kMode) == 0 && file.write(std::as_bytes(std::span(text)));
         });
}

std::optional<std::string> read_own_file(const fs::path& path) {
  // A pipe must not be waited for.
  const OpenFile file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  const bool is_good =
      file.is_open() && ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) && is_own(status);
  if (!is_good) return std::nullopt;
  std::string text;
  std::vector<char> piece(kPiece);
  while (true) {
    const ssize_t got = ::read(file.number(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace scr_impl
