// SPDX-License-Identifier: BSD-3-Clause
// DataSubset: a sorted list of blocks that do not overlap or touch.
#include "api/cxx/cxx_subset.hpp"

#include <fenix.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace fenix {
namespace {

using Bounds = DataSubset::Bounds;
constexpr std::size_t kMax = DataSubset::MAX;

void check_bounds(const Bounds& bounds) {
  if (bounds.second < bounds.first) throw std::invalid_argument("DataSubset: the last element is before the first");
}

void check_basic(const DataSubset& a, const DataSubset& b) {
  if (a.is_prestaged() || b.is_prestaged()) throw std::invalid_argument("DataSubset: prestaged elements are not known");
}

std::size_t as_index(int value) {
  if (value < 0) throw std::invalid_argument("DataSubset: negative index");
  return static_cast<std::size_t>(value);
}

/// Finds the last block that begins at or before index. Returns end() if there is none.
auto block_at(const std::vector<Bounds>& blocks, std::size_t index) {
  const auto next = std::upper_bound(blocks.begin(), blocks.end(), index,
                                     [](std::size_t value, const Bounds& block) { return value < block.first; });
  return next == blocks.begin() ? blocks.end() : std::prev(next);
}

/// Gets the blocks of all elements that are not in these blocks.
std::vector<Bounds> gaps(const std::vector<Bounds>& blocks) {
  std::vector<Bounds> result;
  std::size_t from = 0;
  for (const auto& [first, last] : blocks) {
    if (first > from) result.emplace_back(from, first - 1);
    if (last == kMax) return result;
    from = last + 1;
  }
  result.emplace_back(from, kMax);
  return result;
}

std::vector<Bounds> common(const std::vector<Bounds>& a, const std::vector<Bounds>& b) {
  std::vector<Bounds> result;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const std::size_t first = std::max(x->first, y->first);
    const std::size_t last = std::min(x->second, y->second);
    if (first <= last) result.emplace_back(first, last);
    (x->second < y->second ? x : y)++;
  }
  return result;
}

/// Converts an index for the C interface, where a subset without an end has INT64_MAX as its last element.
MPI_Count to_count(std::size_t index) {
  constexpr MPI_Count kNoEnd = INT64_MAX;
  return index >= static_cast<std::size_t>(kNoEnd) ? kNoEnd : static_cast<MPI_Count>(index);
}

std::size_t from_count(MPI_Count index) { return index == INT64_MAX ? kMax : static_cast<std::size_t>(index); }

int create(const std::vector<Bounds>& blocks, Fenix_Data_subset* subset) {
  std::vector<MPI_Count> first(blocks.size());
  std::vector<MPI_Count> last(blocks.size());
  std::transform(blocks.begin(), blocks.end(), first.begin(),
                 [](const Bounds& block) { return to_count(block.first); });
  std::transform(blocks.begin(), blocks.end(), last.begin(),
                 [](const Bounds& block) { return to_count(block.second); });
  return Fenix_Data_subset_createv_c(static_cast<MPI_Count>(blocks.size()), first.data(), last.data(), subset);
}

bool is_constant(const Fenix_Data_subset& subset) {
  for (const auto& constant :
       {FENIX_SUBSET_NULL, FENIX_DATA_SUBSET_FULL, FENIX_DATA_SUBSET_EMPTY, FENIX_DATA_SUBSET_PRESTAGED}) {
    if (subset.impl == constant.impl) return true;
  }
  return false;
}

int to_c(const DataSubset& elements, Fenix_Data_subset* subset) {
  if (elements.is_prestaged()) {
    *subset = FENIX_DATA_SUBSET_PRESTAGED;
  } else if (elements.empty()) {
    *subset = FENIX_DATA_SUBSET_EMPTY;
  } else if (elements.includes_all(kMax)) {
    *subset = FENIX_DATA_SUBSET_FULL;
  } else {
    return create(elements.blocks(), subset);
  }
  return FENIX_SUCCESS;
}

}  // namespace

DataSubset::DataSubset(std::size_t end) : blocks_{{0, end}} {}

DataSubset::DataSubset(Bounds bounds) : blocks_{bounds} { check_bounds(bounds); }

DataSubset::DataSubset(Bounds bounds, std::size_t n, std::size_t stride) {
  check_bounds(bounds);
  if (n > 1 && stride == 0) throw std::invalid_argument("DataSubset: stride is 0");
  if (n > 1 && bounds.second != MAX && stride > (MAX - 1 - bounds.second) / (n - 1)) {
    throw std::invalid_argument("DataSubset: the last block is beyond MAX");
  }
  if (bounds.second == MAX) n = std::min<std::size_t>(n, 1);
  blocks_.reserve(n);
  for (std::size_t i = 0; i < n; ++i) blocks_.emplace_back(bounds.first + i * stride, bounds.second + i * stride);
  normalise();
}

DataSubset::DataSubset(const std::vector<Bounds>& bounds) : blocks_(bounds) {
  std::for_each(bounds.begin(), bounds.end(), check_bounds);
  normalise();
}

