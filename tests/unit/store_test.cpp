// SPDX-License-Identifier: BSD-3-Clause
// The store: whatever a crash leaves on the disk, a dataset that seems complete is whole, and one that was told durable is complete.
#include "store/store.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numeric>

#include "store/dataset.hpp"
#include "store/dataset_writer.hpp"
#include "store/manifest.hpp"
#include "store/posix_file_system.hpp"
#include "store/sealed_file.hpp"
#include "support/random_seed.hpp"
#include "support/recorded_file_system.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;
using StoredBytes = std::vector<std::byte>;

constexpr int kRanks = 3;
constexpr std::int32_t kGroup = -4;

DatasetPlan plan_of(int time_stamp, std::uint32_t run) {
  DatasetPlan plan;
  plan.name = {kGroup, time_stamp, run, 1};
  plan.label = "before the shock";
  plan.epoch = static_cast<std::uint64_t>(time_stamp) + 1;
  plan.group = {0, 2, 1, 0, 2, 1, 0, 1};
  plan.members = {{0, 8, StoredBytes(5, std::byte{7})}, {-9, 1, {}}};
  plan.writers = {0, 1, 0};
  return plan;
}

constexpr int kLarge =
    10;  // time stamps from here on have data that goes beyond pieces, and beyond the writer's buffer

std::uint64_t bytes_of(const DatasetName& name, std::int32_t member, int rank) {
  const bool is_large = name.time_stamp >= kLarge;
  const std::uint64_t sizes[] = {100, 0, 4096, is_large ? (1U << 20U) + 17 : 1U, 12288, is_large ? 9U << 20U : 5000U};
  return sizes[static_cast<std::size_t>((member == 0 ? 0 : 1) + 2 * rank)];
}

StoredBytes data_of(const DatasetName& name, std::int32_t member, int rank) {
  StoredBytes bytes(bytes_of(name, member, rank));
  const auto seed = static_cast<unsigned>(name.time_stamp * 31 + static_cast<int>(name.run) * 7 + member + rank);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 2654435761U >> 13U ^ seed);
  return bytes;
}

StoredBytes record_of(const DatasetName& name, int rank) {
  return StoredBytes(static_cast<std::size_t>(80 + name.time_stamp), static_cast<std::byte>(rank));
}

std::vector<RankSource> sources(const DatasetPlan& plan, std::uint32_t writer) {
  std::vector<RankSource> ranks;
  for (int rank = 0; rank < static_cast<int>(plan.writers.size()); ++rank) {
    if (plan.writers[static_cast<std::size_t>(rank)] != writer) continue;
    RankSource source{rank, record_of(plan.name, rank), {}};
    for (const StoredMember& member : plan.members) {
      source.members.push_back(
          {member.id, bytes_of(plan.name, member.id, rank),
           [all = data_of(plan.name, member.id, rank)](std::uint64_t offset, std::span<std::byte> to) {
             std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
             return true;
           }});
    }
    ranks.push_back(std::move(source));
  }
  return ranks;
}

void write_dataset(FileSystem& files, const std::string& root, const DatasetPlan& plan) {
  DatasetWriter writer(files, root, plan);
  writer.write_plan();
  for (std::uint32_t each = 0; each < plan.number_of_writers(); ++each) {
    ASSERT_TRUE(writer.write_part(each, sources(plan, each)));
  }
  ASSERT_TRUE(writer.write_manifest());
}

bool is_complete(FileSystem& files, const std::string& root, const DatasetName& name) {
  const auto dataset = Dataset::open(files, root, name);
  return dataset && dataset->missing().empty();
}

/// Whether all data of a dataset is there, byte for byte.
bool is_whole(FileSystem& files, const std::string& root, const DatasetPlan& plan) {
  const auto dataset = Dataset::open(files, root, plan.name);
  if (!dataset || dataset->plan() != plan) return false;
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto data = dataset->rank(rank);
    if (!data || data->stored.record != record_of(plan.name, rank)) return false;
    for (const StoredMember& member : plan.members) {
      StoredBytes read(bytes_of(plan.name, member.id, rank));
      if (!dataset->read(*data, member.id, read) || read != data_of(plan.name, member.id, rank)) return false;
    }
  }
  return true;
}

