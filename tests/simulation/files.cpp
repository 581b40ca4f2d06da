// SPDX-License-Identifier: BSD-3-Clause
// Calls of the system about files, as a process of the simulation gets them: files in memory, on a disk, and in /proc.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "disk.hpp"
#include "disk_file.hpp"
#include "kernel.hpp"
#include "world.hpp"

namespace fenix_simulation {
namespace {

Process& self() { return *present_process(); }

constexpr ino_t kFirstNetwork = 4'026'540'000;
constexpr mode_t kModes = 07777;

InodePtr folder_at(int descriptor) {
  if (descriptor == AT_FDCWD) return {};
  const auto folder = opened_as<DiskFile>(descriptor);
  return folder ? folder->inode : nullptr;
}

Disk::Spot spot_of(int folder, const char* name) {
  const InodePtr from = folder_at(folder);
  if (!from && folder != AT_FDCWD) return {};
  // All folders that are opened for others to be found in are on the shared disk.
  return disk_at(self().node, from ? "/store" : name).find(name, from);
}

void note(const char* what, const char* name, long result) {
  world().note(6, [&] { return std::string(what) + " " + name + ": " + std::to_string(result); });
}

int fail(const char* what, const char* name, int error) {
  note(what, name, -error);
  return refuse(error);
}

void fill(const Inode& inode, struct stat* status) {
  std::memset(status, 0, sizeof *status);
  constexpr mode_t kTypes[] = {S_IFREG, S_IFDIR, S_IFSOCK};
  status->st_mode = kTypes[static_cast<std::size_t>(inode.type)] | inode.mode;
  status->st_ino = inode.number;
  status->st_dev = inode.is_shared ? 1 : static_cast<dev_t>(2 + self().node);
  status->st_nlink = inode.has_name ? 1 : 0;
  status->st_uid = inode.owner;
  status->st_size = static_cast<off_t>(inode.data.size());
  status->st_blocks = status->st_size / 512 + 1;
}

// Returns an error of errno, or 0.
int make_file(const Disk::Spot& spot, mode_t mode, InodePtr& made) {
  if (!spot.folder) return ENOENT;
  if (const int error = draw_fault(spot.folder->is_shared, Fault::makes)) return error;
  made = disk_at(self().node, spot.folder->is_shared ? "/store" : "/tmp").make(Inode::Type::file, mode, geteuid());
  spot.folder->change({self().node, {}, spot.name, made});
  return 0;
}

int open_on_disk(int folder, const char* name, int flags, mode_t mode) {
  const auto spot = spot_of(folder, name);
  const bool may_make = (flags & O_CREAT) != 0;
  if (spot.inode && may_make && (flags & O_EXCL) != 0) return fail("open", name, EEXIST);
  InodePtr inode = spot.inode;
  if (!inode && !may_make) return fail("open", name, ENOENT);
  if (!inode) {
    if (const int error = make_file(spot, mode, inode)) return fail("open", name, error);
  } else if (const int error = draw_fault(inode->is_shared, Fault::opens)) {
    return fail("open", name, error);
  }
  const bool is_folder = inode->type == Inode::Type::folder;
  if (inode->type == Inode::Type::socket) return fail("open", name, ENXIO);
  if (!is_folder && (flags & O_DIRECTORY) != 0) return fail("open", name, ENOTDIR);
  if (is_folder && (flags & O_ACCMODE) != O_RDONLY) return fail("open", name, EISDIR);
  const int descriptor = open_file(std::make_shared<DiskFile>(inode, flags));
  note("opens", name, descriptor);
  return descriptor;
}

int remove_at(int folder, const char* name, bool wants_folder) {
  world().step();
  const auto spot = spot_of(folder, name);
  if (!spot.inode) return fail("unlink", name, ENOENT);
  const bool is_folder = spot.inode->type == Inode::Type::folder;
  if (is_folder && !wants_folder) return fail("unlink", name, EISDIR);
  if (!is_folder && wants_folder) return fail("rmdir", name, ENOTDIR);
  if (is_folder && !spot.inode->names.empty()) return fail("rmdir", name, ENOTEMPTY);
  if (const int error = draw_fault(spot.folder->is_shared, Fault::changes)) return fail("unlink", name, error);
  spot.inode->has_name = false;
  spot.folder->change({self().node, spot.name, {}, nullptr});
  note("removes", name, 0);
  return 0;
}

int stat_of(const char* name, struct stat* status) {
  world().step();
  if (std::string_view(name) == "/proc/self/ns/net") {
    std::memset(status, 0, sizeof *status);
    status->st_ino = kFirstNetwork + static_cast<ino_t>(self().node);
    return 0;
  }
  const auto spot = spot_of(AT_FDCWD, name);
  if (!spot.inode) return refuse(ENOENT);
  fill(*spot.inode, status);
  return 0;
}

}  // namespace
}  // namespace fenix_simulation

