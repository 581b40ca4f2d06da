// SPDX-License-Identifier: BSD-3-Clause
// Entries of records: only what was completed is read, and of an epoch that was deleted, only that.
#include "core/log/record_log.hpp"

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

constexpr std::uint32_t kEntries = 4;

Record record_of(std::uint64_t epoch, std::size_t members = 2) {
  Record record{{epoch}, {1}, static_cast<std::int32_t>(epoch) + 10, 5, 2, {epoch}, false, {}};
  for (std::size_t i = 0; i < members; ++i) {
    record.members.push_back({static_cast<std::int32_t>(i), 0, 4, 10, {1}, epoch, {0, 10}});
  }
  return record;
}

Record tombstone_of(std::uint64_t epoch) {
  Record record = record_of(epoch, 0);
  record.deleted = true;
  return record;
}

std::ptrdiff_t distance(std::size_t bytes) { return static_cast<std::ptrdiff_t>(bytes); }

class RecordLogTest : public testing::Test {
 protected:
  void write(std::uint32_t entry, const Record& record) const {
    log.write_unsealed(entry, record);
    log.seal(entry, record.epoch);
  }
  void write(std::uint32_t entry, std::uint64_t epoch) const { write(entry, record_of(epoch)); }

  [[nodiscard]] std::vector<std::uint64_t> epochs() const {
    std::vector<std::uint64_t> found;
    for (const LoggedRecord& logged : log.read_all()) found.push_back(logged.record.epoch.value);
    return found;
  }
  [[nodiscard]] std::vector<std::uint32_t> entries() const {
    std::vector<std::uint32_t> found;
    for (const LoggedRecord& logged : log.read_all()) found.push_back(logged.entry);
    return found;
  }

  std::vector<std::byte> area = std::vector<std::byte>(kEntries * RecordLog::kEntryBytes);
  RecordLog log{area, 4096};
};

using Epochs = std::vector<std::uint64_t>;
using Entries = std::vector<std::uint32_t>;

TEST_F(RecordLogTest, EmptyLogHasNoRecords) {
  EXPECT_EQ(epochs(), Epochs{});
  for (std::uint32_t entry = 0; entry < kEntries; ++entry) EXPECT_FALSE(log.read(entry)) << entry;
  EXPECT_EQ(RecordLog().entries(), 0U);
  EXPECT_TRUE(RecordLog().read_all().empty());
}

TEST_F(RecordLogTest, ReadsWhatWasWrittenAndSealed) {
  for (std::uint32_t entry = 0; entry < kEntries; ++entry) {
    write(entry, 3 + entry);
    const auto read = log.read(entry);
    ASSERT_TRUE(read) << entry;
    EXPECT_EQ(*read, record_of(3 + entry));
  }
}

TEST_F(RecordLogTest, DoesNotReadARecordBeforeItsSeal) {
  const auto bytes = log.write_unsealed(1, record_of(3));
  EXPECT_EQ(bytes.size(), record_bytes(2, 2));
  EXPECT_EQ(bytes.data(), log.entry(1).data());
  EXPECT_FALSE(log.read(1));
  EXPECT_EQ(epochs(), Epochs{});
}

TEST_F(RecordLogTest, DoesNotReadARecordWithTheSealOfAnotherEpoch) {
  log.write_unsealed(1, record_of(3));
  log.seal(1, {4});
  EXPECT_FALSE(log.read(1));
}

// Which epoch has which place is up to the owner.
TEST_F(RecordLogTest, ReadAllIsOldestFirstWhateverThePlaces) {
  write(0, 6);
  write(1, 3);
  write(2, 5);
  write(3, 4);
  EXPECT_EQ(epochs(), (Epochs{3, 4, 5, 6}));
  EXPECT_EQ(entries(), (Entries{1, 3, 2, 0}));
}

