// SPDX-License-Identifier: BSD-3-Clause
// Subsets: creation, deletion, queries.
#include "api/c/subsets.hpp"

#include <fenix.h>

#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/entry.hpp"

using namespace fenix_impl;

namespace {

// Variables whose addresses are the values of the constants.
const char kFull = 0;
const char kEmpty = 0;
const char kPrestaged = 0;

// All subsets that exist. A handle that is not among them is refused, not dereferenced.
class Subsets {
 public:
  const void* add(IntervalSet elements) {
    auto subset = std::make_unique<const IntervalSet>(std::move(elements));
    const void* handle = subset.get();
    const std::lock_guard lock(mutex_);
    subsets_.emplace(handle, std::move(subset));
    return handle;
  }

  bool remove(const void* handle) {
    const std::lock_guard lock(mutex_);
    return subsets_.erase(handle) != 0;
  }

  const IntervalSet* find(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = subsets_.find(handle);
    return found == subsets_.end() ? nullptr : found->second.get();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<const IntervalSet>> subsets_;
};

// Gets the table, which is never destroyed, like the runtime.
Subsets& subsets() {
  static auto* instance = new Subsets;
  return *instance;
}

// Gets the elements of a subset. Throws Error for FENIX_DATA_SUBSET_PRESTAGED, whose elements are not known.
IntervalSet elements_of(const Fenix_Data_subset& subset) {
  const Selection selection = selection_of(subset, "subset");
  if (selection.kind == Selection::Kind::staged) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "subset is FENIX_DATA_SUBSET_PRESTAGED");
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return selection.kind == Selection::Kind::all ? IntervalSet(0, kMost + 1) : selection.elements;
}

std::string text(MPI_Count number) { return std::to_string(static_cast<long long>(number)); }

Interval checked_block(MPI_Count start, MPI_Count end, MPI_Count block) {
  if (start < 0) {
    throw Error(FENIX_ERROR_SUBSET_START_OFFSET,
                "start offset " + text(start) + " of block " + text(block) + " is negative");
  }
  if (end < start) {
    throw Error(FENIX_ERROR_SUBSET_END_OFFSET, "end offset " + text(end) + " of block " + text(block) +
                                                   " is less than its start offset " + text(start));
  }
  return {static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end) + 1};
}

void check_number_of_blocks(MPI_Count num_blocks) {
  if (num_blocks < 1) throw Error(FENIX_ERROR_SUBSET_NUM_BLOCKS, "num_blocks " + text(num_blocks) + " is less than 1");
}

template <class Number>
int create_from_arrays(MPI_Count num_blocks, const Number* starts, const Number* ends, Fenix_Data_subset* subset) {
  return entry([&]() -> int {
    require(subset, "subset_specifier");
    check_number_of_blocks(num_blocks);
    require(starts, "array_start_offsets");
    require(ends, "array_end_offsets");
    std::vector<Interval> blocks;
    blocks.reserve(static_cast<std::size_t>(num_blocks));
    for (MPI_Count block = 0; block < num_blocks; ++block) {
      blocks.push_back(checked_block(starts[block], ends[block], block));
    }
    *subset = make_subset(IntervalSet::of(std::move(blocks)));
    return FENIX_SUCCESS;
  });
}

}  // namespace

namespace fenix_impl {

Selection selection_of(const Fenix_Data_subset& subset, const char* argument) {
  if (subset.impl == &kFull) return Selection::all();
  if (subset.impl == &kEmpty) return Selection::some({});
  if (subset.impl == &kPrestaged) return Selection::staged();
  const IntervalSet* elements = subsets().find(subset.impl);
  if (elements == nullptr) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, std::string(argument) + " is not a subset, or has been deleted");
  }
  return Selection::some(*elements);
}

Fenix_Data_subset make_subset(IntervalSet elements) { return {subsets().add(std::move(elements))}; }

}  // namespace fenix_impl

