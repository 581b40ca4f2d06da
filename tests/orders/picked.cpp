// SPDX-License-Identifier: BSD-3-Clause
#include "orders/picked.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace fenix_orders {

Picked Picked::named(Form form, int count) {
  Picked picked;
  picked.form = form;
  if (form != Form::full) return picked;
  picked.elements.resize(static_cast<std::size_t>(count));
  std::iota(picked.elements.begin(), picked.elements.end(), 0);
  return picked;
}

Picked Picked::of(const std::vector<int>& elements) {
  Picked picked;
  if (elements.empty()) return picked;
  picked.form = Form::list;
  picked.first = picked.last = picked.elements = elements;
  return picked;
}

Picked Picked::some(Random& random, int limit, bool full) {
  const int what = random.below(10);
  if (full && what < 3) return named(Form::full, limit);
  if (limit == 0 || what == 3) return named(Form::empty);
  Picked picked;
  picked.form = what < 7 ? Form::regular : Form::list;
  picked.is_large = random.one_in(2);
  const int blocks = 1 + random.below(4);
  if (picked.form == Form::regular) {
    const int first = random.below(limit);
    const int length = 1 + random.below(std::min(limit - first, 6));
    picked.stride = 1 + random.below(6);
    const int most = (limit - first - length) / picked.stride + 1;
    for (int block = 0; block < std::min(blocks, most); ++block) {
      picked.first.push_back(first + block * picked.stride);
      picked.last.push_back(picked.first.back() + length - 1);
    }
  } else {
    for (int block = 0; block < blocks; ++block) {
      picked.first.push_back(random.below(limit));
      picked.last.push_back(picked.first.back() + random.below(std::min(limit - picked.first.back(), 8)));
    }
  }
  std::set<int> elements;
  for (std::size_t block = 0; block < picked.first.size(); ++block) {
    for (int element = picked.first[block]; element <= picked.last[block]; ++element) elements.insert(element);
  }
  picked.elements.assign(elements.begin(), elements.end());
  return picked;
}

void Picked::make(Fenix_Data_subset& subset) const {
  const int blocks = static_cast<int>(first.size());
  const std::vector<MPI_Count> large_first(first.begin(), first.end());
  const std::vector<MPI_Count> large_last(last.begin(), last.end());
  if (form == Form::regular) {
    is_large ? Fenix_Data_subset_create_c(blocks, first[0], last[0], stride, &subset)
             : Fenix_Data_subset_create(blocks, first[0], last[0], stride, &subset);
  } else if (is_large) {
    Fenix_Data_subset_createv_c(blocks, large_first.data(), large_last.data(), &subset);
  } else {
    Fenix_Data_subset_createv(blocks, const_cast<int*>(first.data()), const_cast<int*>(last.data()), &subset);
  }
}

std::string Picked::text() const {
  constexpr const char* names[] = {"FULL", "EMPTY", "", "", "PRESTAGED", "NULL"};
  if (form != Form::regular && form != Form::list) return names[static_cast<int>(form)];
  std::string text = "{";
  for (std::size_t block = 0; block < first.size(); ++block) {
    if (block > 0) text += ",";
    text += std::to_string(first[block]);
    if (last[block] != first[block]) text += "-" + std::to_string(last[block]);
  }
  return text + "}";
}

std::vector<int> elements_of(Fenix_Data_subset subset, int limit) {
  MPI_Count blocks = 0;
  Fenix_Data_subset_get_number_of_blocks(subset, &blocks);
  std::vector<int> elements;
  for (MPI_Count block = 0; block < blocks; ++block) {
    MPI_Count first = 0;
    MPI_Count last = 0;
    Fenix_Data_subset_get_block(subset, block, &first, &last);
    for (MPI_Count element = first; element <= std::min<MPI_Count>(last, limit); ++element)
      elements.push_back(static_cast<int>(element));
  }
  return elements;
}

}  // namespace fenix_orders
