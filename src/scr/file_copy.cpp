// SPDX-License-Identifier: BSD-3-Clause
#include "scr/file_copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <vector>

namespace fs = std::filesystem;

namespace scr_impl {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;

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

/// Writes a file under another name by write, and gives it its own when it is on disk.
bool replace_durably(const fs::path& to, mode_t mode, const std::function<bool(const OpenFile&)>& write) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  const fs::path unfinished = to.string() + ".scr-fenix.tmp";
  {
    const OpenFile file(unfinished, O_WRONLY | O_CREAT | O_TRUNC, mode);
    const bool is_written = file.is_open() && write(file) && ::fsync(file.number()) == 0;
    if (!is_written) {
      fs::remove(unfinished, error);
      return false;
    }
  }
  fs::rename(unfinished, to, error);
  return !error && sync_folder(to.parent_path());
}

}  // namespace

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

bool write_file(const fs::path& path, std::uint32_t mode, std::span<const std::byte> bytes) {
  const OpenFile file(path, O_WRONLY | O_CREAT | O_TRUNC, mode | S_IRUSR | S_IWUSR);
  return file.is_open() && file.write(bytes);
}

bool copy_durably(const fs::path& from, const fs::path& to) {
  const auto status = status_of_file(from);
  return status && replace_durably(to, status->mode, [&](const OpenFile& file) {
           return read_file(from, status->size, [&](std::span<const std::byte> piece) { return file.write(piece); });
         });
}

bool write_durably(const fs::path& to, const std::string& text) {
  return replace_durably(to, 0644, [&](const OpenFile& file) { return file.write(std::as_bytes(std::span(text))); });
}

}  // namespace scr_impl