class StoreOnDisk : public testing::Test {
 protected:
  StoreOnDisk() {
    std::string folder = std::filesystem::temp_directory_path() / "fenix-store-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root = folder;
  }
  ~StoreOnDisk() override { std::filesystem::remove_all(root); }

  PosixFileSystem files;
  std::string root;
};

TEST_F(StoreOnDisk, GivesBackWhatWasWritten) {
  Store store(files, root);
  EXPECT_EQ(store.begin_run().number, 1U);
  const DatasetPlan plan = plan_of(15, 1);
  write_dataset(files, root, plan);
  EXPECT_TRUE(is_complete(files, root, plan.name));
  EXPECT_TRUE(is_whole(files, root, plan));
  EXPECT_EQ(store.begin_run().number, 2U);
  write_dataset(files, root, plan_of(4, 2));
  write_dataset(files, root, plan_of(16, 1));
  EXPECT_EQ(store.datasets(kGroup),
            (std::vector<DatasetName>{{kGroup, 4, 2, 1}, {kGroup, 16, 1, 1}, {kGroup, 15, 1, 1}}));
  EXPECT_TRUE(store.datasets(kGroup + 1).empty());
  store.remove({kGroup, 16, 1, 1});
  EXPECT_FALSE(is_complete(files, root, {kGroup, 16, 1, 1}));
  EXPECT_EQ(store.datasets(kGroup).size(), 2U);
  EXPECT_TRUE(is_whole(files, root, plan));
}

TEST_F(StoreOnDisk, NobodyElseMayReadTheFiles) {
  write_dataset(files, root, plan_of(1, 1));
  for (const auto& each : std::filesystem::recursive_directory_iterator(root)) {
    const auto others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
    EXPECT_EQ(each.status().permissions() & others, std::filesystem::perms::none) << each.path();
  }
}

TEST_F(StoreOnDisk, TellsWhichOperationFailed) {
  const DatasetPlan plan = plan_of(1, 1);
  DatasetWriter writer(files, root + "/none", plan);
  try {
    writer.write_plan();
    FAIL() << "no error";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.error(), ENOENT);
    EXPECT_NE(std::string(error.what()).find(root), std::string::npos);
  }
}

long most_memory() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_maxrss;
}

// P10, P11: a file of any length is a damaged one, which is never removed. Memory for all of it might end the keeper.
TEST_F(StoreOnDisk, ADamagedFileOfAnyLengthTakesLittleMemory) {
  const DatasetPlan plan = plan_of(1, 1);
  const std::string folder = root + "/" + plan.name.text();
  for (const std::uintmax_t size : {std::uintmax_t{1} << 30U, std::uintmax_t{5} << 30U}) {
    for (const char* file : {"plan", "p.0"}) {
      write_dataset(files, root, plan);
      std::filesystem::remove(folder + "/manifest");
      std::filesystem::resize_file(folder + "/" + file, size);
      const long before = most_memory();
      EXPECT_EQ(word_of(Store(files, root).look(plan.name).state), std::string("damaged")) << file << " of " << size;
      EXPECT_LT(most_memory() - before, 100L << 10U) << file << " of " << size;
      std::filesystem::remove_all(folder);
    }
  }
}

/// Writes two datasets and removes the older one. durable: number of operations after which each is told durable.
struct History {
  RecordedFileSystem files;
  std::vector<DatasetPlan> plans{plan_of(1, 1), plan_of(2, 1)};
  std::vector<std::size_t> durable;
  std::size_t removal = 0;

  explicit History(RecordedFileSystem::Mistakes mistakes) {
    files.mistakes = mistakes;
    for (const DatasetPlan& plan : plans) {
      write_dataset(files, "", plan);
      durable.push_back(files.operations());
    }
    removal = files.operations();
    Store(files, "").remove(plans[0].name);
  }

  /// Looks at what crashes leave. Returns how often a dataset seemed complete and was not, or was told durable and is not complete.
  int broken(std::mt19937& random) {
    constexpr int kRounds = 20;
    int found = 0;
    for (int round = 0; round < kRounds; ++round) found += broken_once(random);
    return found;
  }

