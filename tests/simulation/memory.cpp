// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cost.hpp"
#include "world.hpp"

namespace fenix_simulation {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kReadsPerYield = 4;  // in addition to the yields of writes

struct Range {
  std::size_t used = 0;
  std::vector<std::shared_ptr<MemoryFile>> files;  ///< in the order of their addresses
};

Range& range() {
  static Range* const made = [] {
    void* memory = mmap(reinterpret_cast<void*>(kSharedBegin), kSharedBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    return new Range;
  }();
  return *made;
}

}  // namespace

void size_file(const std::shared_ptr<MemoryFile>& file, std::size_t bytes) {
  Range& all = range();
  file->begin = reinterpret_cast<std::byte*>(kSharedBegin) + all.used;
  file->bytes = bytes;
  // A page behind each file belongs to none.
  all.used += (bytes + kPage - 1) / kPage * kPage + kPage;
  if (all.used > kSharedBytes) std::abort();
  all.files.push_back(file);
}

MemoryFile* file_at(const void* address) {
  auto& files = range().files;
  const auto* const at = static_cast<const std::byte*>(address);
  auto after = std::upper_bound(files.begin(), files.end(), at,
                                [](const std::byte* place, const auto& file) { return place < file->begin; });
  if (after == files.begin()) return nullptr;
  MemoryFile* file = (--after)->get();
  return at < file->begin + file->bytes ? file : nullptr;
}

void forget_files() {
  Range& all = range();
  madvise(reinterpret_cast<void*>(kSharedBegin), all.used, MADV_DONTNEED);
  all.used = 0;
  all.files.clear();
}

void stir_readers(const void* address) {
  const Process* self = present_process();
  MemoryFile* file = file_at(address);
  if (file == nullptr) return;
  for (Process* reader : file->mappers) {
    if (reader != self && reader->alive) world().stir_reader(*reader, bit_of(address));
  }
}

void access(const void* address, bool writes) {
  World& here = world();
  Fiber* fiber = here.scheduler().present();
  if (fiber == nullptr) return;
  here.pass_place();
  if (machine() != nullptr) {
    fiber->looked_at |= writes ? 0 : bit_of(address);
    if (writes) stir_readers(address);
    return;
  }
  const std::uint64_t one_of = here.surroundings().yields * (writes ? 1 : kReadsPerYield);
  if (here.draw(Kind::yield, one_of) == one_of - 1) {
    here.scheduler().give_away(here.now() + here.draw(Kind::delay, 50, 2000) * fiber->process->slowness);
  }
  if (!writes) {
    fiber->looked_at |= bit_of(address);
    return;
  }
  stir_readers(address);
  here.note(4, [&] {
    const MemoryFile* file = file_at(address);
    return file == nullptr ? std::string("writes to memory that nobody has")
                           : "writes to memory of rank " + std::to_string(file->owner->number) + ", byte " +
                                 std::to_string(static_cast<const std::byte*>(address) - file->begin);
  });
}

void copy_shared(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kWord = 8;
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  if (machine() != nullptr) {
    access(in, false);
    std::memcpy(out, in, bytes);
    // A word for each line that somebody may wait for.
    for (std::size_t at = 0; is_shared(to) && at < std::min<std::size_t>(bytes, 256); at += 64) stir_readers(out + at);
    return;
  }
  while (bytes > 0) {
    access(is_shared(to) ? out : in, is_shared(to));
    std::size_t piece = bytes;
    if (bytes > kWord && world().draw(Kind::tear, 4) != 0) {
      piece = std::min(bytes, kWord * (1 + world().draw(Kind::tear, 1 + bytes / 16)));
    }
    std::memcpy(out, in, piece);
    out += piece;
    in += piece;
    bytes -= piece;
  }
}

}  // namespace fenix_simulation
