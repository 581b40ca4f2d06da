// SPDX-License-Identifier: BSD-3-Clause
// Files over slots: what is written is in the memory at once, and what is beyond its end is not lost.
#include "core/member/slot_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fenix_impl {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t write(std::FILE* file, std::string_view text) { return std::fwrite(text.data(), 1, text.size(), file); }

std::string read(std::FILE* file, std::size_t most) {
  std::string text(most, '?');
  text.resize(std::fread(text.data(), 1, most, file));
  return text;
}

class SlotFileTest : public testing::Test {
 protected:
  // Memory of 16 bytes with something in it, and more behind it that is not the slot's.
  std::vector<std::byte> all = bytes_of("0123456789abcdefXXXX");
  std::span<std::byte> memory = std::span(all).first(16);
  Spill spill;

  void expect_nothing_behind_the_memory_changed() const { EXPECT_EQ(text_of(std::span(all).subspan(16)), "XXXX"); }
};

TEST_F(SlotFileTest, WritesGoStraightToTheMemory) {
  SlotFile file(memory, 0, spill, 16);
  EXPECT_EQ(write(file.file(), "he"), 2U);
  EXPECT_EQ(text_of(memory), "he23456789abcdef") << "without a flush";
  EXPECT_EQ(std::fputc('l', file.file()), 'l');
  EXPECT_EQ(text_of(memory), "hel3456789abcdef");
  EXPECT_EQ(std::fprintf(file.file(), "%s-%d", "lo", 42), 5);
  EXPECT_EQ(text_of(memory), "hello-4289abcdef");
  EXPECT_EQ(file.position(), 8U);
  EXPECT_EQ(file.written(), 8U);
  EXPECT_TRUE(file.close());
  EXPECT_EQ(text_of(memory), "hello-4289abcdef");
  EXPECT_TRUE(spill.empty());
}

TEST_F(SlotFileTest, ReadsUpToWhatThereIs) {
  SlotFile file(memory, 10, spill, 16);
  EXPECT_EQ(read(file.file(), 4), "0123");
  EXPECT_EQ(file.position(), 4U) << "nothing is read ahead";
  EXPECT_EQ(std::fgetc(file.file()), '4');
  EXPECT_EQ(file.position(), 5U);
  EXPECT_EQ(read(file.file(), 100), "56789");
  EXPECT_NE(std::feof(file.file()), 0);
  EXPECT_EQ(file.written(), 0U);
}

TEST_F(SlotFileTest, SeesWhatOthersWriteToTheMemory) {
  SlotFile file(memory, 16, spill, 16);
  EXPECT_EQ(read(file.file(), 2), "01");
  all[2] = std::byte{'!'};
  EXPECT_EQ(read(file.file(), 2), "!3");
}

TEST_F(SlotFileTest, Seeks) {
  SlotFile file(memory, 10, spill, 16);
  EXPECT_EQ(std::fseek(file.file(), 4, SEEK_SET), 0);
  EXPECT_EQ(read(file.file(), 2), "45");
  EXPECT_EQ(std::ftell(file.file()), 6);
  EXPECT_EQ(std::fseek(file.file(), -5, SEEK_CUR), 0);
  EXPECT_EQ(read(file.file(), 2), "12");
  EXPECT_EQ(std::fseek(file.file(), -2, SEEK_END), 0);
  EXPECT_EQ(read(file.file(), 9), "89");
  std::rewind(file.file());
  EXPECT_EQ(read(file.file(), 1), "0");
  EXPECT_EQ(std::fseek(file.file(), 7, SEEK_SET), 0);
  EXPECT_EQ(write(file.file(), "HI"), 2U);
  EXPECT_EQ(text_of(memory), "0123456HI9abcdef");
  EXPECT_EQ(file.written(), 9U);
  EXPECT_EQ(read(file.file(), 9), "9");
  EXPECT_TRUE(file.close());
}

