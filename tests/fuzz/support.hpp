// SPDX-License-Identifier: BSD-3-Clause
// What fuzz targets share.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "base/simd/hash.hpp"
#include "core/log/record.hpp"

namespace fuzz {

using Bytes = std::vector<std::byte>;

/// Ends the process, so that the fuzzer keeps the input.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: not so: %s\n", what);
  std::abort();
}

/// A process by itself: needs no mpirun, and leaves nothing in /dev/shm.
inline void start_mpi() {
  setenv("OMPI_MCA_btl", "self", 1);
  // Open MPI's signal handlers would keep libFuzzer from writing the input that ends a target.
  setenv("OMPI_MCA_opal_signal", "", 1);
  MPI_Init(nullptr, nullptr);
  std::atexit([] { MPI_Finalize(); });
}

/// Takes an input apart. Bytes beyond its end are 0.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : rest_(bytes) {}
  Input(const std::uint8_t* data, std::size_t size) : Input(std::as_bytes(std::span(data, size))) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

  template <class T>
  T take() {
    T value{};
    const auto bytes = some(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  /// At most so many bytes.
  std::span<const std::byte> some(std::size_t most) {
    const auto bytes = rest_.first(std::min(most, rest_.size()));
    rest_ = rest_.subspan(bytes.size());
    return bytes;
  }

 private:
  std::span<const std::byte> rest_;
};

/// Corrects the fields of a record that only a writer could know: magic and versions, length, seal and checksum. Without
/// this, fuzzing would not get past the checksum.
inline Bytes sealed_record(std::span<const std::byte> bytes) {
  using namespace fenix_impl;
  // Places in the format (docs/log-format.md).
  constexpr std::size_t kSeal = 0, kChecksum = 8, kMagic = 16, kVersion = 20, kHeadBytes = 22, kLength = 24,
                        kMembers = 28, kEpoch = 32, kIntervals = 68;
  Bytes record(bytes.begin(), bytes.end());
  if (record.size() < record_format::kHeadBytes) return record;
  const auto read32 = [&](std::size_t place) {
    std::uint32_t value = 0;
    std::memcpy(&value, record.data() + place, sizeof value);
    return value;
  };
  const auto write = [&](std::size_t place, auto value) { std::memcpy(record.data() + place, &value, sizeof value); };
  write(kMagic, record_format::kMagic);
  write(kVersion, record_format::kVersion);
  write(kHeadBytes, static_cast<std::uint16_t>(record_format::kHeadBytes));
  std::size_t length = record_bytes(read32(kMembers), read32(kIntervals));
  if (length > record.size()) length = record.size();
  write(kLength, static_cast<std::uint32_t>(length));
  std::memcpy(record.data() + kSeal, record.data() + kEpoch, sizeof(std::uint64_t));
  write(kChecksum, hash_bytes(std::span<const std::byte>(record).first(length).subspan(kMagic)));
  return record;
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
/// Only targets that need it do something in it.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
