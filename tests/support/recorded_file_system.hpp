// SPDX-License-Identifier: BSD-3-Clause
// A file system in memory that records all operations. It gives what a disk may have after a crash at any of them: all that was synced, and
// any subset of the rest. Writes may be torn. Its root is ""; there are folders below it, and none below those.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "store/file_system.hpp"

namespace fenix_test {

class RecordedFileSystem : public fenix_impl::FileSystem {
 public:
  using Bytes = std::vector<std::byte>;
  using StoreError = fenix_impl::StoreError;
  using StoreFile = fenix_impl::StoreFile;

  /// Mistakes that a program with this file system makes.
  struct Mistakes {
    bool no_file_sync = false;
    bool no_folder_sync = false;
  };

  RecordedFileSystem() { folders_["/"] = folders_before_["/"] = {}; }

  Mistakes mistakes;
  /// errno of all writes to files from now on, or 0.
  int error_of_writes = 0;
  /// No file can be made, and none can get longer.
  bool is_full = false;

  // ---------------------------------------------------------------------------------------------------------- operations

  std::unique_ptr<StoreFile> create(const std::string& path, Use) override {
    Names& names = folder_of(path);
    if (names.count(name_of(path)) > 0) return nullptr;
    if (is_full) throw StoreError(ENOSPC, "creation", path);
    const int inode = static_cast<int>(contents_.size());
    contents_.emplace_back();
    set(path, inode);
    return std::make_unique<File>(*this, inode);
  }

  std::unique_ptr<StoreFile> open(const std::string& path, Use) override {
    const auto folder = folders_.find(parent_of(path));
    if (folder == folders_.end()) return nullptr;
    const auto found = folder->second.find(name_of(path));
    return found != folder->second.end() ? std::make_unique<File>(*this, found->second) : nullptr;
  }

  std::unique_ptr<StoreFile> modify(const std::string& path) override { return open(path, Use::small); }

  void append(const std::string& path, std::span<const std::byte> bytes) override {
    auto file = open(path, Use::small);
    if (!file) file = create(path, Use::small);
    file->write(file->size(), bytes);
  }

  void rename(const std::string& from, const std::string& to) override {
    if (folders_.count(from) > 0) {
      change({Operation::Kind::rename_folder, 0, "/", name_of(from), name_of(to), 0, {}});
      return;
    }
    if (folder_of(from).count(name_of(from)) == 0) throw StoreError(ENOENT, "rename", from);
    const int inode = folder_of(from).at(name_of(from));
    change({Operation::Kind::rename, inode, parent_of(from), name_of(from), name_of(to), 0, {}});
  }

  void remove(const std::string& path) override {
    if (folders_.count(path) > 0) throw StoreError(EISDIR, "unlink", path);
    const auto folder = folders_.find(parent_of(path));
    if (folder == folders_.end() || folder->second.count(name_of(path)) == 0) return;
    change({Operation::Kind::unset, 0, parent_of(path), name_of(path), {}, 0, {}});
  }

  void make_folder(const std::string& path) override {
    if (folders_.count(path) > 0) return;
    change({Operation::Kind::make_folder, 0, "/", name_of(path), {}, 0, {}});
  }

  void remove_folder(const std::string& path) {
    const auto found = folders_.find(path);
    if (found == folders_.end()) return;
    if (!found->second.empty()) throw StoreError(ENOTEMPTY, "rmdir", path);
    change({Operation::Kind::remove_folder, 0, "/", name_of(path), {}, 0, {}});
  }

  void remove_tree(const std::string& path) override {
    if (folders_.count(path) == 0) return remove(path);
    for (const std::string& name : list(path)) remove(path + "/" + name);
    remove_folder(path);
  }

  std::vector<std::string> list(const std::string& path) override {
    std::vector<std::string> names;
    const auto folder = folders_.find(path.empty() ? "/" : path);
    if (folder == folders_.end() && open(path, Use::small)) throw StoreError(ENOTDIR, "opendir", path);
    if (folder == folders_.end()) return names;
    for (const auto& [name, inode] : folder->second) names.push_back(name);
    if (path.empty()) {
      for (const auto& [name, of_folder] : folders_) {
        if (name != "/") names.push_back(name_of(name));
      }
    }
    return names;
  }

  void sync_folder(const std::string& path) override {
    if (!mistakes.no_folder_sync)
      log_.push_back({Operation::Kind::sync_folder, 0, path.empty() ? "/" : path, {}, {}, 0, {}});
  }

  // --------------------------------------------------------------------------------------------------------------- crashes

  /// Returns the number of operations so far.
  [[nodiscard]] std::size_t operations() const { return log_.size(); }

  /// Returns what may be there if the system ends after so many operations. An operation that was not synced is kept with a
  /// chance of kept_in_8 in 8.
  [[nodiscard]] std::unique_ptr<RecordedFileSystem> after_crash(std::size_t end, unsigned kept_in_8,
                                                                std::mt19937& random) const {
    auto after = std::make_unique<RecordedFileSystem>();
    after->folders_ = folders_before_;
    after->contents_ = contents_before_;
    after->contents_.resize(contents_.size());
    for (std::size_t i = 0; i < end; ++i) {
      Operation operation = log_[i];
      if (operation.is_sync()) continue;
      if (!is_synced(i, end)) {
        if (random() % 8 >= kept_in_8) continue;
        constexpr std::size_t kSector = 512;
        const bool is_torn = operation.kind == Operation::Kind::write && kept_in_8 < 8 && random() % 2 == 0;
        if (is_torn)
          operation.bytes.resize(
              std::min(operation.bytes.size(), random() % (operation.bytes.size() / kSector + 1) * kSector));
      }
      after->apply(operation);
    }
    after->folders_before_ = after->folders_;
    after->contents_before_ = after->contents_;
    return after;
  }