TEST_F(SlotFileTest, RefusesToSeekToWhereNoFileCanBe) {
  SlotFile file(memory, 10, spill, 16);
  constexpr long most = std::numeric_limits<long>::max();
  EXPECT_EQ(std::fseek(file.file(), 3, SEEK_SET), 0);
  EXPECT_NE(std::fseek(file.file(), -1, SEEK_SET), 0);
  EXPECT_NE(std::fseek(file.file(), -4, SEEK_CUR), 0);
  EXPECT_NE(std::fseek(file.file(), -11, SEEK_END), 0);
  EXPECT_NE(std::fseek(file.file(), most, SEEK_CUR), 0);
  EXPECT_NE(std::fseek(file.file(), most - 9, SEEK_END), 0);
  EXPECT_NE(std::fseek(file.file(), std::numeric_limits<long>::min(), SEEK_END), 0);
  EXPECT_EQ(file.position(), 3U);
  EXPECT_EQ(read(file.file(), 1), "3");
}

// The library puts the file where an element is, whatever the application has done before.
TEST_F(SlotFileTest, IsMovedFromOutside) {
  SlotFile file(memory, 10, spill, 16);
  EXPECT_EQ(read(file.file(), 2), "01");
  file.seek(5);
  EXPECT_EQ(read(file.file(), 1), "5");
  file.seek(8);
  EXPECT_EQ(write(file.file(), "W"), 1U);
  EXPECT_EQ(text_of(memory), "01234567W9abcdef");
  file.seek(0);
  EXPECT_EQ(std::ftell(file.file()), 0);
  EXPECT_EQ(std::fgetc(file.file()), '0');
}

TEST_F(SlotFileTest, GapsReadAsZeros) {
  SlotFile file(memory, 4, spill, 16);
  EXPECT_EQ(std::fseek(file.file(), 8, SEEK_SET), 0);
  EXPECT_EQ(text_of(memory), "0123456789abcdef") << "seeking alone changes nothing";
  EXPECT_EQ(write(file.file(), "w"), 1U);
  EXPECT_EQ(text_of(memory), std::string("0123\0\0\0\0w9abcdef", 16));
  std::rewind(file.file());
  EXPECT_EQ(read(file.file(), 16), std::string("0123\0\0\0\0w", 9));
  EXPECT_EQ(file.written(), 9U);
}

TEST_F(SlotFileTest, WritesBeyondTheLimitFail) {
  SlotFile file(memory, 0, spill, 12);
  EXPECT_EQ(write(file.file(), "hello world!"), 12U);
  EXPECT_EQ(std::ferror(file.file()), 0);
  errno = 0;
  EXPECT_EQ(write(file.file(), "!"), 0U);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_NE(std::ferror(file.file()), 0);
  EXPECT_EQ(text_of(memory), "hello world!cdef");
  EXPECT_EQ(file.written(), 12U);
  EXPECT_FALSE(file.close());
  EXPECT_TRUE(spill.empty());
}

TEST_F(SlotFileTest, WritesUpToTheLimitAreDone) {
  SlotFile file(memory, 0, spill, 12);
  file.seek(10);
  errno = 0;
  EXPECT_EQ(write(file.file(), "abc"), 2U);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(text_of(memory.subspan(10)), "abcdef");
  EXPECT_EQ(file.written(), 12U);
  EXPECT_FALSE(file.close());
}

// Also if what fails first does not end the file: the application may not look.
TEST_F(SlotFileTest, AWriteThatFailedIsNotForgotten) {
  SlotFile file(memory, 0, spill, 4);
  file.seek(100);
  EXPECT_EQ(write(file.file(), "far"), 0U);
  std::clearerr(file.file());
  file.seek(0);
  EXPECT_EQ(write(file.file(), "near"), 4U);
  EXPECT_FALSE(file.close());
  EXPECT_FALSE(file.close()) << "asked once more";
}

