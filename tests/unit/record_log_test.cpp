// SPDX-License-Identifier: BSD-3-Clause
// The ring of records: only what was completed, and stands where it belongs, is read.
#include "core/record_log.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

constexpr std::size_t kPlaces = 4;

Record record_of(std::uint64_t epoch, std::size_t members = 2) {
  Record record{{epoch}, {1}, static_cast<std::int32_t>(epoch) + 10, 5, 2, {}};
  for (std::size_t i = 0; i < members; ++i)
    record.members.push_back({static_cast<std::int32_t>(i), 0, 10, 4, {1}, epoch});
  return record;
}

class RecordLogTest : public testing::Test {
 protected:
  void write(std::uint64_t epoch, std::size_t members = 2) const {
    log.write_unsealed(record_of(epoch, members));
    log.seal({epoch});
  }

  [[nodiscard]] std::vector<std::uint64_t> epochs() const {
    std::vector<std::uint64_t> found;
    for (const Record& record : log.read_all()) found.push_back(record.epoch.value);
    return found;
  }

  std::vector<std::byte> area = std::vector<std::byte>(kPlaces * RecordLog::kPlaceBytes);
  RecordLog log{area, 4096};
};

using Epochs = std::vector<std::uint64_t>;

TEST_F(RecordLogTest, EmptyLogHasNoRecords) {
  EXPECT_EQ(epochs(), Epochs{});
  EXPECT_FALSE(log.read({1}));
  EXPECT_EQ(RecordLog().read_all(), std::vector<Record>{});
}

TEST_F(RecordLogTest, ReadsWhatWasWrittenAndSealed) {
  write(3);
  const auto read = log.read({3});
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, record_of(3));
}

TEST_F(RecordLogTest, DoesNotReadARecordBeforeItsSeal) {
  const auto bytes = log.write_unsealed(record_of(3));
  EXPECT_EQ(bytes.size(), record_bytes(2));
  EXPECT_EQ(bytes.data(), log.place({3}).data());
  EXPECT_FALSE(log.read({3}));
  EXPECT_EQ(epochs(), Epochs{});
}

TEST_F(RecordLogTest, ReadAllIsOldestFirstAlsoAfterTheRingHasWrapped) {
  for (std::uint64_t epoch = 1; epoch <= 6; ++epoch) write(epoch);
  EXPECT_EQ(epochs(), (Epochs{3, 4, 5, 6}));
}

TEST_F(RecordLogTest, OffsetsCountFromTheStartOfTheRegion) {
  EXPECT_EQ(log.places(), kPlaces);
  EXPECT_EQ(log.offset({1}), 4096 + RecordLog::kPlaceBytes);
  EXPECT_EQ(log.offset({1 + kPlaces}), log.offset({1}));
}

TEST_F(RecordLogTest, EpochThatHasBeenOverwrittenIsGone) {
  write(1);
  write(1 + kPlaces);
  EXPECT_FALSE(log.read({1}));
  EXPECT_TRUE(log.read({1 + kPlaces}));
}

TEST_F(RecordLogTest, OlderRecordIsNotReadAsTheOneThatIsToReplaceIt) {
  write(1);
  EXPECT_FALSE(log.read({1 + kPlaces}));
}

TEST_F(RecordLogTest, RecordInThePlaceOfAnotherEpochIsNotRead) {
  write(1);
  const auto from = log.place({1});
  std::copy(from.begin(), from.end(), log.place({2}).begin());
  log.clear({1});
  EXPECT_EQ(epochs(), Epochs{});
  EXPECT_FALSE(log.read({1}));
  EXPECT_FALSE(log.read({2}));
}

TEST_F(RecordLogTest, TornRecordIsNotRead) {
  // The new record has come over but for its second half, which is that of an older one; the seal came too early.
  write(1);
  const std::vector<std::byte> old(log.place({1}).begin(), log.place({1}).end());
  const std::size_t length = record_bytes(2);
  for (std::size_t torn_at = 8; torn_at < length; torn_at += 8) {
    const auto bytes = log.write_unsealed(record_of(1 + kPlaces));
    auto place = log.place({1});
    if (std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(torn_at), bytes.end(),
                   old.begin() + static_cast<std::ptrdiff_t>(torn_at))) {
      continue;  // both records are the same from here on
    }
    std::memcpy(place.data() + torn_at, old.data() + torn_at, length - torn_at);
    log.seal({1 + kPlaces});
    EXPECT_FALSE(log.read({1 + kPlaces})) << torn_at;
    EXPECT_FALSE(log.read({1})) << torn_at;
    EXPECT_EQ(epochs(), Epochs{}) << torn_at;
  }
}

TEST_F(RecordLogTest, RecordWithAFlippedBitIsNotReadAndOthersAre) {
  write(1);
  write(2);
  log.place({1})[100] ^= std::byte{4};
  EXPECT_FALSE(log.read({1}));
  EXPECT_EQ(epochs(), Epochs{2});
}

TEST_F(RecordLogTest, ClearVoidsOneRecord) {
  write(1);
  write(2);
  log.clear({1});
  EXPECT_FALSE(log.read({1}));
  EXPECT_EQ(epochs(), Epochs{2});
}

TEST_F(RecordLogTest, WritingVoidsThePredecessorEvenIfTheWriterFails) {
  write(1);
  const std::size_t too_many = RecordLog::kPlaceBytes / record_format::kMemberBytes;
  EXPECT_THROW(log.write_unsealed(record_of(1 + kPlaces, too_many)), Error);
  EXPECT_FALSE(log.read({1}));
}

// A process that dies while it writes a record: its place, seen by others, holds no record any more.
TEST(RecordLogInSharedMemory, WriterThatDiesHalfwayLeavesNoRecord) {
  void* memory = mmap(nullptr, RecordLog::kPlaceBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<std::byte*>(memory);
  const RecordLog log(std::span(bytes, RecordLog::kPlaceBytes), 0);
  constexpr std::size_t members = 200;  // several pages
  log.write_unsealed(record_of(1, members));
  log.seal({1});
  ASSERT_TRUE(log.read({1}));

  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGSEGV, SIG_DFL);
    // The second page cannot be written: there the writer dies.
    mprotect(bytes + 4096, RecordLog::kPlaceBytes - 4096, PROT_READ);
    log.write_unsealed(record_of(2, members));
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  std::uint64_t seal = 1;
  std::memcpy(&seal, bytes, sizeof seal);
  EXPECT_EQ(seal, 0U);
  EXPECT_FALSE(log.read({1}));
  EXPECT_EQ(log.read_all(), std::vector<Record>{});
  munmap(memory, RecordLog::kPlaceBytes);
}

}  // namespace
}  // namespace fenix_impl
