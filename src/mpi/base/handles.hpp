// SPDX-License-Identifier: BSD-3-Clause
// Names of communicators. The handle that the program got first is the name of a communicator for ever.
// After a repair, and with newcomm NULL, another communicator does the work: the one that the name stands for now.
#pragma once

#include <mpi.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace fenix_impl {

/// An immutable table with a value for some communicators. Reading takes no lock.
template <class Value>
class HandleTable {
 public:
  explicit HandleTable(const std::vector<std::pair<MPI_Comm, Value>>& values)
      : mask_(std::bit_ceil(4 * values.size() + 1) - 1), entries_(std::make_unique<Entry[]>(mask_ + 1)) {
    for (const auto& [name, value] : values) {
      std::size_t place = first_place(name);
      while (entries_[place].name != nullptr) place = (place + 1) & mask_;
      entries_[place] = {name, value};
    }
  }

  /// Returns the value of a communicator, or another one if it is not in the table.
  [[nodiscard]] Value find(MPI_Comm name, Value otherwise) const {
    for (std::size_t place = first_place(name);; place = (place + 1) & mask_) {
      const Entry& entry = entries_[place];
      if (entry.name == name) return entry.value;
      if (entry.name == nullptr) return otherwise;
    }
  }

 private:
  struct Entry {
    MPI_Comm name = nullptr;
    Value value{};
  };

  [[nodiscard]] std::size_t first_place(MPI_Comm name) const {
    constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(name) * kGoldenRatio) >> 32U) & mask_;
  }

  std::size_t mask_ = 0;
  std::unique_ptr<Entry[]> entries_;
};

/// Names that stand for another communicator.
using MovedHandles = HandleTable<MPI_Comm>;

/// The present table, or null as long as every name stands for itself.
[[gnu::visibility("hidden")]] extern std::atomic<const MovedHandles*> moved_handles;

/// Returns the communicator that does the work for one that the program names.
inline MPI_Comm now(MPI_Comm name) {
  const MovedHandles* moved = moved_handles.load(std::memory_order_acquire);
  return moved == nullptr ? name : moved->find(name, name);
}

/// Replaces the table. The old ones stay: threads may be reading them.
void publish_moved(const std::vector<std::pair<MPI_Comm, MPI_Comm>>& moved);

}  // namespace fenix_impl