TEST_F(SlotFileTest, SpillKeepsWhatWasThere) {
  SlotFile file(memory, 16, spill, kEndless);
  file.seek(14);
  EXPECT_EQ(write(file.file(), "EFGH"), 4U);
  expect_nothing_behind_the_memory_changed();
  EXPECT_EQ(text_of(spill), "0123456789abcdEFGH");
  EXPECT_EQ(file.written(), 18U);
  std::rewind(file.file());
  EXPECT_EQ(read(file.file(), 100), "0123456789abcdEFGH");
  // From here on all goes there.
  file.seek(1);
  EXPECT_EQ(write(file.file(), "!"), 1U);
  EXPECT_EQ(text_of(spill), "0!23456789abcdEFGH");
  EXPECT_EQ(all[1], std::byte{'1'});
  EXPECT_TRUE(file.close());
  EXPECT_EQ(text_of(spill), "0!23456789abcdEFGH");
}

TEST_F(SlotFileTest, SpillGrowsSeldomHoweverSmallTheWrites) {
  SlotFile file(memory, 0, spill, kEndless);
  int moves = 0;
  const std::byte* at = spill.data();
  for (int i = 0; i < 20'000; ++i) {
    EXPECT_EQ(write(file.file(), "ab"), 2U);
    if (spill.data() != at) ++moves;
    at = spill.data();
  }
  EXPECT_EQ(spill.size(), 40'000U);
  EXPECT_LT(moves, 20);
}

TEST_F(SlotFileTest, SpillHasZerosInGaps) {
  SlotFile file(memory, 4, spill, kEndless);
  file.seek(18);
  EXPECT_EQ(write(file.file(), "w"), 1U);
  EXPECT_EQ(text_of(spill), "0123" + std::string(14, '\0') + "w") << "and not what the memory had";
  file.seek(21);
  EXPECT_EQ(write(file.file(), "x"), 1U);
  EXPECT_EQ(text_of(spill), "0123" + std::string(14, '\0') + "w" + std::string(2, '\0') + "x");
}

TEST_F(SlotFileTest, GoesOnWithASpillThatIsThereAlready) {
  const auto spilled = bytes_of("spilled");
  spill.assign(spilled.begin(), spilled.end());
  SlotFile file(memory, 7, spill, kEndless);
  EXPECT_EQ(read(file.file(), 100), "spilled");
  file.seek(0);
  EXPECT_EQ(write(file.file(), "S"), 1U);
  EXPECT_EQ(text_of(spill), "Spilled");
  EXPECT_EQ(text_of(memory), "0123456789abcdef");
  file.seek(7);
  EXPECT_EQ(write(file.file(), "!"), 1U);
  EXPECT_EQ(text_of(spill), "Spilled!");
}

TEST_F(SlotFileTest, NeedsNoMemory) {
  SlotFile file({}, 0, spill, kEndless);
  EXPECT_EQ(read(file.file(), 1), "");
  EXPECT_EQ(write(file.file(), "all of it"), 9U);
  EXPECT_EQ(text_of(spill), "all of it");
  EXPECT_TRUE(file.close());
}

TEST_F(SlotFileTest, WritesToWhereNoMemoryReachesFail) {
  SlotFile file(memory, 4, spill, kEndless);
  EXPECT_EQ(std::fseek(file.file(), std::numeric_limits<long>::max() - 1, SEEK_SET), 0);
  errno = 0;
  EXPECT_EQ(write(file.file(), "far away"), 0U);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_FALSE(file.close());
  EXPECT_EQ(text_of(memory), "0123456789abcdef");
}

TEST_F(SlotFileTest, ReadOnlyFormReadsAndDoesNotWrite) {
  SlotFile file(std::span<const std::byte>(memory).first(10));
  EXPECT_EQ(read(file.file(), 3), "012");
  EXPECT_EQ(std::fseek(file.file(), -1, SEEK_END), 0);
  EXPECT_EQ(read(file.file(), 3), "9");
  EXPECT_EQ(write(file.file(), "w"), 0U);
  file.seek(0);
  std::clearerr(file.file());
  EXPECT_EQ(write(file.file(), "w"), 0U);
  EXPECT_EQ(text_of(memory), "0123456789abcdef");
  EXPECT_EQ(file.written(), 0U);
  EXPECT_TRUE(file.close());
}

TEST_F(SlotFileTest, OfNothingIsAtItsEnd) {
  SlotFile file(std::span<const std::byte>{});
  EXPECT_EQ(std::fgetc(file.file()), EOF);
  EXPECT_NE(std::feof(file.file()), 0);
  EXPECT_EQ(std::ferror(file.file()), 0);
}

// Random reads, writes and seeks against a plain vector.
TEST(SlotFile, DoesWhatAFileDoes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t room = random() % 200;
    const std::uint64_t limit = random() % 2 == 0 ? kEndless : room + random() % 100;
    std::vector<std::byte> memory(room, std::byte{0xee});
    Spill spill;
    std::vector<std::byte> model;
    std::uint64_t position = 0;
    SlotFile file(memory, 0, spill, limit);
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(testing::Message() << "round " << round << ", step " << step);
      if (random() % 3 == 0) {
        position = random() % (model.size() + 20);
        ASSERT_EQ(std::fseek(file.file(), static_cast<long>(position), SEEK_SET), 0);
      } else if (random() % 2 == 0) {
        std::vector<std::byte> data(random() % 40 + 1, static_cast<std::byte>(random()));
        const std::uint64_t fits = position < limit ? std::min<std::uint64_t>(data.size(), limit - position) : 0;
        ASSERT_EQ(std::fwrite(data.data(), 1, data.size(), file.file()), fits);
        std::clearerr(file.file());
        if (fits == 0) continue;
        model.resize(std::max<std::uint64_t>(model.size(), position + fits));
        std::copy_n(data.begin(), fits, model.begin() + static_cast<std::ptrdiff_t>(position));
        position += fits;
      } else {
        std::vector<std::byte> data(random() % 40 + 1);
        const std::uint64_t there =
            position < model.size() ? std::min<std::uint64_t>(data.size(), model.size() - position) : 0;
        ASSERT_EQ(std::fread(data.data(), 1, data.size(), file.file()), there);
        std::clearerr(file.file());
        data.resize(there);
        const auto from = model.begin() + static_cast<std::ptrdiff_t>(position);
        ASSERT_TRUE(std::equal(data.begin(), data.end(), from));
        position += there;
      }
      ASSERT_EQ(file.position(), position);
      ASSERT_EQ(file.written(), model.size());
    }
    const std::span<const std::byte> kept = spill.empty() ? std::span(memory) : std::span(spill);
    ASSERT_GE(kept.size(), model.size());
    ASSERT_TRUE(std::equal(model.begin(), model.end(), kept.begin()));
    ASSERT_EQ(spill.empty(), model.size() <= room);
  }
}

// The memory may go: nothing is read from it or written to it any more, and the FILE stays one.
TEST_F(SlotFileTest, GivesErrorsAfterTheCut) {
  for (const bool to_read : {true, false}) {
    const auto file = to_read ? std::make_unique<SlotFile>(std::span<const std::byte>(memory))
                              : std::make_unique<SlotFile>(memory, 16, spill, kEndless);
    ASSERT_EQ(std::fseek(file->file(), 4, SEEK_SET), 0);
    file->cut();
    errno = 0;
    EXPECT_EQ(read(file->file(), 4), "");
    EXPECT_EQ(errno, EIO);
    EXPECT_NE(std::ferror(file->file()), 0);
    if (!to_read) {
      errno = 0;
      EXPECT_EQ(write(file->file(), "new"), 0U);
      EXPECT_EQ(errno, EIO);
    }
    EXPECT_NE(std::fseek(file->file(), 0, SEEK_SET), 0);
    EXPECT_EQ(text_of(memory), "0123456789abcdef");
    EXPECT_TRUE(spill.empty());
    (void)file->close();
  }
}

}  // namespace
}  // namespace fenix_impl
