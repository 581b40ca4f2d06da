// SPDX-License-Identifier: BSD-3-Clause
// C++ stream over a FILE with another owner.
#pragma once

#include <cstdio>
#include <iostream>
#include <streambuf>

namespace fenix_impl {

/// Stream buffer over a FILE. It has no memory of its own: a second buffer could differ from that of the FILE.
class FileBuffer : public std::streambuf {
 public:
  explicit FileBuffer(std::FILE* file) : file_(file) {}

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* data, std::streamsize size) override;
  int_type underflow() override;
  int_type uflow() override;
  std::streamsize xsgetn(char* data, std::streamsize size) override;
  int_type pbackfail(int_type character) override;
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode which) override;
  pos_type seekpos(pos_type position, std::ios_base::openmode which) override;
  int sync() override;

 private:
  enum class Last { nothing, read, write };
  /// Seeks if the direction changes: C requires that between reading and writing.
  void turn_to(Last wanted);

  std::FILE* file_;
  Last last_ = Last::nothing;
};

class FileStream {
 public:
  explicit FileStream(std::FILE* file) : buffer_(file), stream_(&buffer_) {}
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  std::iostream& stream() { return stream_; }

 private:
  FileBuffer buffer_;
  std::iostream stream_;
};

}  // namespace fenix_impl
