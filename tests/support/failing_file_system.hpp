// SPDX-License-Identifier: BSD-3-Clause
// A file system that fails where a test says so, and does all the rest as another one does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/file_system.hpp"

namespace fenix_test {

class FailingFileSystem : public fenix_impl::FileSystem {
 public:
  using StoreFile = fenix_impl::StoreFile;
  enum class Act { create, open, read, write, sync, rename, remove, make_folder, list };
  /// Returns the errno of an operation on a path, or 0.
  using Fails = std::function<int(Act act, const std::string& path)>;

  explicit FailingFileSystem(fenix_impl::FileSystem& inner) : inner_(inner) {}

  Fails fails;

  std::unique_ptr<StoreFile> create(const std::string& path, Use use) override {
    look(Act::create, path);
    return wrapped(inner_.create(path, use), path);
  }
  std::unique_ptr<StoreFile> open(const std::string& path, Use use) override {
    look(Act::open, path);
    return wrapped(inner_.open(path, use), path);
  }
  std::unique_ptr<StoreFile> modify(const std::string& path) override {
    look(Act::open, path);
    return wrapped(inner_.modify(path), path);
  }
  void append(const std::string& path, std::span<const std::byte> bytes) override {
    look(Act::write, path);
    inner_.append(path, bytes);
  }
  void rename(const std::string& from, const std::string& to) override {
    look(Act::rename, from);
    look(Act::rename, to);
    inner_.rename(from, to);
  }
  void remove(const std::string& path) override {
    look(Act::remove, path);
    inner_.remove(path);
  }
  void make_folder(const std::string& path) override {
    look(Act::make_folder, path);
    inner_.make_folder(path);
  }
  void remove_tree(const std::string& path) override {
    look(Act::remove, path);
    inner_.remove_tree(path);
  }
  std::vector<std::string> list(const std::string& path) override {
    look(Act::list, path);
    return inner_.list(path);
  }
  void sync_folder(const std::string& path) override {
    look(Act::sync, path);
    inner_.sync_folder(path);
  }

 private:
  class File : public StoreFile {
   public:
    File(FailingFileSystem& files, std::unique_ptr<StoreFile> inner, std::string path)
        : files_(files), inner_(std::move(inner)), path_(std::move(path)) {}
    void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
      files_.look(Act::write, path_);
      inner_->write(offset, bytes);
    }
    std::size_t read(std::uint64_t offset, std::span<std::byte> to) override {
      files_.look(Act::read, path_);
      return inner_->read(offset, to);
    }
    std::uint64_t size() override { return inner_->size(); }
    void sync() override {
      files_.look(Act::sync, path_);
      inner_->sync();
    }

   private:
    FailingFileSystem& files_;
    std::unique_ptr<StoreFile> inner_;
    std::string path_;
  };

  void look(Act act, const std::string& path) {
    const int error = fails ? fails(act, path) : 0;
    if (error != 0) throw fenix_impl::StoreError(error, "operation", path);
  }
  std::unique_ptr<StoreFile> wrapped(std::unique_ptr<StoreFile> file, const std::string& path) {
    return file ? std::make_unique<File>(*this, std::move(file), path) : nullptr;
  }

  fenix_impl::FileSystem& inner_;
};

}  // namespace fenix_test