extern "C" {

const Fenix_Data_subset FENIX_DATA_SUBSET_FULL = {&kFull};
const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY = {&kEmpty};
const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED = {&kPrestaged};
const Fenix_Data_subset FENIX_SUBSET_NULL = {nullptr};

int Fenix_Data_subset_create_c(MPI_Count num_blocks, MPI_Count start_offset, MPI_Count end_offset, MPI_Count stride,
                               Fenix_Data_subset* subset_specifier) {
  return entry([&]() -> int {
    require(subset_specifier, "subset_specifier");
    check_number_of_blocks(num_blocks);
    const Interval first = checked_block(start_offset, end_offset, 0);
    if (num_blocks > 1 && stride < 1) {
      throw Error(FENIX_ERROR_SUBSET_STRIDE, "stride " + text(stride) + " is less than 1");
    }
    if (num_blocks > 1 && (std::numeric_limits<std::int64_t>::max() - end_offset) / (num_blocks - 1) < stride) {
      throw Error(FENIX_ERROR_SUBSET_STRIDE, "stride " + text(stride) + " leads beyond what 64 bits can express");
    }
    std::vector<Interval> blocks;
    if (num_blocks > 1 && static_cast<std::uint64_t>(stride) <= first.count()) {
      // Blocks that touch or overlap form one block.
      blocks.push_back({first.first, first.end + static_cast<std::uint64_t>((num_blocks - 1) * stride)});
    } else {
      blocks.reserve(static_cast<std::size_t>(num_blocks));
      for (MPI_Count block = 0; block < num_blocks; ++block) {
        const auto shift = static_cast<std::uint64_t>(num_blocks > 1 ? block * stride : 0);
        blocks.push_back({first.first + shift, first.end + shift});
      }
    }
    *subset_specifier = make_subset(IntervalSet::of(std::move(blocks)));
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                             Fenix_Data_subset* subset_specifier) {
  return Fenix_Data_subset_create_c(num_blocks, start_offset, end_offset, stride, subset_specifier);
}

int Fenix_Data_subset_createv_c(MPI_Count num_blocks, const MPI_Count* array_start_offsets,
                                const MPI_Count* array_end_offsets, Fenix_Data_subset* subset_specifier) {
  return create_from_arrays(num_blocks, array_start_offsets, array_end_offsets, subset_specifier);
}

int Fenix_Data_subset_createv(int num_blocks, int* array_start_offsets, int* array_end_offsets,
                              Fenix_Data_subset* subset_specifier) {
  return create_from_arrays(num_blocks, array_start_offsets, array_end_offsets, subset_specifier);
}

int Fenix_Data_subset_delete(Fenix_Data_subset* subset_specifier) {
  return entry([&]() -> int {
    require(subset_specifier, "subset_specifier");
    if (!subsets().remove(subset_specifier->impl)) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "subset_specifier was not created, or has been deleted");
    }
    *subset_specifier = FENIX_SUBSET_NULL;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_subset_get_number_of_blocks(Fenix_Data_subset subset, MPI_Count* number_of_blocks) {
  return entry([&]() -> int {
    require(number_of_blocks, "number_of_blocks");
    const IntervalSet elements = elements_of(subset);
    *number_of_blocks = static_cast<MPI_Count>(elements.intervals().size());
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_subset_get_block(Fenix_Data_subset subset, MPI_Count position, MPI_Count* start_offset,
                                MPI_Count* end_offset) {
  return entry([&]() -> int {
    require(start_offset, "start_offset");
    require(end_offset, "end_offset");
    const IntervalSet elements = elements_of(subset);
    if (position < 0 || position >= static_cast<MPI_Count>(elements.intervals().size())) {
      throw Error(FENIX_ERROR_INVALID_POSITION, "position " + text(position) + " is not in [0, number of blocks)");
    }
    const Interval& block = elements.intervals()[static_cast<std::size_t>(position)];
    *start_offset = static_cast<MPI_Count>(block.first);
    *end_offset = static_cast<MPI_Count>(block.end - 1);
    return FENIX_SUCCESS;
  });
}

}  // extern "C"