  /// Changes a byte of a file.
  void damage(const std::string& path, std::size_t offset) {
    Bytes& bytes = contents_.at(static_cast<std::size_t>(folder_of(path).at(name_of(path))));
    bytes.at(offset) ^= std::byte{0x10};
  }
  [[nodiscard]] std::size_t size(const std::string& path) {
    return contents_.at(static_cast<std::size_t>(folder_of(path).at(name_of(path)))).size();
  }

 private:
  using Names = std::map<std::string, int>;

  struct Operation {
    enum class Kind { set, unset, rename, rename_folder, make_folder, remove_folder, write, sync, sync_folder } kind;
    int inode = 0;
    std::string folder;
    std::string name;
    std::string new_name;
    std::uint64_t offset = 0;
    Bytes bytes;

    [[nodiscard]] bool is_sync() const { return kind == Kind::sync || kind == Kind::sync_folder; }
  };

  class File : public StoreFile {
   public:
    File(RecordedFileSystem& files, int inode) : files_(files), inode_(inode) {}

    void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
      const bool fits = !files_.is_full || offset + bytes.size() <= size();
      if (!fits) throw StoreError(ENOSPC, "write", "a file");
      if (files_.error_of_writes != 0) throw StoreError(files_.error_of_writes, "write", "a file");
      files_.change({Operation::Kind::write, inode_, {}, {}, {}, offset, Bytes(bytes.begin(), bytes.end())});
    }
    std::size_t read(std::uint64_t offset, std::span<std::byte> to) override {
      const Bytes& bytes = files_.contents_[static_cast<std::size_t>(inode_)];
      if (offset >= bytes.size()) return 0;
      const std::size_t got = std::min<std::size_t>(to.size(), bytes.size() - offset);
      std::memcpy(to.data(), bytes.data() + offset, got);
      return got;
    }
    std::uint64_t size() override { return files_.contents_[static_cast<std::size_t>(inode_)].size(); }
    void sync() override {
      if (!files_.mistakes.no_file_sync) files_.log_.push_back({Operation::Kind::sync, inode_, {}, {}, {}, 0, {}});
    }

   private:
    RecordedFileSystem& files_;
    int inode_;
  };

  static std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
  }
  static std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  Names& folder_of(const std::string& path) {
    const auto found = folders_.find(parent_of(path));
    if (found == folders_.end()) throw StoreError(ENOENT, "open", path);
    return found->second;
  }

  void set(const std::string& path, int inode) {
    change({Operation::Kind::set, inode, parent_of(path), name_of(path), {}, 0, {}});
  }

  void change(Operation operation) {
    apply(operation);
    log_.push_back(std::move(operation));
  }

  void apply(const Operation& operation) {
    if (operation.kind == Operation::Kind::write) {
      Bytes& bytes = contents_[static_cast<std::size_t>(operation.inode)];
      bytes.resize(std::max<std::size_t>(bytes.size(), operation.offset + operation.bytes.size()));
      std::copy(operation.bytes.begin(), operation.bytes.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(operation.offset));
      return;
    }
    if (operation.kind == Operation::Kind::make_folder) {
      folders_.try_emplace("/" + operation.name);
      return;
    }
    if (operation.kind == Operation::Kind::remove_folder) {
      folders_.erase("/" + operation.name);
      return;
    }
    if (operation.kind == Operation::Kind::rename_folder) {
      auto node = folders_.extract("/" + operation.name);
      if (node.empty()) return;
      node.key() = "/" + operation.new_name;
      folders_.insert(std::move(node));
      return;
    }
    // The folder itself may have been lost.
    const auto folder = folders_.find(operation.folder);
    if (folder == folders_.end()) return;
    if (operation.kind == Operation::Kind::set) folder->second[operation.name] = operation.inode;
    if (operation.kind == Operation::Kind::unset) folder->second.erase(operation.name);
    if (operation.kind == Operation::Kind::rename) {
      folder->second.erase(operation.name);
      folder->second[operation.new_name] = operation.inode;
    }
  }

  [[nodiscard]] bool is_synced(std::size_t place, std::size_t end) const {
    const Operation& operation = log_[place];
    return std::any_of(log_.begin() + static_cast<std::ptrdiff_t>(place),
                       log_.begin() + static_cast<std::ptrdiff_t>(end), [&](const Operation& later) {
                         if (operation.kind == Operation::Kind::write) {
                           return later.kind == Operation::Kind::sync && later.inode == operation.inode;
                         }
                         return later.kind == Operation::Kind::sync_folder && later.folder == operation.folder;
                       });
  }

  std::map<std::string, Names> folders_;
  std::vector<Bytes> contents_;  // by inode
  // Left by an earlier crash: all of it is on the disk.
  std::map<std::string, Names> folders_before_;
  std::vector<Bytes> contents_before_;
  std::vector<Operation> log_;
};

}  // namespace fenix_test
