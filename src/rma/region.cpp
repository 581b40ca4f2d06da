// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "base/available_memory.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/limits.hpp"
#include "base/pages.hpp"
#include "base/signals_blocked.hpp"

namespace fenix_impl {
namespace {

[[noreturn]] void no_memory(const std::string& what) {
  const int error = errno;
  throw Error(FENIX_ERROR_NO_MEMORY, what + ": " + std::strerror(error) + limit_met(error));
}

std::uint64_t random_key() {
  std::uint64_t key = 0;
  if (getrandom(&key, sizeof key, 0) != sizeof key) no_memory("getrandom");
  return key;
}

// The owner's processes only, and no change of size: whoever has mapped the file could not touch what was cut off.
void secure(int fd) {
  if (fchmod(fd, S_IRUSR | S_IWUSR) != 0) no_memory("fchmod");
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) no_memory("sealing the size of a region");
}

// A system request that a test lets fail, as the system would.
bool refused(const char* point, int error) {
  if (!fault_fails(point)) return false;
  errno = error;
  return true;
}

// To size a file beyond the limit of the process would raise SIGXFSZ.
bool within_file_limit(std::size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) return true;
  errno = EFBIG;
  return false;
}

/// All mappings there are: ends by starts.
struct Mapped {
  std::mutex mutex;
  std::map<const std::byte*, const std::byte*, std::less<>> ends;
};

// Lives as long as the process.
Mapped& mapped() {
  static auto* instance = new Mapped;
  return *instance;
}

}  // namespace

bool Mapping::have(const void* address) {
  const std::lock_guard lock(mapped().mutex);
  const auto* const at = static_cast<const std::byte*>(address);
  const auto after = mapped().ends.upper_bound(at);
  return after != mapped().ends.begin() && std::less<>()(at, std::prev(after)->second);
}

Mapping::Mapping(int fd, std::size_t bytes, const char* fault) : size_(bytes) {
  void* memory = refused(fault, ENOMEM)
                     ? MAP_FAILED
                     : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (memory == MAP_FAILED) no_memory("mapping " + std::to_string(bytes) + " bytes");
  data_ = static_cast<std::byte*>(memory);
  try {
    const std::lock_guard lock(mapped().mutex);
    mapped().ends.emplace(data_, data_ + bytes);
  } catch (const std::bad_alloc&) {
    munmap(memory, bytes);
    throw;
  }
  (void)madvise(memory, bytes, MADV_HUGEPAGE);  // where the system has them for shared memory
}

bool populate_pages(std::span<std::byte> region, std::size_t offset, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  const std::size_t page = system_page();
  const std::size_t begin = offset / page * page;
  const std::size_t end = std::min(region.size(), (offset + bytes + page - 1) / page * page);
  int result = 0;
  do {
    result = begin < end ? madvise(region.data() + begin, end - begin, MADV_POPULATE_WRITE) : 0;
  } while (result != 0 && errno == EINTR);
  return result == 0;
#else
  (void)region, (void)offset, (void)bytes;
  errno = EINVAL;
  return false;
#endif
}

void reserve_at_peer(const RegionAddress& address, std::span<std::byte> mapped, std::size_t offset, std::size_t bytes) {
  const bool failed = refused("peer.reserve", ENOMEM) || !populate_pages(mapped, offset, bytes);
  if (!failed) return;
  if (errno != EINVAL) no_memory("reserving " + std::to_string(bytes) + " bytes of a peer's region");
  // The system does not know that request: before Linux 5.14.
  reserve_in(open_region(address), offset, bytes);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ == nullptr) return;
  const std::lock_guard lock(mapped().mutex);
  mapped().ends.erase(data_);
  munmap(data_, size_);
}

Region::Segment::~Segment() {
  if (may_be_touched && file) {
    const auto size = static_cast<off_t>(mapping.bytes().size());
    while (!is_offered && fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size) != 0 &&
           errno == EINTR) {
    }
    mapping.leak();
  }
}