TEST_F(RecordLogTest, ReadAllLeavesOutPlacesWithoutARecord) {
  write(2, 7);
  write(0, 9);
  log.write_unsealed(3, record_of(10));
  EXPECT_EQ(epochs(), (Epochs{7, 9}));
  EXPECT_EQ(entries(), (Entries{2, 0}));
}

TEST_F(RecordLogTest, OfTwoRecordsOfOneEpochTheDeletedOneCounts) {
  for (const std::uint32_t tombstone : {0U, 3U}) {
    const std::uint32_t record = 3 - tombstone;
    write(record, 5);
    write(1, 4);
    write(2, 6);
    write(tombstone, tombstone_of(5));
    EXPECT_EQ(epochs(), (Epochs{4, 5, 6}));
    EXPECT_EQ(entries(), (Entries{1, tombstone, 2}));
    EXPECT_TRUE(log.read_all()[1].record.deleted);
    EXPECT_FALSE(log.read_all()[0].record.deleted);
    // The owner goes on to void the other one: nothing changes.
    log.clear(record);
    EXPECT_EQ(entries(), (Entries{1, tombstone, 2}));
    EXPECT_TRUE(log.read_all()[1].record.deleted);
  }
}

TEST_F(RecordLogTest, UnsealedOrDamagedTombstoneDoesNotCount) {
  write(0, 5);
  log.write_unsealed(1, tombstone_of(5));
  EXPECT_EQ(entries(), Entries{0});
  log.seal(1, {5});
  EXPECT_EQ(entries(), Entries{1});
  log.entry(1)[60] ^= std::byte{1};
  EXPECT_EQ(entries(), Entries{0});
  EXPECT_FALSE(log.read_all()[0].record.deleted);
}

TEST_F(RecordLogTest, OffsetsCountFromTheStartOfTheRegion) {
  EXPECT_EQ(log.entries(), kEntries);
  for (std::uint32_t entry = 0; entry < kEntries; ++entry) {
    EXPECT_EQ(log.offset(entry), 4096 + entry * RecordLog::kEntryBytes);
    EXPECT_EQ(log.entry(entry).data(), area.data() + entry * RecordLog::kEntryBytes);
    EXPECT_EQ(log.entry(entry).size(), RecordLog::kEntryBytes);
  }
}

TEST_F(RecordLogTest, RecordThatHasBeenOverwrittenIsGone) {
  write(1, 1);
  write(1, 5);
  EXPECT_EQ(log.read(1), record_of(5));
  EXPECT_EQ(epochs(), Epochs{5});
}

TEST_F(RecordLogTest, ShorterRecordInThePlaceOfALongerOneIsRead) {
  write(1, record_of(1, 50));
  write(1, record_of(5, 1));
  EXPECT_EQ(log.read(1), record_of(5, 1));
}

TEST_F(RecordLogTest, TornRecordIsNotRead) {
  // The first half of the new record has come over, the second half is an older one's; the seal came too early.
  write(1, 1);
  const std::vector<std::byte> old(log.entry(1).begin(), log.entry(1).end());
  const std::size_t length = record_bytes(2, 2);
  int torn = 0;
  for (std::size_t torn_at = 8; torn_at < length; torn_at += 8) {
    const auto bytes = log.write_unsealed(1, record_of(5));
    if (std::equal(bytes.begin() + distance(torn_at), bytes.end(), old.begin() + distance(torn_at))) {
      continue;  // both records are the same from here on
    }
    std::memcpy(log.entry(1).data() + torn_at, old.data() + torn_at, length - torn_at);
    log.seal(1, {5});
    EXPECT_FALSE(log.read(1)) << torn_at;
    EXPECT_EQ(epochs(), Epochs{}) << torn_at;
    ++torn;
  }
  EXPECT_GT(torn, 10);
}

TEST_F(RecordLogTest, RecordWithAFlippedBitIsNotReadAndOthersAre) {
  write(1, 1);
  write(2, 2);
  log.entry(1)[100] ^= std::byte{4};
  EXPECT_FALSE(log.read(1));
  EXPECT_EQ(epochs(), Epochs{2});
}

