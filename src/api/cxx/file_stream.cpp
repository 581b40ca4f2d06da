// SPDX-License-Identifier: BSD-3-Clause
#include "api/cxx/file_stream.hpp"

#include <sys/types.h>

namespace fenix_impl {

using Traits = std::char_traits<char>;

void FileBuffer::turn_to(Last wanted) {
  if (last_ != wanted && last_ != Last::nothing) fseeko(file_, 0, SEEK_CUR);
  last_ = wanted;
}

FileBuffer::int_type FileBuffer::overflow(int_type character) {
  if (Traits::eq_int_type(character, Traits::eof())) return Traits::not_eof(character);
  turn_to(Last::write);
  return std::putc(character, file_);
}

std::streamsize FileBuffer::xsputn(const char* data, std::streamsize size) {
  turn_to(Last::write);
  return static_cast<std::streamsize>(std::fwrite(data, 1, static_cast<std::size_t>(size), file_));
}

FileBuffer::int_type FileBuffer::underflow() {
  const int_type character = uflow();
  return std::ungetc(character, file_);
}

FileBuffer::int_type FileBuffer::uflow() {
  turn_to(Last::read);
  return std::getc(file_);
}

std::streamsize FileBuffer::xsgetn(char* data, std::streamsize size) {
  turn_to(Last::read);
  return static_cast<std::streamsize>(std::fread(data, 1, static_cast<std::size_t>(size), file_));
}

FileBuffer::int_type FileBuffer::pbackfail(int_type character) {
  turn_to(Last::read);
  if (fseeko(file_, -1, SEEK_CUR) != 0) return Traits::eof();
  const int_type before = underflow();
  const bool same = Traits::eq_int_type(character, Traits::eof()) || Traits::eq_int_type(character, before);
  return same ? before : Traits::eof();
}

FileBuffer::pos_type FileBuffer::seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) {
  const int whence = from == std::ios_base::beg ? SEEK_SET : from == std::ios_base::cur ? SEEK_CUR : SEEK_END;
  // A query of the position does not need a seek, which would drop buffered data.
  const bool asks = offset == 0 && whence == SEEK_CUR;
  if (!asks && fseeko(file_, offset, whence) != 0) return pos_type(off_type(-1));
  if (!asks) last_ = Last::nothing;
  return pos_type(ftello(file_));
}

FileBuffer::pos_type FileBuffer::seekpos(pos_type position, std::ios_base::openmode which) {
  return seekoff(off_type(position), std::ios_base::beg, which);
}

int FileBuffer::sync() {
  // Only written data can be flushed. Data that was read ahead stays in the buffer.
  return last_ == Last::write ? std::fflush(file_) : 0;
}

}  // namespace fenix_impl