DataSubset::DataSubset(int n, const int* first, const int* last) {
  for (int i = 0; i < n; ++i) blocks_.emplace_back(as_index(first[i]), as_index(last[i]));
  std::for_each(blocks_.begin(), blocks_.end(), check_bounds);
  normalise();
}

DataSubset::DataSubset(const DataSubset& a, const DataSubset& b) : blocks_(a.blocks_) {
  check_basic(a, b);
  blocks_.insert(blocks_.end(), b.blocks_.begin(), b.blocks_.end());
  normalise();
}

DataSubset::DataSubset(const Fenix_Data_subset& subset) {
  if (subset.impl == FENIX_DATA_SUBSET_PRESTAGED.impl) {
    type_ = PrestagedSubset;
    return;
  }
  MPI_Count number = 0;
  if (Fenix_Data_subset_get_number_of_blocks(subset, &number) != FENIX_SUCCESS) {
    throw std::invalid_argument(Fenix_Error_message());
  }
  blocks_.reserve(static_cast<std::size_t>(number));
  for (MPI_Count i = 0; i < number; ++i) {
    MPI_Count first = 0;
    MPI_Count last = 0;
    check(Fenix_Data_subset_get_block(subset, i, &first, &last));
    blocks_.emplace_back(from_count(first), from_count(last));
  }
}

void DataSubset::normalise() {
  if (!std::is_sorted(blocks_.begin(), blocks_.end())) std::sort(blocks_.begin(), blocks_.end());
  std::size_t kept = 0;
  for (std::size_t i = 1; i < blocks_.size(); ++i) {
    Bounds& last = blocks_[kept];
    if (last.second == MAX || blocks_[i].first <= last.second + 1) {
      last.second = std::max(last.second, blocks_[i].second);
    } else {
      blocks_[++kept] = blocks_[i];
    }
  }
  if (!blocks_.empty()) blocks_.resize(kept + 1);
}

DataSubset DataSubset::operator+(const DataSubset& other) const { return {*this, other}; }

DataSubset& DataSubset::operator+=(const DataSubset& other) { return *this = *this + other; }

DataSubset DataSubset::operator-(const DataSubset& other) const {
  check_basic(*this, other);
  DataSubset result;
  result.blocks_ = common(blocks_, gaps(other.blocks_));
  return result;
}

DataSubset DataSubset::operator&(const DataSubset& other) const {
  check_basic(*this, other);
  DataSubset result;
  result.blocks_ = common(blocks_, other.blocks_);
  return result;
}

std::size_t DataSubset::count(std::size_t max_index) const {
  if (max_index == MAX && !is_bounded()) return 0;
  std::size_t total = 0;
  for (const auto& [first, last] : blocks_) {
    if (first <= max_index) total += std::min(last, max_index) - first + 1;
  }
  return total;
}

bool DataSubset::includes(std::size_t index) const {
  const auto block = block_at(blocks_, index);
  return block != blocks_.end() && index <= block->second;
}

bool DataSubset::includes_all(std::size_t end) const {
  return !blocks_.empty() && blocks_.front().first == 0 && blocks_.front().second >= end;
}

DataSubset DataSubset::bounded(std::size_t max_index) const {
  return is_prestaged() ? *this : *this & DataSubset(max_index);
}

std::string DataSubset::str() const {
  if (is_prestaged()) return "prestaged";
  if (blocks_.empty()) return "[]";
  std::string text;
  for (const auto& [first, last] : blocks_) {
    if (!text.empty()) text += ' ';
    text += '[' + std::to_string(first) + ", " + (last == MAX ? "end)" : std::to_string(last) + ']');
  }
  return text;
}

namespace data {

const DataSubset SUBSET_FULL(DataSubset::MAX);
const DataSubset SUBSET_EMPTY;
const DataSubset SUBSET_PRESTAGED(DataSubset::PrestagedSubset);
DataSubset SUBSET_IGNORE;

Subset::Subset(const DataSubset& elements) { check(to_c(elements, &subset_)); }

Subset& Subset::operator=(Subset&& other) noexcept {
  if (this != &other) {
    reset();
    subset_ = other.release();
  }
  return *this;
}

Fenix_Data_subset Subset::release() noexcept { return std::exchange(subset_, FENIX_SUBSET_NULL); }

void Subset::reset() noexcept {
  if (!is_constant(subset_)) Fenix_Data_subset_delete(&subset_);
  subset_ = FENIX_SUBSET_NULL;
}

Fenix_Data_subset* Subset::out() noexcept {
  reset();
  return &subset_;
}

}  // namespace data
}  // namespace fenix

namespace fenix_impl {

int lend_subset(const fenix::DataSubset& elements, Fenix_Data_subset& subset) {
  static thread_local fenix::data::Subset lent;
  const int code = fenix::to_c(elements, lent.out());
  subset = lent.get();
  return code;
}

}  // namespace fenix_impl