 private:
  int broken_once(std::mt19937& random) {
    int found = 0;
    for (std::size_t end = 0; end <= files.operations(); ++end) {
      for (const unsigned kept : {0U, 8U, 1U, 4U, 4U, 4U, 7U, 7U}) {
        const auto after = files.after_crash(end, kept, random);
        for (std::size_t i = 0; i < plans.size(); ++i) {
          const bool complete = is_complete(*after, "", plans[i].name);
          const bool may_be_gone = i == 0 && end > removal;
          const bool told = end >= durable[i] && !may_be_gone;
          if (told && !complete) ++found;
          if (complete && !is_whole(*after, "", plans[i])) ++found;
        }
      }
    }
    return found;
  }
};

TEST(StoreAfterCrash, CompleteMeansWhole) {
  std::mt19937 random(random_seed());
  EXPECT_EQ(History({}).broken(random), 0);
}

TEST(StoreAfterCrash, TheTestFindsMistakes) {
  std::mt19937 random(random_seed());
  EXPECT_GT(History({.no_file_sync = true}).broken(random), 0);
  EXPECT_GT(History({.no_folder_sync = true}).broken(random), 0);
}

TEST(StoreAfterCrash, AnotherWriterFinishes) {
  std::mt19937 random(random_seed());
  const DatasetPlan plan = plan_of(3, 1);
  RecordedFileSystem files;
  write_dataset(files, "", plan);
  for (std::size_t end = 0; end <= files.operations(); ++end) {
    const auto after = files.after_crash(end, static_cast<unsigned>(random() % 9), random);
    write_dataset(*after, "", plan);
    ASSERT_TRUE(is_whole(*after, "", plan)) << "after operation " << end;
  }
}

TEST(StoreDamage, EachByteOfASmallFileCounts) {
  const DatasetPlan plan = plan_of(1, 1);
  for (const std::string file : {"plan", "p.0", "p.1"}) {
    RecordedFileSystem files;
    write_dataset(files, "", plan);
    const std::string path = "/" + plan.name.text() + "/" + file;
    for (std::size_t offset = 0; offset < files.size(path); ++offset) {
      files.damage(path, offset);
      ASSERT_FALSE(is_complete(files, "", plan.name)) << file << " at " << offset;
      files.damage(path, offset);
    }
    EXPECT_TRUE(is_whole(files, "", plan));
  }
}

TEST(StoreDamage, WrongDataIsFound) {
  const DatasetPlan plan = plan_of(kLarge + 1, 1);
  RecordedFileSystem files;
  write_dataset(files, "", plan);
  const auto dataset = Dataset::open(files, "", plan.name);
  const auto data = dataset->rank(2);
  ASSERT_TRUE(data);
  for (const Extent& extent : data->stored.extents) {
    for (const std::uint64_t place : {std::uint64_t{0}, extent.bytes / 2, extent.bytes - 1}) {
      const std::string path = "/" + plan.name.text() + "/" + data->data_file;
      files.damage(path, extent.offset + place);
      StoredBytes read(extent.bytes);
      EXPECT_FALSE(dataset->read(*data, extent.member, read));
      files.damage(path, extent.offset + place);
      EXPECT_TRUE(dataset->read(*data, extent.member, read));
    }
  }
}

TEST(StoreDamage, ADatasetOfAnotherNameIsNone) {
  RecordedFileSystem files;
  const DatasetPlan plan = plan_of(kLarge + 1, 1);
  write_dataset(files, "", plan);
  files.make_folder("/-4.11.2");
  for (const std::string file : {"plan", "p.0", "p.1"}) {
    const auto bytes = read_whole(files, "/" + plan.name.text() + "/" + file);
    write_durably(files, "/-4.11.2", file, "tmp", *bytes);
  }
  EXPECT_FALSE(is_complete(files, "", {kGroup, kLarge + 1, 2, 1}));
}