TEST_F(RecordLogTest, ClearVoidsOneRecord) {
  write(1, 1);
  write(2, 2);
  log.clear(1);
  EXPECT_FALSE(log.read(1));
  EXPECT_EQ(epochs(), Epochs{2});
}

TEST_F(RecordLogTest, ClearAllButVoidsOthers) {
  write(0, 1);
  write(1, 2);
  write(2, 3);
  log.clear_all_but(std::vector<Epoch>{{1}, {3}, {9}});
  EXPECT_EQ(epochs(), (Epochs{1, 3}));
  log.clear_all_but({});
  EXPECT_EQ(epochs(), Epochs{});
}

TEST_F(RecordLogTest, ClearAllButLeavesOlderOnes) {
  write(0, 1);
  write(1, 2);
  write(2, 3);
  write(3, 4);
  log.clear_all_but(std::vector<Epoch>{{3}}, {2});
  EXPECT_EQ(epochs(), (Epochs{1, 3}));
}

// The rank died between the two steps of a deletion: what was deleted must not come back.
TEST_F(RecordLogTest, ClearAllButVoidsBothRecordsOfADeletedEpoch) {
  for (const std::uint32_t tombstone : {0U, 3U}) {
    write(1, 4);
    write(3 - tombstone, 5);
    write(tombstone, tombstone_of(5));
    log.clear_all_but(std::vector<Epoch>{{4}});
    EXPECT_EQ(epochs(), Epochs{4});
  }
}

// Over windows, the seal of a rank that has died may land after the records were voided.
TEST_F(RecordLogTest, ClearAllButLeavesNothingToSeal) {
  write(0, 1);
  log.write_unsealed(1, record_of(2));
  write(2, 3);
  log.clear_all_but(std::vector<Epoch>{{1}});
  log.seal(1, {2});
  log.seal(2, {3});
  EXPECT_EQ(epochs(), Epochs{1});
}

TEST_F(RecordLogTest, WritingVoidsThePredecessorEvenIfTheWriterFails) {
  write(1, 1);
  const std::size_t too_many = RecordLog::kEntryBytes / record_format::kMemberBytes;
  EXPECT_THROW(log.write_unsealed(1, record_of(5, too_many)), Error);
  EXPECT_FALSE(log.read(1));
}

TEST_F(RecordLogTest, RecordThatFillsItsPlaceLeavesItsNeighboursAlone) {
  const std::size_t members = (RecordLog::kEntryBytes - record_format::kHeadBytes) /
                              (record_format::kMemberBytes + record_format::kIntervalBytes);
  write(0, 1);
  write(2, 3);
  write(1, record_of(2, members));
  EXPECT_EQ(epochs(), (Epochs{1, 2, 3}));
  EXPECT_EQ(log.read(1), record_of(2, members));
}

// A process that dies while it writes a record: its entry, seen by others, holds no record any more.
TEST(RecordLogInSharedMemory, WriterThatDiesHalfwayLeavesNoRecord) {
  void* memory = mmap(nullptr, RecordLog::kEntryBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<std::byte*>(memory);
  const RecordLog log(std::span(bytes, RecordLog::kEntryBytes), 0);
  constexpr std::size_t members = 200;  // several pages
  log.write_unsealed(0, record_of(1, members));
  log.seal(0, {1});
  ASSERT_TRUE(log.read(0));

  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGSEGV, SIG_DFL);
    // The second page cannot be written: there the writer dies.
    mprotect(bytes + 4096, RecordLog::kEntryBytes - 4096, PROT_READ);
    log.write_unsealed(0, record_of(2, members));
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  std::uint64_t seal = 1;
  std::memcpy(&seal, bytes, sizeof seal);
  EXPECT_EQ(seal, 0U);
  EXPECT_FALSE(log.read(0));
  EXPECT_TRUE(log.read_all().empty());
  munmap(memory, RecordLog::kEntryBytes);
}

}  // namespace
}  // namespace fenix_impl
