// SPDX-License-Identifier: BSD-3-Clause
#include "pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace fenix_simulation {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLeast = std::size_t{16} << 10;  // that is worth a call of the system
constexpr std::size_t kLeastShared = std::size_t{64} << 10;

std::span<std::byte> pages_in(void* memory, std::size_t bytes) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kPage - 1) / kPage * kPage;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / kPage * kPage;
  return {reinterpret_cast<std::byte*>(begin), end > begin ? end - begin : 0};
}

int file_with(std::span<const std::byte> content, std::size_t at) {
  const int file = memfd_create("simulated", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(at + content.size() + kPage)) != 0) std::abort();
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t written = pwrite(file, content.data() + done, content.size() - done, static_cast<off_t>(at + done));
    if (written <= 0) std::abort();
    done += static_cast<std::size_t>(written);
  }
  return file;
}

}  // namespace

// A new mapping, since the pages may be those of a file.
void forget_pages(void* memory, std::size_t bytes) {
  if (bytes < kLeast) return;
  const auto pages = pages_in(memory, bytes);
  if (pages.empty()) return;
  if (mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
           -1, 0) == MAP_FAILED) {
    std::abort();
  }
}

void fill_with_zeros(void* memory, std::size_t bytes) {
  const auto pages = pages_in(memory, bytes);
  if (bytes < kLeast || pages.empty()) {
    std::memset(memory, 0, bytes);
    return;
  }
  forget_pages(memory, bytes);
  auto* const begin = static_cast<std::byte*>(memory);
  std::memset(begin, 0, static_cast<std::size_t>(pages.data() - begin));
  std::byte* const behind = pages.data() + pages.size();
  std::memset(behind, 0, static_cast<std::size_t>(begin + bytes - behind));
}

SharedContent::~SharedContent() {
  for (const auto& [place, file] : files_) close(file);
}

void SharedContent::copy(std::span<const std::byte> content, void* to) {
  if (content.size() < kLeastShared) {
    if (!content.empty()) std::memcpy(to, content.data(), content.size());
    return;
  }
  auto* const out = static_cast<std::byte*>(to);
  const std::size_t place = reinterpret_cast<std::uintptr_t>(to) % kPage;
  if (files_.count(place) == 0) files_[place] = file_with(content, place);
  const auto pages = pages_in(to, content.size());
  const auto head = static_cast<std::size_t>(pages.data() - out);
  std::memcpy(out, content.data(), head);
  if (mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, files_[place],
           static_cast<off_t>(place + head)) == MAP_FAILED) {
    std::abort();
  }
  const std::size_t tail = head + pages.size();
  std::memcpy(out + tail, content.data() + tail, content.size() - tail);
}

}  // namespace fenix_simulation
