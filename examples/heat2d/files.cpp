// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace heat2d {

void replace_file(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write) {
  std::filesystem::path temporary = path;
  temporary += ".";
  temporary += std::to_string(getpid());  // a rank and its successor may write the same file
  write(temporary);
  std::filesystem::rename(temporary, path);
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> head, std::span<const std::byte> rest) {
  replace_file(path, [&](const std::filesystem::path& temporary) {
    std::ofstream file(temporary, std::ios::binary);
    for (const std::span<const std::byte> piece : {head, rest}) {
      file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    }
    file.close();
    if (!file) throw std::runtime_error(path.string() + ": cannot be written");
  });
}

void write_file(const std::filesystem::path& path, const void* bytes, std::size_t size) {
  write_file(path, {static_cast<const std::byte*>(bytes), size}, {});
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  write_file(path, text.data(), text.size());
}

}  // namespace heat2d
