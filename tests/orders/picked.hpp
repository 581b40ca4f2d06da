// SPDX-License-Identifier: BSD-3-Clause
// Random subsets, in all forms of the interface.
#pragma once

#include <fenix.h>

#include <string>
#include <vector>

#include "orders/values.hpp"

namespace fenix_orders {

/// A subset, and the elements in it.
struct Picked {
  enum class Form { full, empty, regular, list, prestaged, null };

  Form form = Form::empty;
  std::vector<int> first;
  std::vector<int> last;
  int stride = 1;
  bool is_large = false;      ///< it is made by the functions with large counts
  std::vector<int> elements;  ///< ascending; those of prestaged are not known here

  /// Picks elements below limit. full: FENIX_DATA_SUBSET_FULL is one of the choices.
  static Picked some(Random& random, int limit, bool full);
  /// Makes a list of single elements.
  static Picked of(const std::vector<int>& elements);
  static Picked named(Form form, int count = 0);

  [[nodiscard]] std::string text() const;
  /// Calls use(subset), which returns a code.
  template <class Use>
  int with(Use&& use) const {
    Fenix_Data_subset subset = FENIX_SUBSET_NULL;
    if (form == Form::full) return use(FENIX_DATA_SUBSET_FULL);
    if (form == Form::empty) return use(FENIX_DATA_SUBSET_EMPTY);
    if (form == Form::prestaged) return use(FENIX_DATA_SUBSET_PRESTAGED);
    if (form == Form::null) return use(subset);
    make(subset);
    const int code = use(subset);
    Fenix_Data_subset_delete(&subset);
    return code;
  }

 private:
  void make(Fenix_Data_subset& subset) const;
  void fill_in(int limit);
};

/// Returns the elements of a subset below a limit.
std::vector<int> elements_of(Fenix_Data_subset subset, int limit);

}  // namespace fenix_orders
