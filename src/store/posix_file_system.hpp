// SPDX-License-Identifier: BSD-3-Clause
// The file system of the operating system. A store may be in a folder that other users write to as well: links are not followed, and what is
// of another user is not used.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "store/file_system.hpp"

namespace fenix_impl {

class PosixFileSystem : public FileSystem {
 public:
  [[nodiscard]] std::unique_ptr<StoreFile> create(const std::string& path, Use use) override;
  [[nodiscard]] std::unique_ptr<StoreFile> open(const std::string& path, Use use) override;
  [[nodiscard]] std::unique_ptr<StoreFile> modify(const std::string& path) override;
  void append(const std::string& path, std::span<const std::byte> bytes) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) override;
  void make_folder(const std::string& path) override;
  void remove_tree(const std::string& path) override;
  [[nodiscard]] std::vector<std::string> list(const std::string& path) override;
  void sync_folder(const std::string& path) override;
  [[nodiscard]] std::string trust_in(const std::string& path) override;

 private:
  struct Place;
  [[nodiscard]] bool is_own(uid_t owner) const;
  [[nodiscard]] Descriptor open_own_folder(const std::string& path, int flags) const;
  [[nodiscard]] Place place_of(const std::string& path) const;
  [[nodiscard]] Descriptor open_file(const std::string& path, int flags, Use use) const;
  void remove_tree_at(int folder, const std::string& name, const std::string& path) const;
  void check(const Descriptor& file, const std::string& path, int flags) const;

  std::atomic<uid_t> made_as_{
      static_cast<uid_t>(-1)};  ///< the owner of what this process makes, where that is not this user
};

}  // namespace fenix_impl