TEST(StoreWriter, GivesUpWhatIsNotThereAnyMore) {
  const DatasetPlan plan = plan_of(kLarge + 1, 1);
  RecordedFileSystem files;
  DatasetWriter writer(files, "", plan);
  writer.write_plan();
  auto ranks = sources(plan, 0);
  ranks.back().members.back().read = [](std::uint64_t offset, std::span<std::byte>) { return offset < (4U << 20U); };
  EXPECT_FALSE(writer.write_part(0, ranks));
  EXPECT_FALSE(writer.write_manifest());
  EXPECT_EQ(files.list("/" + plan.name.text()), std::vector<std::string>{"plan"});
  EXPECT_TRUE(writer.write_part(0, sources(plan, 0)));
  EXPECT_TRUE(writer.write_part(1, sources(plan, 1)));
  EXPECT_TRUE(writer.write_manifest());
  EXPECT_TRUE(is_whole(files, "", plan));
}

TEST(StoreWriter, AnErrorLeavesOlderDatasetsAlone) {
  RecordedFileSystem files;
  write_dataset(files, "", plan_of(kLarge + 1, 1));
  const DatasetPlan plan = plan_of(kLarge + 2, 1);
  DatasetWriter writer(files, "", plan);
  writer.write_plan();
  files.error_of_writes = ENOSPC;
  EXPECT_THROW(writer.write_part(0, sources(plan, 0)), StoreError);
  files.error_of_writes = 0;
  EXPECT_TRUE(is_whole(files, "", plan_of(kLarge + 1, 1)));
  EXPECT_FALSE(is_complete(files, "", plan.name));
  EXPECT_EQ(files.list("/" + plan.name.text()), std::vector<std::string>{"plan"});
  write_dataset(files, "", plan);
  EXPECT_TRUE(is_whole(files, "", plan));
}

TEST(StoreWriter, ManifestsAreTheSameWhoeverWritesThem) {
  const DatasetPlan plan = plan_of(kLarge + 1, 1);
  RecordedFileSystem files;
  write_dataset(files, "", plan);
  const std::string path = "/" + plan.name.text() + "/manifest";
  const auto first = read_whole(files, path);
  DatasetWriter other(files, "", plan);
  EXPECT_TRUE(other.write_part(0, {}));  // it is there
  EXPECT_TRUE(other.write_manifest());
  EXPECT_EQ(read_whole(files, path), first);
  const auto manifest = decode_manifest(plan.name, *first);
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->parts.size(), 2U);
}

// Datasets are read by later versions too. If this fails, the format has changed: it needs a new version, and a new sample, which is
// written if FENIX_TEST_WRITE_SAMPLE names a folder.
TEST(StoreFormat, ReadsASampleOfVersion1) {
  PosixFileSystem files;
  const std::string samples = std::string(FENIX_TEST_SOURCES) + "/unit/samples/store-1";
  const DatasetPlan plan = plan_of(1, 1);
  if (const char* const folder = std::getenv("FENIX_TEST_WRITE_SAMPLE")) return write_dataset(files, folder, plan);
  EXPECT_TRUE(is_complete(files, samples, plan.name));
  EXPECT_TRUE(is_whole(files, samples, plan));
  RecordedFileSystem again;
  write_dataset(again, "", plan);
  for (const std::string& name : files.list(samples + "/" + plan.name.text())) {
    const std::string path = "/" + plan.name.text() + "/" + name;
    EXPECT_EQ(read_whole(again, path), read_whole(files, samples + path)) << name;
  }
}

TEST(StoreName, HasOneSpelling) {
  for (const DatasetName name :
       {DatasetName{0, 0, 1, 1}, {-2147483647 - 1, 7, 4294967295U, 4294967295U}, {12, 0x40000000, 3, 2}}) {
    EXPECT_EQ(DatasetName::parse(name.text()), name);
  }
  for (const char* text : {"", ".", "1.2.3", "1.2.3.4.5", "1.2.3.4 ", "01.2.3.4", "1.-2.3.4", "1.2.-3.4", "+1.2.3.4",
                           "index", "1..3.4", "1.2.3.4294967296"}) {
    EXPECT_FALSE(DatasetName::parse(text)) << text;
  }
}

}  // namespace
}  // namespace fenix_test
