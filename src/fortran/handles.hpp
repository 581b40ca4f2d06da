// SPDX-License-Identifier: BSD-3-Clause
// Common part of the procedures with bind(C): types of Fortran, and their conversion to types of C. The procedures have
// the names and arguments of their interfaces in the .f90 file of the same name.
#pragma once

#include <fenix.hpp>

#include <bit>
#include <cstdint>

#include "api/c/fortran.hpp"

static_assert(sizeof(MPI_Fint) == sizeof(int), "INTEGER of Fortran is int");
static_assert(sizeof(MPI_Count) == sizeof(std::int64_t), "MPI_COUNT_KIND is c_int64_t");

/// Fenix_Recover_fn of types.f90. Its arguments are a communicator of Fortran, an MPI error, and callback_data.
using FortranRecover = void (*)(int, int, void*);

/// Fenix_Data_subset of types.f90.
struct FortranSubset {
  std::intptr_t impl;
};

/// Values of FortranSubset::impl for the subsets that are constants. Other values are addresses.
enum FortranSubsetConstant : std::intptr_t { kIgnore = -1, kNull, kFull, kEmpty, kPrestaged };

inline Fenix_Data_subset subset_to_c(FortranSubset subset) {
  switch (subset.impl) {
    case kNull:
      return FENIX_SUBSET_NULL;
    case kFull:
      return FENIX_DATA_SUBSET_FULL;
    case kEmpty:
      return FENIX_DATA_SUBSET_EMPTY;
    case kPrestaged:
      return FENIX_DATA_SUBSET_PRESTAGED;
    default:
      return {std::bit_cast<const void*>(subset.impl)};
  }
}

inline FortranSubset subset_to_fortran(Fenix_Data_subset subset) {
  if (subset.impl == FENIX_SUBSET_NULL.impl) return {kNull};
  if (subset.impl == FENIX_DATA_SUBSET_FULL.impl) return {kFull};
  if (subset.impl == FENIX_DATA_SUBSET_EMPTY.impl) return {kEmpty};
  if (subset.impl == FENIX_DATA_SUBSET_PRESTAGED.impl) return {kPrestaged};
  return {std::bit_cast<std::intptr_t>(subset.impl)};
}

/// Calls call with the subset as a subset of C, which call may write. An absent subset becomes NULL. No object here has
/// a destructor, as runtime/entry.hpp demands.
template <class Call>
int with_written_subset(FortranSubset* subset, Call&& call) {
  if (subset == nullptr || subset->impl == kIgnore) return call(nullptr);
  Fenix_Data_subset c = subset_to_c(*subset);
  const int code = call(&c);
  *subset = subset_to_fortran(c);
  return code;
}

/// Splits a result of C that is either a number or a negative error.
inline void split(int result, int* number, int* ierr) {
  *number = result < 0 ? 0 : result;
  *ierr = result < 0 ? result : FENIX_SUCCESS;
}
