// SPDX-License-Identifier: BSD-3-Clause
//
// C++: sets of elements of a member, as values.
#ifndef FENIX_CXX_DATA_SUBSET_HPP
#define FENIX_CXX_DATA_SUBSET_HPP

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../data.h"

namespace fenix {

/// Set of elements: Fenix_Data_subset of C, with the operations of sets. Local; needs no Fenix_Init. Bounds are
/// inclusive. Constructors throw std::invalid_argument if the last element comes before the first, if the stride of
/// several blocks is 0, and for an index beyond MAX.
class DataSubset {
 public:
  using Bounds = std::pair<std::size_t, std::size_t>;  ///< first and last element
  /// Kind of a set.
  enum SubsetType {
    BasicSubset,     ///< its elements are known
    PrestagedSubset  ///< the elements that were staged: FENIX_DATA_SUBSET_PRESTAGED of C
  };

  /// Value of the last element of a set without an end. A stage or a store cuts such a set to a member of fixed count.
  static constexpr std::size_t MAX = std::numeric_limits<std::size_t>::max();

  /// Makes a set without elements.
  DataSubset() = default;
  /// Makes the set [0, end].
  /// @param end last element, or MAX
  explicit DataSubset(std::size_t end);
  /// Makes the set [bounds.first, bounds.second].
  /// @param bounds first and last element
  DataSubset(Bounds bounds);  // NOLINT(google-explicit-constructor): as in the current Fenix
  /// Makes a set of n blocks: bounds, and bounds shifted by stride, by 2 × stride, …. They may overlap.
  /// @param bounds first and last element of the first block
  /// @param n number of blocks; 0: no element
  /// @param stride elements from the start of one block to the next
  DataSubset(Bounds bounds, std::size_t n, std::size_t stride);
  /// Makes a set of blocks in any order. They may overlap.
  /// @param bounds first and last element of each block
  DataSubset(const std::vector<Bounds>& bounds);  // NOLINT(google-explicit-constructor)
  /// Makes a set of n blocks [first[i], last[i]] in any order. They may overlap.
  /// @param n number of blocks
  /// @param first n numbers: first element of each block
  /// @param last n numbers: last element of each block
  DataSubset(int n, const int* first, const int* last);
  /// Makes the union of two sets.
  /// @param a, b sets whose elements are known
  DataSubset(const DataSubset& a, const DataSubset& b);
  /// Makes a copy of a subset of the C interface. Throws std::invalid_argument for FENIX_SUBSET_NULL.
  /// @param subset stays with its owner
  DataSubset(const Fenix_Data_subset& subset);  // NOLINT(google-explicit-constructor)
  /// Makes a set of this kind, without known elements. A PrestagedSubset can be compared, copied and stored. Union,
  /// difference and intersection with it throw std::invalid_argument, and queries find no element.
  /// @param type PrestagedSubset is FENIX_DATA_SUBSET_PRESTAGED of C
  explicit DataSubset(SubsetType type) : type_(type) {}

  /// Makes the union.
  /// @param other a set, or a Fenix_Data_subset, which is converted
  /// @return elements of this set or of other
  DataSubset operator+(const DataSubset& other) const;
  /// Adds the elements of another set.
  /// @param other a set, or a Fenix_Data_subset, which is converted
  /// @return this set
  DataSubset& operator+=(const DataSubset& other);
  /// Makes the difference.
  /// @param other a set, or a Fenix_Data_subset, which is converted
  /// @return elements of this set that are not in other
  DataSubset operator-(const DataSubset& other) const;
  /// Makes the intersection (new).
  /// @param other a set, or a Fenix_Data_subset, which is converted
  /// @return elements of this set that are also in other
  DataSubset operator&(const DataSubset& other) const;
  /// Compares.
  /// @param other a set, or a Fenix_Data_subset, which is converted
  /// @return whether kind and elements are the same
  bool operator==(const DataSubset& other) const { return type_ == other.type_ && blocks_ == other.blocks_; }
  /// Compares.
  /// @param other a set, or a Fenix_Data_subset, which is converted
  /// @return whether kind or elements differ
  bool operator!=(const DataSubset& other) const { return !(*this == other); }

