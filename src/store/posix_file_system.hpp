// SPDX-License-Identifier: BSD-3-Clause
// The file system of the operating system.
#pragma once

#include "store/file_system.hpp"

namespace fenix_impl {

class PosixFileSystem : public FileSystem {
 public:
  [[nodiscard]] std::unique_ptr<StoreFile> create(const std::string& path, Use use) override;
  [[nodiscard]] std::unique_ptr<StoreFile> open(const std::string& path, Use use) override;
  void append(const std::string& path, std::span<const std::byte> bytes) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) override;
  void make_folder(const std::string& path) override;
  void remove_folder(const std::string& path) override;
  [[nodiscard]] std::vector<std::string> list(const std::string& path) override;
  void sync_folder(const std::string& path) override;
};

}  // namespace fenix_impl
