// SPDX-License-Identifier: BSD-3-Clause
#include "work.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <stdexcept>

#include "files.hpp"

namespace heat2d {

Work::Work(const std::filesystem::path& path) {
  constexpr std::int64_t kNone = 0;
  std::filesystem::create_directories(path.parent_path());
  write_file(path, &kNone, sizeof kNone);
  std::FILE* file = std::fopen(path.c_str(), "r+");
  void* memory = MAP_FAILED;
  if (file != nullptr) {
    memory = mmap(nullptr, sizeof kNone, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    std::fclose(file);
  }
  if (memory == MAP_FAILED) throw std::runtime_error(path.string() + ": cannot be mapped");
  count_ = static_cast<volatile std::int64_t*>(memory);
}

Work::~Work() { munmap(const_cast<std::int64_t*>(count_), sizeof *count_); }

}  // namespace heat2d