  /// Tells whether the set has no element.
  /// @return false for a PrestagedSubset
  [[nodiscard]] bool empty() const { return type_ == BasicSubset && blocks_.empty(); }
  /// Tells whether this is a PrestagedSubset.
  /// @return true if it is
  [[nodiscard]] bool is_prestaged() const { return type_ == PrestagedSubset; }
  /// Gets the first and the last element.
  /// @return {0, 0} if there is no element
  [[nodiscard]] Bounds range() const { return {start(), end()}; }
  /// Gets the first element.
  /// @return 0 if there is no element
  [[nodiscard]] std::size_t start() const { return blocks_.empty() ? 0 : blocks_.front().first; }
  /// Gets the last element.
  /// @return MAX if the set has no end, 0 if there is no element
  [[nodiscard]] std::size_t end() const { return blocks_.empty() ? 0 : blocks_.back().second; }
  /// Tells whether the set has an end.
  /// @return false if end() is MAX
  [[nodiscard]] bool is_bounded() const { return end() != MAX; }

  /// Counts the elements in [0, max_index].
  /// @param max_index last index that counts; MAX: all
  /// @return their number; 0 if max_index is MAX and the set has no end
  [[nodiscard]] std::size_t count(std::size_t max_index = MAX) const;
  /// Gets the size of a buffer that has room for all elements.
  /// @return end() + 1, in elements; 0 if the set has no end or no element
  [[nodiscard]] std::size_t max_count() const { return blocks_.empty() || !is_bounded() ? 0 : end() + 1; }

  /// Tells whether an element is in the set.
  /// @param index the element
  /// @return true if it is
  [[nodiscard]] bool includes(std::size_t index) const;
  /// Tells whether all of [0, end] is in the set.
  /// @param end last element
  /// @return true if it is
  [[nodiscard]] bool includes_all(std::size_t end) const;

  /// Makes the set of the elements in [0, max_index].
  /// @param max_index last index that is kept
  /// @return the new set; a PrestagedSubset remains as it is
  [[nodiscard]] DataSubset bounded(std::size_t max_index) const;
  /// Removes the elements beyond max_index, as bounded() does, in place.
  /// @param max_index last index that is kept
  /// @return this set
  DataSubset& bound(std::size_t max_index) { return *this = bounded(max_index); }

  /// Gets the blocks (new).
  /// @return blocks in ascending order, disjoint, not adjacent; valid until the set changes
  [[nodiscard]] const std::vector<Bounds>& blocks() const { return blocks_; }
  /// Describes the set for a reader.
  /// @return a text such as "[0, 4] [7, 7] [9, end)", "[]", "prestaged"
  [[nodiscard]] std::string str() const;

 private:
  /// Sorts the blocks and joins those that overlap or touch.
  void normalise();

  std::vector<Bounds> blocks_;
  SubsetType type_ = BasicSubset;
};

namespace data {

/// All elements, [0, MAX]: FENIX_DATA_SUBSET_FULL of C.
extern const DataSubset SUBSET_FULL;
/// No element: FENIX_DATA_SUBSET_EMPTY of C.
extern const DataSubset SUBSET_EMPTY;
/// The elements that were staged: FENIX_DATA_SUBSET_PRESTAGED of C.
extern const DataSubset SUBSET_PRESTAGED;
/// As data_found: the caller does not need the elements found. FENIX_DATA_SUBSET_IGNORE of C. Recognised by its
/// address; never written.
extern DataSubset SUBSET_IGNORE;

/// Owner of a Fenix_Data_subset, for programs that pass subsets to functions of the C interface (new).
class Subset {
 public:
  /// Owns nothing.
  Subset() = default;
  /// Takes over a subset of the C interface. The constants FENIX_DATA_SUBSET_… may be taken over, too.
  /// @param owned subset that this object deletes from now on
  explicit Subset(Fenix_Data_subset owned) : subset_(owned) {}
  /// Creates a subset of the C interface. Throws RuntimeException.
  /// @param elements its elements
  explicit Subset(const DataSubset& elements);
  /// Takes over the subset of another owner.
  /// @param other owns nothing afterwards
  Subset(Subset&& other) noexcept : subset_(other.release()) {}
  /// Deletes its subset, and takes over that of another owner.
  /// @param other owns nothing afterwards
  /// @return this object
  Subset& operator=(Subset&& other) noexcept;
  /// Deletes the subset.
  ~Subset() { reset(); }

  /// Gets the subset, which stays owned by this object.
  /// @return FENIX_SUBSET_NULL if it owns nothing
  [[nodiscard]] Fenix_Data_subset get() const { return subset_; }
  /// Gives the subset away.
  /// @return the subset, owned by the caller from now on; FENIX_SUBSET_NULL if there is none
  Fenix_Data_subset release() noexcept;
  /// Deletes the subset.
  void reset() noexcept;
  /// Deletes the subset, and makes room for another one. For output arguments of the C interface.
  /// @return address to which the new subset is written
  Fenix_Data_subset* out() noexcept;

 private:
  Fenix_Data_subset subset_ = FENIX_SUBSET_NULL;
};

}  // namespace data
}  // namespace fenix

#endif
