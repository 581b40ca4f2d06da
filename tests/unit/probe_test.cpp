// SPDX-License-Identifier: BSD-3-Clause
// Memory that cannot be accessed is noticed without an access.
#include "base/probe.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace fenix_impl {
namespace {

class Pages : public testing::Test {
 protected:
  Pages() : memory_(mmap(nullptr, 3 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(memory_, MAP_FAILED);
    std::memset(memory_, 7, 3 * page_);
  }
  ~Pages() override { munmap(memory_, 3 * page_); }

  [[nodiscard]] char* at(std::size_t offset) const { return static_cast<char*>(memory_) + offset; }
  void protect(int number, int how) const {
    ASSERT_EQ(mprotect(at(static_cast<std::size_t>(number) * page_), page_, how), 0);
  }

  const std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

 private:
  void* memory_;
};

TEST_F(Pages, CanBeReadAndWrittenAndStayAsTheyAre) {
  EXPECT_TRUE(can_read(at(1), 2 * page_));
  EXPECT_TRUE(can_write(at(1), 2 * page_));
  for (std::size_t i = 0; i < 3 * page_; ++i) ASSERT_EQ(*at(i), 7);
}

TEST_F(Pages, WithoutAccessAreNoticedAtBothEnds) {
  for (const int number : {0, 2}) {
    protect(number, PROT_NONE);
    EXPECT_FALSE(can_read(at(page_ - 1), page_ + 2)) << number;
    EXPECT_FALSE(can_write(at(page_ - 1), page_ + 2)) << number;
    EXPECT_TRUE(can_write(at(page_), page_)) << number;
    protect(number, PROT_READ | PROT_WRITE);
  }
}

TEST_F(Pages, ThatAreOnlyForReadingCannotBeWritten) {
  protect(1, PROT_READ);
  EXPECT_TRUE(can_read(at(page_), page_));
  EXPECT_FALSE(can_write(at(page_), page_));
}

TEST_F(Pages, BeyondTheEndOfAFileAreNoticed) {
  const int file = memfd_create("probe", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(page_)), 0);
  auto* memory = static_cast<char*>(mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  EXPECT_TRUE(can_write(memory, page_));
  EXPECT_FALSE(can_write(memory, 2 * page_));
  EXPECT_FALSE(can_read(memory, page_ + 1));
  munmap(memory, 2 * page_);
  close(file);
}

TEST(Probe, NothingAndNowhere) {
  EXPECT_TRUE(can_read(nullptr, 0));
  EXPECT_FALSE(can_read(reinterpret_cast<void*>(std::uintptr_t{16}), 8));
  EXPECT_FALSE(can_write(reinterpret_cast<void*>(std::uintptr_t{16}), 8));
}

}  // namespace
}  // namespace fenix_impl
