// SPDX-License-Identifier: BSD-3-Clause
// Files of messages whose storage becomes full: what was written before and what is written after it can be read.
#include "messages/persistent/persist_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/simd/hash.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

constexpr std::uint64_t kFiledComm = 5;

/// Files of this process have room for so many bytes.
class FullStorage {
 public:
  explicit FullStorage(std::size_t bytes) {
    signal_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  FullStorage(const FullStorage&) = delete;
  FullStorage& operator=(const FullStorage&) = delete;
  ~FullStorage() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  void (*signal_)(int) = SIG_DFL;
};

class FileOfMessages : public ::testing::Test {
 protected:
  FileOfMessages() : folder(std::filesystem::temp_directory_path() / ("fenix-filed-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
    file.emplace(folder, kFiledComm, 0);
  }
  ~FileOfMessages() override { std::filesystem::remove_all(folder); }

  static void write_to(const PersistFile::Write& write, std::int32_t tag, std::size_t bytes) {
    const std::vector<std::byte> payload(bytes, static_cast<std::byte>(tag));
    EntryHead head;
    head.bytes = bytes;
    head.hash = hash_bytes(payload);
    head.signature = {kFiledComm, 0, tag};
    head.number = static_cast<std::uint64_t>(tag) + 1;
    write(head, payload);
  }
  void append(std::int32_t tag, std::size_t bytes) {
    write_to([&](const EntryHead& head, std::span<const std::byte> payload) { file->append(head, payload); }, tag,
             bytes);
  }
  void replace_with(std::int32_t tag, std::size_t bytes) {
    file->replace([&](const PersistFile::Write& write) { write_to(write, tag, bytes); });
  }
  void expect_tags(const std::vector<std::int32_t>& tags) const {
    std::vector<std::int32_t> found;
    for (const FiledMessage& each : PersistFile(folder, kFiledComm, 0).read()) {
      found.push_back(each.head.signature.tag);
      EXPECT_EQ(each.payload, std::vector<std::byte>(each.payload.size(), static_cast<std::byte>(found.back())));
    }
    EXPECT_EQ(found, tags);
  }

  std::string folder;
  std::optional<PersistFile> file;
};

TEST_F(FileOfMessages, GoesOnBehindTheLastWholeOneWhenThereIsRoomAgain) {
  replace_with(1, 100);
  append(2, 100);
  {
    const FullStorage full(file->bytes() + 500);
    EXPECT_THROW(append(3, 1000), MpiError);
    EXPECT_THROW(append(3, 1000), MpiError);
    append(4, 100);
  }
  append(5, 1000);
  expect_tags({1, 2, 4, 5});
}

TEST_F(FileOfMessages, StaysWhereANewOneFindsNoRoom) {
  replace_with(1, 100);
  append(2, 100);
  {
    const FullStorage full(file->bytes());
    EXPECT_THROW(replace_with(3, 1000), MpiError);
  }
  append(4, 100);
  expect_tags({1, 2, 4});
  replace_with(5, 1000);
  expect_tags({5});
}

}  // namespace
}  // namespace fenix_test