Region::Region(std::size_t bytes) : segment_(std::make_shared<Segment>()) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<off_t>::max()) - kHeaderBytes) {
    throw Error(FENIX_ERROR_NO_MEMORY, "a region of " + std::to_string(bytes) + " bytes is more than a file can have");
  }
  const std::size_t total = bytes + kHeaderBytes;
  segment_->key = random_key();
  if (!refused("region.descriptor", EMFILE))
    segment_->file = Descriptor(memfd_create("fenix", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!segment_->file) no_memory("memfd_create");
  const int fd = segment_->file.get();
  if (refused("region.size", EFBIG) || !within_file_limit(total) || ftruncate(fd, static_cast<off_t>(total)) != 0)
    no_memory("sizing a region of " + std::to_string(total) + " bytes");
  secure(fd);
  segment_->mapping = Mapping(fd, total, "region.map");
  reserve(0, kHeaderBytes);
  std::memcpy(segment_->mapping.bytes().data(), &segment_->key, sizeof segment_->key);
}

void Region::reserve(std::size_t offset, std::size_t bytes) { reserve_in(segment_->file, offset, bytes); }

namespace {

// Some systems end this at any signal, and give back what it had got: under the timer of a profiler there would be no end.
int allocate(const Descriptor& file, off_t offset, off_t bytes) {
  const SignalsBlocked blocked;
  return posix_fallocate(file.get(), offset, bytes);
}

}  // namespace

void reserve_in(const Descriptor& file, std::size_t offset, std::size_t bytes) {
  // The system gives shared memory until nothing is left, and then kills processes: see before each piece what there is.
  // Small pieces, because other ranks do the same at the same time.
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  constexpr std::size_t kUnnoticed = std::size_t{256} << 10;  // makes no difference, and to look takes a while
  const std::size_t wanted = bytes;
  while (bytes > 0) {
    if (bytes > kUnnoticed && bytes > available_memory()) {
      errno = ENOMEM;
      no_memory("reserving " + std::to_string(wanted) + " bytes of shared memory");
    }
    const std::size_t piece = std::min(bytes, kPiece);
    // Without this, the first write to a page that cannot be had ends the process with SIGBUS.
    const int result = refused("region.reserve", ENOSPC)
                           ? errno
                           : allocate(file, static_cast<off_t>(offset), static_cast<off_t>(piece));
    if (result == EINTR) continue;
    if (result != 0) {
      errno = result;
      no_memory("reserving " + std::to_string(wanted) + " bytes of shared memory");
    }
    offset += piece;
    bytes -= piece;
  }
}

RegionAddress Region::address() const {
  if (!segment_) return {getpid(), -1, 0, 0};
  return {getpid(), segment_->file.get(), segment_->mapping.bytes().size(), segment_->key};
}

bool peer_region_exists(const RegionAddress& address) noexcept {
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "/proc/%d/fd/%d", address.pid, address.fd);
  return access(name.data(), F_OK) == 0;
}

Descriptor open_region(const RegionAddress& address) {
  const std::string name = "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.fd);
  Descriptor file;
  if (!refused("peer.open", EMFILE)) file = Descriptor(open(name.c_str(), O_RDWR | O_CLOEXEC));
  const bool is_limit = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
  if (!file && is_limit) no_memory("opening a peer's region");
  if (!file) throw RegionIsGone(FENIX_ERROR_NO_MEMORY, std::string("opening a peer's region: ") + std::strerror(errno));
  struct stat status {};
  // A mapping past the end of the file would end the process at the first touch.
  if (fstat(file.get(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= address.bytes) return file;
  throw RegionIsGone(FENIX_ERROR_NO_MEMORY, "a peer's region is smaller than it said");
}

namespace {

Mapping map_region(const Descriptor& file, const RegionAddress& address) {
  Mapping mapping(file.get(), address.bytes, "peer.map");
  std::uint64_t key = 0;
  std::memcpy(&key, mapping.bytes().data(), sizeof key);
  if (key != address.key) throw RegionIsGone(FENIX_ERROR_NO_MEMORY, "a peer's region is not where it said");
  return mapping;
}

}  // namespace

Mapping map_peer_region(const RegionAddress& address) { return map_region(open_region(address), address); }

Region Region::take_over(const RegionAddress& address) {
  Region region;
  region.segment_ = std::make_shared<Segment>();
  region.segment_->file = open_region(address);
  region.segment_->key = address.key;
  region.segment_->is_offered = true;
  region.segment_->mapping = map_region(region.segment_->file, address);
  return region;
}

}  // namespace fenix_impl
