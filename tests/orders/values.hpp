// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that a seed repeats, elements, and the bytes that they are.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace fenix_orders {

class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : state_(mixed(mixed(seed) + stream)) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    return mixed(state_);
  }
  /// Returns a number in [0, end).
  int below(int end) { return static_cast<int>(next() % static_cast<std::uint64_t>(end)); }
  bool one_in(int times) { return below(times) == 0; }

 private:
  static std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
    return number ^ (number >> 31U);
  }

  std::uint64_t state_;
};

/// The value of an element. Its bytes depend on it alone.
using Value = std::uint32_t;
/// Elements that there are, by number.
using Elements = std::map<int, Value>;

/// An MPI type of elements.
struct Kind {
  const char* name;
  MPI_Datatype type;
  int bytes;   ///< of the data
  int extent;  ///< with holes
  bool has_holes;

  [[nodiscard]] int place(int byte) const { return has_holes && byte >= 4 ? byte + 4 : byte; }
};

inline constexpr int kHoles = 1;
inline constexpr int kLargeElements = 4;

/// Returns the types. MPI must have been initialised.
inline const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    constexpr int kWords = 3000;
    MPI_Datatype large = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(kWords, MPI_UINT32_T, &large);
    MPI_Type_commit(&large);
    const std::array<int, 2> lengths{1, 1};
    const std::array<MPI_Aint, 2> places{0, 8};
    const std::array<MPI_Datatype, 2> parts{MPI_UINT32_T, MPI_UINT32_T};
    MPI_Datatype with_hole = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), &with_hole);
    MPI_Datatype holes = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(with_hole, 0, 16, &holes);
    MPI_Type_commit(&holes);
    return std::vector<Kind>{{"MPI_UINT32_T", MPI_UINT32_T, 4, 4, false},
                             {"holes", holes, 8, 16, true},
                             {"MPI_BYTE", MPI_BYTE, 1, 1, false},
                             {"MPI_UINT64_T", MPI_UINT64_T, 8, 8, false},
                             {"3000 words", large, 4 * kWords, 4 * kWords, false}};
  }();
  return all;
}

inline std::byte byte_of(Value value, int byte) {
  return static_cast<std::byte>((value >> (8U * (static_cast<unsigned>(byte) % 4U))) +
                                static_cast<unsigned>(byte) / 4U * 29U);
}

/// Writes an element, but not its holes. start: of all elements.
inline void write(const Kind& kind, std::byte* start, int element, Value value) {
  std::byte* const to = start + static_cast<std::ptrdiff_t>(element) * kind.extent;
  for (int byte = 0; byte < kind.bytes; ++byte) to[kind.place(byte)] = byte_of(value, byte);
}

inline void write_packed(const Kind& kind, std::byte* start, int element, Value value) {
  std::byte* const to = start + static_cast<std::ptrdiff_t>(element) * kind.bytes;
  for (int byte = 0; byte < kind.bytes; ++byte) to[byte] = byte_of(value, byte);
}

}  // namespace fenix_orders