using namespace fenix_simulation;

extern "C" {

int simulated_open(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>((flags & O_CREAT) != 0 ? va_arg(rest, unsigned) : 0);
  va_end(rest);
  world().step();
  const auto found = look_up(name);
  if (const auto* memory = memory_of(found)) return open_file({*memory, {}, 0, {}, {}});
  if (found.process != nullptr && found.is_stat) return open_file({nullptr, status_of(*found.process), 0, {}, {}});
  return found.is_one ? refuse(ENOENT) : open_on_disk(AT_FDCWD, name, flags, mode);
}

int simulated_openat(int folder, const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>((flags & O_CREAT) != 0 ? va_arg(rest, unsigned) : 0);
  va_end(rest);
  world().step();
  return open_on_disk(folder, name, flags, mode);
}

int simulated_close(int descriptor) {
  return present_process()->kernel->files.erase(descriptor) == 1 ? 0 : refuse(EBADF);
}

int simulated_access(const char* name, int mode) {
  const auto found = look_up(name);
  if (!found.is_one) return ::access(name, mode);
  const bool is_there = found.process != nullptr && (found.descriptor < 0 || memory_of(found) != nullptr);
  return is_there ? 0 : refuse(ENOENT);
}

int simulated_stat(const char* name, struct stat* status) { return stat_of(name, status); }
int simulated_lstat(const char* name, struct stat* status) { return stat_of(name, status); }

int simulated_fstat(int descriptor, struct stat* status) {
  const auto* file = file_of(descriptor);
  if (file == nullptr) return refuse(EBADF);
  if (const auto disk_file = opened_as<DiskFile>(descriptor)) {
    fill(*disk_file->inode, status);
    return 0;
  }
  std::memset(status, 0, sizeof *status);
  status->st_size = static_cast<off_t>(file->memory ? file->memory->bytes : file->text.size());
  status->st_blocks = status->st_size / 512 + 1;
  return 0;
}

int simulated_fchmod(int /*descriptor*/, mode_t /*mode*/) { return 0; }

int simulated_chmod(const char* name, mode_t mode) {
  int descriptor = -1;
  if (std::sscanf(name, "/proc/self/fd/%d", &descriptor) == 1) {
    if (const auto file = opened_as<DiskFile>(descriptor)) file->inode->mode = mode & kModes;
    return 0;
  }
  const auto spot = spot_of(AT_FDCWD, name);
  if (!spot.inode) return refuse(ENOENT);
  spot.inode->mode = mode & kModes;
  return 0;
}

int simulated_mkdir(const char* name, mode_t mode) {
  world().step();
  const auto spot = spot_of(AT_FDCWD, name);
  if (spot.inode) return fail("mkdir", name, EEXIST);
  if (!spot.folder) return fail("mkdir", name, ENOENT);
  if (const int error = draw_fault(spot.folder->is_shared, Fault::makes)) return fail("mkdir", name, error);
  spot.folder->change(
      {self().node, {}, spot.name, disk_at(self().node, name).make(Inode::Type::folder, mode, geteuid())});
  note("mkdir", name, 0);
  return 0;
}

int simulated_unlink(const char* name) { return remove_at(AT_FDCWD, name, false); }
int simulated_rmdir(const char* name) { return remove_at(AT_FDCWD, name, true); }
int simulated_unlinkat(int folder, const char* name, int flags) {
  return remove_at(folder, name, (flags & AT_REMOVEDIR) != 0);
}

int simulated_renameat(int from_folder, const char* from, int to_folder, const char* to) {
  world().step();
  const auto old_spot = spot_of(from_folder, from);
  const auto new_spot = spot_of(to_folder, to);
  if (!old_spot.inode || !new_spot.folder) return fail("rename", from, ENOENT);
  if (const int error = draw_fault(old_spot.folder->is_shared, Fault::changes)) return fail("rename", from, error);
  const bool is_folder = old_spot.inode->type == Inode::Type::folder;
  if (new_spot.inode && new_spot.inode != old_spot.inode) {
    const bool is_to_folder = new_spot.inode->type == Inode::Type::folder;
    if (is_to_folder != is_folder) return fail("rename", from, is_folder ? ENOTDIR : EISDIR);
    if (is_to_folder && !new_spot.inode->names.empty()) return fail("rename", from, ENOTEMPTY);
    new_spot.inode->has_name = false;
  }
  const int node = self().node;
  if (old_spot.folder == new_spot.folder) {
    old_spot.folder->change({node, old_spot.name, new_spot.name, old_spot.inode});
  } else {
    new_spot.folder->change({node, {}, new_spot.name, old_spot.inode});
    old_spot.folder->change({node, old_spot.name, {}, nullptr});
  }
  note("renames to", to, 0);
  return 0;
}

// A lock is of what was opened, and goes with its last descriptor.
int simulated_flock(int descriptor, int operation) {
  world().step();
  const auto file = opened_as<DiskFile>(descriptor);
  if (!file) return refuse(EBADF);
  const auto owner = file->inode->lock.lock();
  if ((operation & LOCK_UN) != 0) {
    if (owner == file) file->inode->lock.reset();
    return 0;
  }
  if (owner && owner != file) return refuse(EWOULDBLOCK);
  file->inode->lock = file;
  return 0;
}

// ------------------------------------------------------------------------------------------------------------- in folders

/// An open folder. It has the type of the library's for no one but the program, which knows its address only.
struct Listing {
  std::vector<std::string> names;
  std::size_t next = 0;
  dirent entry{};
  int descriptor = -1;
};

DIR* simulated_fdopendir(int descriptor) {
  world().step();
  const auto folder = opened_as<DiskFile>(descriptor);
  if (!folder || folder->inode->type != Inode::Type::folder) {
    errno = ENOTDIR;
    return nullptr;
  }
  if (const int error = draw_fault(folder->inode->is_shared, Fault::lists)) {
    errno = error;
    return nullptr;
  }
  auto* listing = new Listing;
  listing->descriptor = descriptor;
  for (const auto& [name, each] : folder->inode->names) listing->names.push_back(name);
  return reinterpret_cast<DIR*>(listing);
}

DIR* simulated_opendir(const char* name) {
  const int descriptor = simulated_open(name, O_RDONLY | O_DIRECTORY);
  return descriptor >= 0 ? simulated_fdopendir(descriptor) : nullptr;
}

dirent* simulated_readdir(DIR* folder) {
  auto& listing = *reinterpret_cast<Listing*>(folder);
  if (listing.next == listing.names.size()) return nullptr;
  const std::string& name = listing.names[listing.next++];
  std::strncpy(listing.entry.d_name, name.c_str(), sizeof listing.entry.d_name - 1);
  return &listing.entry;
}

// No path has links.
std::filesystem::path simulated_weakly_canonical(const std::filesystem::path& path, std::error_code& error) {
  error.clear();
  return path.lexically_normal();
}

int simulated_closedir(DIR* folder) {
  auto* listing = reinterpret_cast<Listing*>(folder);
  (void)simulated_close(listing->descriptor);
  delete listing;
  return 0;
}
}
