// SPDX-License-Identifier: BSD-3-Clause
// Calls of the system about what is in files: reading, writing, syncing; and the ways in which a disk refuses.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <span>

#include "disk_file.hpp"
#include "event.hpp"
#include "world.hpp"

namespace fenix_simulation {
namespace {

int own_node() { return present_process()->node; }

int error_of(Fault request, std::uint64_t dice) {
  switch (request) {
    case Fault::makes:
      return dice % 4 == 0 ? EIO : dice % 4 == 1 ? EACCES : dice % 4 == 2 ? EDQUOT : ENOSPC;
    case Fault::changes:
      return dice % 2 == 0 ? EIO : ENOSPC;
    case Fault::opens:
    case Fault::lists:
      return dice % 3 == 0 ? EIO : dice % 3 == 1 ? EACCES : ESTALE;
    case Fault::reads:
      return EIO;
    case Fault::writes:
    case Fault::syncs:
      return dice % 3 == 0 ? EIO : dice % 3 == 1 ? ENOSPC : EDQUOT;
  }
  return EIO;
}

// Without an own size a file of memory gets that of the first write.
ssize_t write_memory(MemoryFile& file, const std::shared_ptr<MemoryFile>& shared, std::span<const std::byte> bytes,
                     std::size_t at) {
  if (file.begin == nullptr) size_file(shared, at + bytes.size());
  if (at + bytes.size() > file.bytes) return refuse(EPERM);
  std::memcpy(file.begin + at, bytes.data(), bytes.size());
  return static_cast<ssize_t>(bytes.size());
}

ssize_t write_disk(DiskFile& file, std::span<const std::byte> bytes, std::size_t at) {
  if (file.inode->type != Inode::Type::file || (file.flags & O_ACCMODE) == O_RDONLY) return refuse(EBADF);
  if (const int error = draw_fault(file.inode->is_shared, Fault::writes)) {
    world().note(6, [&] { return "a write fails: " + std::to_string(error); });
    return refuse(error);
  }
  // A disk may write less than it was asked for.
  const auto& around = world().surroundings();
  if (around.disk_errors > 0 && bytes.size() > 1 && world().draw(Kind::disk, 16) == 15)
    bytes = bytes.first(1 + world().draw(Kind::disk, bytes.size() - 1));
  file.inode->write(own_node(), at, bytes);
  world().note(6, [&] {
    return "writes " + std::to_string(bytes.size()) + " bytes to file " + std::to_string(file.inode->number);
  });
  return static_cast<ssize_t>(bytes.size());
}

ssize_t read_from(std::span<const std::byte> all, void* to, std::size_t bytes, std::size_t at) {
  const std::size_t piece = at < all.size() ? std::min(bytes, all.size() - at) : 0;
  if (piece > 0) std::memcpy(to, all.data() + at, piece);
  return static_cast<ssize_t>(piece);
}

}  // namespace

int draw_fault(bool is_shared, Fault request) {
  const Surroundings& around = world().surroundings();
  if (!is_shared) return 0;
  world().sleep_until(world().now() + world().draw(Kind::disk, 100'000));
  if (around.disk_hangs > 0 && world().draw(Kind::disk, around.disk_hangs) == around.disk_hangs - 1) {
    ++disk_faults();
    const Time length = world().draw(Kind::disk, 100'000'000, 12'000'000'000);
    world().note(6, [&] { return "the disk HANGS for " + std::to_string(length / 1'000'000) + " ms"; });
    world().sleep_until(world().now() + length);
  }
  if (around.disk_errors == 0 || world().draw(Kind::disk, around.disk_errors) != around.disk_errors - 1) return 0;
  ++disk_faults();
  return error_of(request, world().draw(Kind::disk, 12));
}

}  // namespace fenix_simulation

using namespace fenix_simulation;

extern "C" {

int simulated_memfd_create(const char* /*name*/, unsigned /*flags*/) {
  return open_file({std::make_shared<MemoryFile>(*present_process()), {}, 0, {}, {}});
}

int simulated_ftruncate(int descriptor, off_t bytes) {
  auto* file = file_of(descriptor);
  if (file == nullptr || !file->memory) return refuse(EBADF);
  if (file->memory->begin != nullptr) return refuse(EPERM);
  size_file(file->memory, static_cast<std::size_t>(bytes));
  return 0;
}

int simulated_posix_fallocate(int /*descriptor*/, off_t /*offset*/, off_t /*bytes*/) { return 0; }

// Holes are read as zeros.
int simulated_fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  auto* file = file_of(descriptor);
  if (file == nullptr || !file->memory) return refuse(EBADF);
  if ((mode & FALLOC_FL_PUNCH_HOLE) == 0) return 0;
  const auto begin = std::min(static_cast<std::size_t>(offset), file->memory->bytes);
  const auto size = std::min(static_cast<std::size_t>(bytes), file->memory->bytes - begin);
  access(file->memory->begin + begin, true);
  clear_memory(file->memory->begin + begin, size);
  return 0;
}

int simulated_fcntl(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const int argument = va_arg(rest, int);
  va_end(rest);
  const OpenFile* const file = file_of(descriptor);
  if (file == nullptr) return refuse(EBADF);
  const auto disk_file = opened_as<DiskFile>(descriptor);
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      return open_file(OpenFile(*file), argument);
    case F_GETFL:
      return disk_file ? disk_file->flags : 0;
    case F_SETFL:
      if (disk_file) disk_file->flags = argument;
      return 0;
    case F_GET_SEALS:
      return file->memory && file->memory->begin != nullptr ? F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL : 0;
    default:
      return 0;
  }
}

ssize_t simulated_pwrite(int descriptor, const void* from, std::size_t bytes, off_t at) {
  const std::span all(static_cast<const std::byte*>(from), bytes);
  auto* const file = file_of(descriptor);
  if (file == nullptr) return refuse(EBADF);
  if (file->memory) return write_memory(*file->memory, file->memory, all, static_cast<std::size_t>(at));
  world().step();
  const auto disk_file = opened_as<DiskFile>(descriptor);
  return disk_file ? write_disk(*disk_file, all, static_cast<std::size_t>(at)) : refuse(EBADF);
}

ssize_t simulated_pread(int descriptor, void* to, std::size_t bytes, off_t at) {
  const auto* const file = file_of(descriptor);
  if (file == nullptr) return refuse(EBADF);
  if (file->memory)
    return read_from({file->memory->begin, file->memory->bytes}, to, bytes, static_cast<std::size_t>(at));
  world().step();
  const auto disk_file = opened_as<DiskFile>(descriptor);
  if (!disk_file) return refuse(EBADF);
  if (const int error = draw_fault(disk_file->inode->is_shared, Fault::reads)) return refuse(error);
  return read_from(disk_file->inode->data, to, bytes, static_cast<std::size_t>(at));
}

ssize_t simulated_write(int descriptor, const void* from, std::size_t bytes) {
  if (const auto event = opened_as<Event64>(descriptor)) return event->add(from);
  world().step();
  const auto file = opened_as<DiskFile>(descriptor);
  if (!file) return refuse(EBADF);
  const bool appends = (file->flags & O_APPEND) != 0;
  const std::size_t at = appends ? file->inode->data.size() : file->position;
  const ssize_t written = write_disk(*file, {static_cast<const std::byte*>(from), bytes}, at);
  if (written > 0) file->position = at + static_cast<std::size_t>(written);
  return written;
}

ssize_t simulated_read(int descriptor, void* to, std::size_t bytes) {
  if (const auto event = opened_as<Event64>(descriptor)) return event->take(to);
  auto* file = file_of(descriptor);
  if (file == nullptr) return refuse(EBADF);
  const auto disk_file = opened_as<DiskFile>(descriptor);
  if (disk_file) {
    const ssize_t got = read_from(disk_file->inode->data, to, bytes, disk_file->position);
    disk_file->position += static_cast<std::size_t>(got);
    return got;
  }
  const ssize_t got = read_from(std::as_bytes(std::span(file->text)), to, bytes, file->position);
  file->position += static_cast<std::size_t>(got);
  return got;
}

// A sync that fails leaves bytes that later ones do not write either, and tell nothing of.
int simulated_fsync(int descriptor) {
  world().step();
  const auto file = opened_as<DiskFile>(descriptor);
  if (!file) return refuse(EBADF);
  if (const int error = draw_fault(file->inode->is_shared, Fault::syncs)) {
    for (auto& each : file->inode->writes) each.is_given_up = true;
    world().note(6, [&] { return "a sync of file " + std::to_string(file->inode->number) + " fails"; });
    return refuse(error);
  }
  file->inode->sync();
  world().note(6, [&] { return "syncs file " + std::to_string(file->inode->number); });
  return 0;
}
}
