// SPDX-License-Identifier: BSD-3-Clause
// A stream over a FILE: what goes through either is seen by the other.
#include "api/cxx/file_stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace fenix_impl {
namespace {

class FileStreamTest : public testing::Test {
 protected:
  FileStreamTest() : file_(std::tmpfile()), wrapped_(file_) {}
  ~FileStreamTest() override { std::fclose(file_); }

  std::string from_file() {
    std::array<char, 100> text{};
    std::rewind(file_);
    return {text.data(), std::fread(text.data(), 1, text.size(), file_)};
  }

  std::FILE* file_;
  FileStream wrapped_;
  std::iostream& stream_ = wrapped_.stream();
};

TEST_F(FileStreamTest, WritesToTheFile) {
  stream_ << "abc" << 12 << ' ';
  stream_.write("\0x", 2);
  stream_.put('y');
  EXPECT_EQ(stream_.tellp(), 9);
  EXPECT_EQ(from_file(), std::string("abc12 \0xy", 9));
}

TEST_F(FileStreamTest, ReadsFromTheFile) {
  std::fputs("12 abcdef", file_);
  std::rewind(file_);
  int number = 0;
  std::string word(3, ' ');
  stream_ >> number;
  EXPECT_EQ(number, 12);
  EXPECT_EQ(stream_.get(), ' ');
  EXPECT_EQ(stream_.peek(), 'a');
  stream_.read(word.data(), 3);
  EXPECT_EQ(word, "abc");
  EXPECT_EQ(stream_.tellg(), 6);
  EXPECT_EQ(std::getc(file_), 'd');
  stream_.read(word.data(), 3);
  EXPECT_TRUE(stream_.eof());
  EXPECT_EQ(stream_.gcount(), 2);
}

TEST_F(FileStreamTest, SeeksAndTurns) {
  stream_ << "0123456789";
  stream_.seekg(3);
  EXPECT_EQ(stream_.get(), '3');
  stream_.put('x');
  EXPECT_EQ(stream_.get(), '5');
  stream_.unget();
  EXPECT_EQ(stream_.get(), '5');
  stream_.seekp(-1, std::ios_base::end);
  stream_ << "end";
  stream_.flush();
  EXPECT_TRUE(stream_.good());
  EXPECT_EQ(from_file(), "0123x5678end");
}

TEST_F(FileStreamTest, TellsWhatFails) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  std::setvbuf(full, nullptr, _IONBF, 0);
  FileStream to_full(full);
  to_full.stream() << "abc";
  EXPECT_TRUE(to_full.stream().bad());
  std::fclose(full);
  stream_.seekg(-5);
  EXPECT_TRUE(stream_.fail());
}

}  // namespace
}  // namespace fenix_impl
