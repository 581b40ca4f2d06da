// SPDX-License-Identifier: BSD-3-Clause
#include "base/probe.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/pages.hpp"

namespace fenix_impl {
namespace {

enum class Access { read, write };

// The kernel does as if the page were accessed, and says how that went. EINVAL: it cannot say.
int touch(std::byte* byte, Access access) {
#ifdef MADV_POPULATE_WRITE
  const std::uintptr_t page = system_page();
  auto* const start = byte - reinterpret_cast<std::uintptr_t>(byte) % page;
  int result = 0;
  do {
    result = madvise(start, page, access == Access::write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
#else
  (void)byte, (void)access;
  return EINVAL;
#endif
}

// Reads the byte, and writes it back: slower, and not without a race, but it works for memory of any kind.
bool copies(std::byte* byte, Access access) {
  std::byte value{};
  const iovec here{&value, 1};
  const iovec there{byte, 1};
  if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0) return errno != EFAULT;
  return access == Access::read || process_vm_writev(getpid(), &here, 1, &there, 1, 0) >= 0 || errno != EFAULT;
}

bool can_access(std::byte* byte, Access access) {
  const int error = touch(byte, access);
  if (error == 0 || error == EAGAIN) return true;
  return error == EINVAL ? copies(byte, access) : false;
}

bool can_access(std::byte* memory, std::size_t bytes, Access access) {
  return bytes == 0 || (can_access(memory, access) && can_access(memory + bytes - 1, access));
}

}  // namespace

bool can_read(const void* memory, std::size_t bytes) {
  return can_access(static_cast<std::byte*>(const_cast<void*>(memory)), bytes, Access::read);
}

bool can_write(void* memory, std::size_t bytes) {
  return can_access(static_cast<std::byte*>(memory), bytes, Access::write);
}

}  // namespace fenix_impl
