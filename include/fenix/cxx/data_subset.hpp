// SPDX-License-Identifier: BSD-3-Clause
//
// C++: sets of elements of a member, as values.
#ifndef FENIX_CXX_DATA_SUBSET_HPP
#define FENIX_CXX_DATA_SUBSET_HPP

#include <fenix/data.h>

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace fenix {

/// A set of elements: what Fenix_Data_subset is in C, with the operations of sets. Local; needs no Fenix_Init. Bounds are
/// inclusive. Constructors throw std::invalid_argument where the last element comes before the first, for a stride of 0, and
/// for an index beyond MAX.
class DataSubset {
 public:
  using Bounds = std::pair<std::size_t, std::size_t>;  ///< first and last element
  enum SubsetType { BasicSubset, PrestagedSubset };

  /// As the last element: no end. A store takes such a subset only if it begins at element 0, which is all elements of the
  /// member; others have to be cut with bounded() first.
  static constexpr std::size_t MAX = std::numeric_limits<std::size_t>::max();

  /// No element.
  DataSubset() = default;
  /// [0, end]
  explicit DataSubset(std::size_t end);
  /// [bounds.first, bounds.second]
  DataSubset(Bounds bounds);  // NOLINT(google-explicit-constructor): as in the current Fenix
  /// n blocks: bounds, bounds shifted by stride, by 2 × stride, …; they may overlap. n = 0: no element.
  DataSubset(Bounds bounds, std::size_t n, std::size_t stride);
  /// Blocks in any order; they may overlap.
  DataSubset(const std::vector<Bounds>& bounds);  // NOLINT(google-explicit-constructor)
  /// n blocks [first[i], last[i]]
  DataSubset(int n, const int* first, const int* last);
  /// The union of two.
  DataSubset(const DataSubset& a, const DataSubset& b);
  /// A copy of a subset of the C interface, which stays with its owner. Throws std::invalid_argument for FENIX_SUBSET_NULL.
  DataSubset(const Fenix_Data_subset& subset);  // NOLINT(google-explicit-constructor)
  /// PrestagedSubset: what FENIX_DATA_SUBSET_PRESTAGED is in C. Its elements are not known: it can be compared, copied and
  /// stored; union, difference and intersection throw std::invalid_argument, and queries find no element.
  explicit DataSubset(SubsetType type) : type_(type) {}

  /// Union. A Fenix_Data_subset is converted.
  DataSubset operator+(const DataSubset& other) const;
  DataSubset& operator+=(const DataSubset& other);
  /// The elements that are not in other.
  DataSubset operator-(const DataSubset& other) const;
  /// Intersection (new).
  DataSubset operator&(const DataSubset& other) const;
  bool operator==(const DataSubset& other) const { return type_ == other.type_ && blocks_ == other.blocks_; }
  bool operator!=(const DataSubset& other) const { return !(*this == other); }

  [[nodiscard]] bool empty() const { return type_ == BasicSubset && blocks_.empty(); }
  [[nodiscard]] bool is_prestaged() const { return type_ == PrestagedSubset; }
  /// First and last element; {0, 0} if there is none.
  [[nodiscard]] Bounds range() const { return {start(), end()}; }
  [[nodiscard]] std::size_t start() const { return blocks_.empty() ? 0 : blocks_.front().first; }
  [[nodiscard]] std::size_t end() const { return blocks_.empty() ? 0 : blocks_.back().second; }
  [[nodiscard]] bool is_bounded() const { return end() != MAX; }

  /// Number of elements in [0, max_index]; 0 if that has no end: neither max_index nor the subset.
  [[nodiscard]] std::size_t count(std::size_t max_index = MAX) const;
  /// Number of elements of [0, end()]; 0 if it has no end or no element.
  [[nodiscard]] std::size_t max_count() const { return blocks_.empty() || !is_bounded() ? 0 : end() + 1; }

  [[nodiscard]] bool includes(std::size_t index) const;
  /// Whether all of [0, end] is included.
  [[nodiscard]] bool includes_all(std::size_t end) const;

  /// The elements in [0, max_index]; a prestaged subset stays what it is.
  [[nodiscard]] DataSubset bounded(std::size_t max_index) const;
  /// The same, in place.
  DataSubset& bound(std::size_t max_index) { return *this = bounded(max_index); }

  /// The blocks: ascending, disjoint, not adjacent (new).
  [[nodiscard]] const std::vector<Bounds>& blocks() const { return blocks_; }
  /// For people: "[0, 4] [7, 7] [9, end)", "[]", "prestaged".
  [[nodiscard]] std::string str() const;

 private:
  /// Sorts the blocks and joins those that overlap or touch.
  void normalise();

  std::vector<Bounds> blocks_;
  SubsetType type_ = BasicSubset;
};

namespace data {

/// FENIX_DATA_SUBSET_FULL: [0, MAX]
extern const DataSubset SUBSET_FULL;
/// FENIX_DATA_SUBSET_EMPTY
extern const DataSubset SUBSET_EMPTY;
/// FENIX_DATA_SUBSET_PRESTAGED
extern const DataSubset SUBSET_PRESTAGED;
/// FENIX_DATA_SUBSET_IGNORE: as data_found, the caller does not want to know. Recognised by its address; never written.
extern DataSubset SUBSET_IGNORE;

/// Owns a Fenix_Data_subset: for programs that give subsets to functions of the C interface (new).
class Subset {
 public:
  Subset() = default;
  /// Takes over a subset of the C interface. The constants FENIX_DATA_SUBSET_… may be taken over, too.
  explicit Subset(Fenix_Data_subset owned) : subset_(owned) {}
  /// A new subset of the C interface. Throws fenix::Error.
  explicit Subset(const DataSubset& elements);
  Subset(Subset&& other) noexcept : subset_(other.release()) {}
  Subset& operator=(Subset&& other) noexcept;
  ~Subset() { reset(); }

  /// Stays owned. FENIX_SUBSET_NULL if there is none.
  [[nodiscard]] Fenix_Data_subset get() const { return subset_; }
  /// The caller owns it from now on.
  Fenix_Data_subset release() noexcept;
  /// Deletes it.
  void reset() noexcept;
  /// For output arguments: deletes what there is, and gives the place for another.
  Fenix_Data_subset* out() noexcept;

 private:
  Fenix_Data_subset subset_ = FENIX_SUBSET_NULL;
};

}  // namespace data
}  // namespace fenix

#endif
