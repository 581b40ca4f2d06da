// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/handles.hpp"

extern "C" {

void fenix_f_member_create_c(int group_id, int member_id, void* buffer, MPI_Count count, int datatype, int* ierr) {
  *ierr = Fenix_Data_member_create_c(group_id, member_id, buffer, count, MPI_Type_f2c(datatype));
}

void fenix_f_member_fcreate_c(int group_id, int member_id, void* buffer, MPI_Count count, int datatype,
                              Fenix_Serialize_file_fn_c serializer, void* ctx, int* ierr) {
  *ierr = Fenix_Data_member_fcreate_c(group_id, member_id, buffer, count, MPI_Type_f2c(datatype), serializer, ctx);
}

void fenix_f_member_allocate_c(int group_id, int member_id, MPI_Count count, int datatype, void** baseptr, int* ierr) {
  *ierr = Fenix_Data_member_allocate_c(group_id, member_id, count, MPI_Type_f2c(datatype), baseptr);
}

void fenix_f_member_define_c(int group_id, int member_id, void* buffer, MPI_Count count, int datatype, int* ierr) {
  *ierr = Fenix_Data_member_define_c(group_id, member_id, buffer, count, MPI_Type_f2c(datatype));
}

void fenix_f_member_fdefine_c(int group_id, int member_id, void* buffer, MPI_Count count, int datatype,
                              Fenix_Serialize_file_fn_c serializer, void* ctx, int* ierr) {
  *ierr = Fenix_Data_member_fdefine_c(group_id, member_id, buffer, count, MPI_Type_f2c(datatype), serializer, ctx);
}

void fenix_f_member_attr_get_c(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                               int source_rank, int* ierr) {
  *flag = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  const bool handle = attribute_name == FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE;
  *ierr = Fenix_Data_member_attr_get_c(group_id, member_id, attribute_name, handle ? &datatype : attribute_value, flag,
                                       source_rank);
  if (handle && *flag != 0) *static_cast<int*>(attribute_value) = MPI_Type_c2f(datatype);
}

void fenix_f_member_attr_set_c(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                               int* ierr) {
  *flag = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  const bool handle = attribute_name == FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE;
  if (handle) datatype = MPI_Type_f2c(*static_cast<int*>(attribute_value));
  *ierr = Fenix_Data_member_attr_set_c(group_id, member_id, attribute_name, handle ? &datatype : attribute_value, flag);
}

void fenix_f_subset_create_c(MPI_Count num_blocks, MPI_Count start_offset, MPI_Count end_offset, MPI_Count stride,
                             FortranSubset* subset_specifier, int* ierr) {
  *ierr = with_written_subset(subset_specifier, [=](Fenix_Data_subset* subset) {
    return Fenix_Data_subset_create_c(num_blocks, start_offset, end_offset, stride, subset);
  });
}

void fenix_f_subset_createv_c(MPI_Count num_blocks, const MPI_Count* array_start_offsets,
                              const MPI_Count* array_end_offsets, FortranSubset* subset_specifier, int* ierr) {
  *ierr = with_written_subset(subset_specifier, [=](Fenix_Data_subset* subset) {
    return Fenix_Data_subset_createv_c(num_blocks, array_start_offsets, array_end_offsets, subset);
  });
}

void fenix_f_member_restore_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                              FortranSubset* found_data, int* ierr) {
  *ierr = with_written_subset(found_data, [=](Fenix_Data_subset* found) {
    return Fenix_Data_member_restore_c(group_id, member_id, target_buffer, max_count, time_stamp, found);
  });
}

void fenix_f_member_lrestore_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                               FortranSubset* found_data, int* ierr) {
  *ierr = with_written_subset(found_data, [=](Fenix_Data_subset* found) {
    return Fenix_Data_member_lrestore_c(group_id, member_id, target_buffer, max_count, time_stamp, found);
  });
}

void fenix_f_member_restore_from_rank_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count,
                                        int time_stamp, FortranSubset* found_data, int source_rank, int* ierr) {
  *ierr = with_written_subset(found_data, [=](Fenix_Data_subset* found) {
    return Fenix_Data_member_restore_from_rank_c(group_id, member_id, target_buffer, max_count, time_stamp, found,
                                                 source_rank);
  });
}

void fenix_f_member_load_to_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                              FortranSubset* found_data, int* ierr) {
  *ierr = with_written_subset(found_data, [=](Fenix_Data_subset* found) {
    return Fenix_Data_member_load_to_c(group_id, member_id, target_buffer, max_count, time_stamp, found);
  });
}

}  // extern "C"
