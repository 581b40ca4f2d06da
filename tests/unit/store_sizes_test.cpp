// SPDX-License-Identifier: BSD-3-Clause
// The price of a dataset of many ranks: bytes beside the data, files, and operations on names.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "store/dataset.hpp"
#include "store/dataset_writer.hpp"
#include "store/posix_file_system.hpp"
#include "store/store.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

constexpr int kRanks = 4096;
constexpr int kRanksOfAWriter = 64;
constexpr int kWriters = kRanks / kRanksOfAWriter;
constexpr int kMembers = 3;
constexpr std::size_t kRecordBytes = 80 + 112 * kMembers;

/// Counts what changes or looks up names, and the files that are read.
class CountingFileSystem : public PosixFileSystem {
 public:
  std::unique_ptr<StoreFile> create(const std::string& path, Use use) override {
    ++changes;
    return PosixFileSystem::create(path, use);
  }
  std::unique_ptr<StoreFile> open(const std::string& path, Use use) override {
    ++opened;
    return PosixFileSystem::open(path, use);
  }
  void rename(const std::string& from, const std::string& to) override {
    ++changes;
    PosixFileSystem::rename(from, to);
  }
  void make_folder(const std::string& path) override {
    ++changes;
    PosixFileSystem::make_folder(path);
  }
  void sync_folder(const std::string& path) override {
    ++changes;
    PosixFileSystem::sync_folder(path);
  }
  std::vector<std::string> list(const std::string& path) override {
    ++lists;
    return PosixFileSystem::list(path);
  }

  int changes = 0;
  int opened = 0;
  int lists = 0;
};

std::byte byte_of(int rank, int member) { return static_cast<std::byte>(rank * 7 + member); }

std::vector<RankSource> sources_of(std::uint32_t writer) {
  std::vector<RankSource> sources;
  const int first = static_cast<int>(writer) * kRanksOfAWriter;
  for (int rank = first; rank < first + kRanksOfAWriter; ++rank) {
    RankSource source{rank, std::vector<std::byte>(kRecordBytes), {}};
    for (int member = 0; member < kMembers; ++member) {
      source.members.push_back({member, 1, [rank, member](std::uint64_t, std::span<std::byte> to) {
                                  std::fill(to.begin(), to.end(), byte_of(rank, member));
                                  return true;
                                }});
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

TEST(StoreSizes, OfManyRanks) {
  std::string root = std::filesystem::temp_directory_path() / "fenix-store-XXXXXX";
  if (::mkdtemp(root.data()) == nullptr) throw std::runtime_error("no temporary folder");
  CountingFileSystem files;
  DatasetPlan plan;
  plan.name = {1, 5, 1, 1};
  plan.epoch = 6;
  for (int member = 0; member < kMembers; ++member) plan.members.push_back({member, 1, {}});
  for (int rank = 0; rank < kRanks; ++rank) {
    plan.writers.push_back(static_cast<std::uint32_t>(rank / kRanksOfAWriter));
  }
  DatasetWriter writer(files, root, plan);
  writer.write_plan();
  for (std::uint32_t each = 0; each < kWriters; ++each) {
    files.changes = files.lists = 0;
    ASSERT_TRUE(writer.write_part(each, sources_of(each)));
    EXPECT_LE(files.changes, 8);
    EXPECT_EQ(files.lists, 0);
  }
  ASSERT_TRUE(writer.write_manifest());

  // Two files for each writer, the plan, and the manifest.
  std::map<std::string, std::uintmax_t> sizes;
  const std::filesystem::path folder = root + "/" + plan.name.text();
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    sizes[each.path().filename().string()] = each.file_size();
  }
  EXPECT_EQ(sizes.size(), 2U * kWriters + 2);
  constexpr std::uintmax_t kOfAFile = 256;
  EXPECT_LE(sizes.at("plan"), kOfAFile + 4U * kRanks + 32U * kMembers);
  EXPECT_LE(sizes.at("manifest"), kOfAFile + 64U * kWriters);
  // Each rank has its record there, and for each member the place and the hash of a piece. Nothing grows with the number of ranks.
  constexpr std::uintmax_t kOfAMember = 40;
  for (std::uint32_t each = 0; each < kWriters; ++each) {
    EXPECT_LE(sizes.at(part_file(each)), kOfAFile + kRanksOfAWriter * (kRecordBytes + 16 + kMembers * kOfAMember));
    EXPECT_EQ(sizes.at(data_file(each, 0)), FileSystem::kAlignment * kMembers * kRanksOfAWriter);
  }

  // A rank finds that the dataset is complete by two files and the names of all, and its own data by one more.
  files.opened = files.lists = 0;
  ASSERT_TRUE(Store(files, root).complete(plan.name));
  EXPECT_LE(files.opened, 2);
  EXPECT_LE(files.lists, 1);
  files.opened = 0;
  const auto dataset = Dataset::open(files, root, plan.name);
  ASSERT_TRUE(dataset);
  for (const int rank : {0, kRanksOfAWriter - 1, kRanksOfAWriter, kRanks - 1}) {
    const auto data = dataset->rank(rank);
    ASSERT_TRUE(data);
    std::byte read[1] = {};
    ASSERT_TRUE(dataset->read(*data, kMembers - 1, read));
    EXPECT_EQ(read[0], byte_of(rank, kMembers - 1));
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace fenix_test
