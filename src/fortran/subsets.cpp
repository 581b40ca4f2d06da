// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/handles.hpp"

extern "C" {

void fenix_f_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                           FortranSubset* subset_specifier, int* ierr) {
  *ierr = with_written_subset(subset_specifier, [=](Fenix_Data_subset* subset) {
    return Fenix_Data_subset_create(num_blocks, start_offset, end_offset, stride, subset);
  });
}

void fenix_f_subset_createv(int num_blocks, int* array_start_offsets, int* array_end_offsets,
                            FortranSubset* subset_specifier, int* ierr) {
  *ierr = with_written_subset(subset_specifier, [=](Fenix_Data_subset* subset) {
    return Fenix_Data_subset_createv(num_blocks, array_start_offsets, array_end_offsets, subset);
  });
}

void fenix_f_subset_delete(FortranSubset* subset_specifier, int* ierr) {
  *ierr = with_written_subset(subset_specifier, Fenix_Data_subset_delete);
}

void fenix_f_subset_get_number_of_blocks(const FortranSubset* subset, MPI_Count* number_of_blocks, int* ierr) {
  *ierr = Fenix_Data_subset_get_number_of_blocks(subset_to_c(*subset), number_of_blocks);
}

void fenix_f_subset_get_block(const FortranSubset* subset, MPI_Count position, MPI_Count* start_offset,
                              MPI_Count* end_offset, int* ierr) {
  *ierr = Fenix_Data_subset_get_block(subset_to_c(*subset), position, start_offset, end_offset);
}

}  // extern "C"
