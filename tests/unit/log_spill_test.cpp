// SPDX-License-Identifier: BSD-3-Clause
// The files in which a log of messages goes on. Others read what was written, also from files that were cut short or damaged. The bytes on the
// disk have a bound.
#include "messages/journal/log_spill.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/simd/hash.hpp"
#include "messages/journal/spill_reader.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

constexpr int kOwner = 3;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
const Signature kToFive{7, 5, 1};
const Signature kToSix{7, 6, 1};
const Signature kToItself{9, kOwner, 0};

std::vector<std::byte> content_of(std::uint64_t number, std::size_t bytes) {
  std::vector<std::byte> content(bytes);
  for (std::size_t i = 0; i < bytes; ++i) content[i] = static_cast<std::byte>(number * 31 + i);
  return content;
}

class SpilledLog : public ::testing::Test {
 protected:
  SpilledLog() {
    std::string name = (std::filesystem::temp_directory_path() / "fenix-spill-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~SpilledLog() override {
    spill.reset();
    std::filesystem::remove_all(folder);
  }

  LogSpill& make(std::uint64_t most = 64 * kMiB) {
    return *(spill = std::make_unique<LogSpill>(SpillOptions{folder, most}, kOwner));
  }
  bool put(const Signature& signature, std::uint64_t first, std::uint64_t end, std::size_t bytes = 100) {
    std::vector<std::vector<std::byte>> contents;
    std::vector<LogSpill::Item> items;
    for (std::uint64_t number = first; number < end; ++number) contents.push_back(content_of(number, bytes));
    for (std::uint64_t number = first; number < end; ++number) {
      EntryHead head;
      head.signature = signature;
      head.number = number;
      head.bytes = bytes;
      head.hash = hash_bytes(contents[number - first]);
      items.push_back({head, contents[number - first], signature == kToItself});
    }
    return spill->append(items);
  }
  SpillReader reader(const Signature& wanted) const {
    return {folder, spill->place(), [wanted](const Signature& each) { return each == wanted; }};
  }
  /// Returns how many of these messages are read with their bytes.
  static std::uint64_t read(const SpillReader& from, const Signature& signature, std::uint64_t first,
                            std::uint64_t end) {
    std::uint64_t good = 0;
    for (std::uint64_t number = first; number < end; ++number) {
      const auto found = from.find(signature, number);
      if (!found) continue;
      std::vector<std::byte> content(found->entry.head.bytes);
      if (from.read(*found, content) && content == content_of(number, content.size())) ++good;
    }
    return good;
  }
  std::string newest() const { return spill_file_path(folder, spill->place(), spill->place().last); }
  std::size_t files() const {
    const auto all = std::filesystem::directory_iterator(folder);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  std::string folder;
  std::unique_ptr<LogSpill> spill;
};

TEST_F(SpilledLog, MakesNoFileBeforeItIsNeeded) {
  make();
  EXPECT_TRUE(spill->append({}));
  EXPECT_EQ(files(), 0U);
  EXPECT_EQ(spill->place().end, 0U);
}

TEST_F(SpilledLog, IsReadByOthersWhileItGrows) {
  make();
  ASSERT_TRUE(put(kToFive, 1, 101));
  ASSERT_TRUE(put(kToSix, 1, 11, 5000));
  SpillReader other = reader(kToFive);
  EXPECT_TRUE(other.look());
  EXPECT_EQ(read(other, kToFive, 1, 101), 100U);
  EXPECT_FALSE(other.find(kToSix, 1));
  EXPECT_FALSE(other.find(kToFive, 101));
  // In the next files, too.
  for (std::uint64_t number = 101; number < 201; ++number) ASSERT_TRUE(put(kToFive, number, number + 1, 200000));
  EXPECT_GT(spill->place().last, spill->place().first);
  EXPECT_TRUE(other.look());
  EXPECT_EQ(read(other, kToFive, 1, 301), 200U);
  EXPECT_EQ(other.all().size(), 200U);
}

TEST_F(SpilledLog, IsSeenByOthersBeforeItIsNeeded) {
  make();
  EXPECT_FALSE(reader(kToFive).look());
  spill->show();
  SpillReader other = reader(kToFive);
  EXPECT_TRUE(other.look());
  EXPECT_TRUE(put(kToFive, 1, 3));
  EXPECT_FALSE(other.find(kToFive, 1));
  EXPECT_TRUE(other.look());
  EXPECT_EQ(read(other, kToFive, 1, 3), 2U);
}

TEST_F(SpilledLog, HasABound) {
  make(8 * kMiB);
  std::uint64_t number = 1;
  while (put(kToFive, number, number + 1, 100000)) ++number;
  EXPECT_LE(spill->bytes(), 8 * kMiB);
  EXPECT_GT(spill->bytes(), 7 * kMiB);
  EXPECT_NE(spill->why().find("FENIX_MLOG_SPILL_SIZE is 8388608 bytes"), std::string::npos) << spill->why();
  const auto dropped = spill->drop_oldest();
  ASSERT_TRUE(dropped);
  EXPECT_EQ(dropped->at(kToFive).intervals().front().first, 1U);
  EXPECT_TRUE(put(kToFive, number, number + 1, 100000));
  // The rest can be read.
  SpillReader other = reader(kToFive);
  EXPECT_TRUE(other.look());
  const std::uint64_t left = dropped->at(kToFive).end();
  EXPECT_EQ(read(other, kToFive, left, number + 1), number + 1 - left);
  EXPECT_EQ(spill->numbers().at(kToFive), IntervalSet(left, number + 1));
}

// To write beyond it would end the process by SIGXFSZ.
TEST_F(SpilledLog, KeepsToTheLimitOnTheSizeOfFiles) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  make();
  ASSERT_TRUE(put(kToFive, 1, 11));
  rlimit low = before;
  low.rlim_cur = 10000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  bool all_fit = true;
  for (std::uint64_t first = 11; all_fit && first < 1011; first += 10) all_fit = put(kToFive, first, first + 10);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(all_fit);
  EXPECT_NE(spill->why().find("File too large"), std::string::npos) << spill->why();
}

TEST_F(SpilledLog, LetsGoOfFilesThatNobodyNeeds) {
  make(8 * kMiB);
  for (std::uint64_t number = 1; number < 41; ++number) {
    ASSERT_TRUE(put(kToFive, number, number + 1, 100000));
    ASSERT_TRUE(put(kToSix, number, number + 1, 50));
  }
  const std::size_t before = files();
  ASSERT_GT(before, 3U);
  spill->release_until(kToFive, 40);
  EXPECT_EQ(files(), before);
  spill->release_until(kToSix, 20);
  EXPECT_LT(files(), before);
  SpillReader other = reader(kToSix);
  EXPECT_TRUE(other.look());
  EXPECT_EQ(read(other, kToSix, 21, 41), 20U);
  spill->release_until(kToSix, 40);
  EXPECT_EQ(files(), 0U);
  EXPECT_EQ(spill->bytes(), 0U);
  // And it goes on.
  ASSERT_TRUE(put(kToFive, 41, 51));
  SpillReader next = reader(kToFive);
  EXPECT_TRUE(next.look());
  EXPECT_EQ(read(next, kToFive, 41, 51), 10U);
}

TEST_F(SpilledLog, IsTakenOverFromADeadOwner) {
  make(8 * kMiB);
  for (std::uint64_t number = 1; number < 21; ++number) ASSERT_TRUE(put(kToFive, number, number + 1, 100000));
  ASSERT_TRUE(put(kToItself, 1, 8));
  const SpillPlace place = spill->place();
  EXPECT_EQ(place.determinants, 7U);
  // The owner has died while it wrote half an entry.
  std::ofstream(newest(), std::ios::app) << std::string(70, 'x');
  LogSpill successor({folder, 8 * kMiB}, kOwner);
  ASSERT_TRUE(successor.take_over(place));
  EXPECT_EQ(successor.numbers(), spill->numbers());
  // A dead process removes nothing.
  static LogSpill* const dead = spill.release();
  ASSERT_NE(dead, nullptr);
  spill = std::make_unique<LogSpill>(SpillOptions{folder, 8 * kMiB}, kOwner);
  ASSERT_TRUE(spill->take_over(place));
  ASSERT_TRUE(put(kToFive, 21, 23));
  SpillReader other = reader(kToFive);
  EXPECT_TRUE(other.look());
  EXPECT_EQ(read(other, kToFive, 1, 23), 22U);
  successor.clear();
}

TEST_F(SpilledLog, FilesThatADeadOwnerHasNotToldAreRemoved) {
  make(8 * kMiB);
  const SpillPlace place = spill->place();
  ASSERT_TRUE(put(kToFive, 1, 20));
  EXPECT_EQ(files(), 1U);
  LogSpill successor({folder, 8 * kMiB}, kOwner);
  EXPECT_TRUE(successor.take_over(place));
  EXPECT_EQ(files(), 0U);
  EXPECT_TRUE(successor.numbers().empty());
}

TEST_F(SpilledLog, IsNotTakenOverIfSomethingIsMissing) {
  make(8 * kMiB);
  for (std::uint64_t number = 1; number < 41; ++number) ASSERT_TRUE(put(kToFive, number, number + 1, 100000));
  const SpillPlace place = spill->place();
  LogSpill successor({folder, 8 * kMiB}, kOwner);
  std::filesystem::resize_file(newest(), place.end - 64);
  EXPECT_FALSE(successor.take_over(place));
  EXPECT_FALSE(reader(kToFive).look());
  std::filesystem::remove(newest());
  EXPECT_FALSE(successor.take_over(place));
  EXPECT_FALSE(reader(kToFive).look());
  SpillPlace elsewhere = place;
  elsewhere.id += 1;
  EXPECT_FALSE(successor.take_over(elsewhere));
}

TEST_F(SpilledLog, DamagedBytesAreNotTakenForAMessage) {
  make();
  ASSERT_TRUE(put(kToFive, 1, 11));
  SpillReader other = reader(kToFive);
  ASSERT_TRUE(other.look());
  std::fstream file(newest(), std::ios::in | std::ios::out | std::ios::binary);
  const auto third = other.find(kToFive, 3);
  ASSERT_TRUE(third);
  file.seekp(static_cast<std::streamoff>(third->entry.payload() + 50));
  file.put('x').flush();
  EXPECT_EQ(read(other, kToFive, 1, 11), 9U);
  // One that is written again counts.
  ASSERT_TRUE(put(kToFive, 3, 4));
  ASSERT_TRUE(other.look());
  EXPECT_EQ(read(other, kToFive, 1, 11), 10U);
  // A damaged head ends what is read.
  file.seekp(static_cast<std::streamoff>(third->entry.position + 20));
  file.put('x').flush();
  EXPECT_FALSE(reader(kToFive).look());
}

TEST_F(SpilledLog, AFolderThatIsNotThereIsToldWithItsName) {
  LogSpill nowhere({folder + "/none", kMiB}, kOwner);
  const std::vector<std::byte> content(10);
  const LogSpill::Item item{{}, content};
  EXPECT_FALSE(nowhere.append(std::span(&item, 1)));
  EXPECT_NE(nowhere.why().find(folder + "/none"), std::string::npos) << nowhere.why();
}

TEST_F(SpilledLog, OfAJobThatHasEndedIsRemovedByALaterOne) {
  make();
  ASSERT_TRUE(put(kToFive, 1, 11));
  remove_spill_files_of_ended_jobs(folder);
  EXPECT_EQ(files(), 1U) << "the launcher is still there";
  // A process that has ended, as a launcher that had this number.
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(ended, nullptr, 0), ended);
  const auto set_launcher = [this](std::int32_t pid, std::uint8_t node) {
    std::fstream file(newest(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(24);
    file.put(static_cast<char>(file.peek() ^ node));
    file.seekp(32);
    file.write(reinterpret_cast<const char*>(&pid), sizeof pid);
  };
  set_launcher(ended, 1);
  remove_spill_files_of_ended_jobs(folder);
  EXPECT_EQ(files(), 1U) << "it is of another node";
  set_launcher(0, 1);
  remove_spill_files_of_ended_jobs(folder);
  EXPECT_EQ(files(), 1U) << "it has no launcher";
  set_launcher(ended, 0);
  // A successor makes it its own.
  LogSpill successor({folder, 64 * kMiB}, kOwner);
  ASSERT_TRUE(successor.take_over(spill->place()));
  remove_spill_files_of_ended_jobs(folder);
  EXPECT_EQ(files(), 1U) << "the job goes on";
  set_launcher(ended, 0);
  std::filesystem::create_symlink(newest(), folder + "/fenix-mlog-link");
  std::ofstream(folder + "/fenix-mlog-empty").flush();
  remove_spill_files_of_ended_jobs(folder);
  EXPECT_EQ(files(), 2U) << "only what is certain to be of an ended job goes";
  EXPECT_FALSE(std::filesystem::exists(newest()));
}

TEST_F(SpilledLog, RemovesItsFilesAtTheEnd) {
  make();
  ASSERT_TRUE(put(kToFive, 1, 11));
  EXPECT_EQ(files(), 1U);
  spill.reset();
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace fenix_test
