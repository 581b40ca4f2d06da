/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Large counts: twins of the functions with int counts or offsets, with MPI_Count instead. Their contracts are those of the
 * functions without _c, in <fenix/data.h>.
 */
#ifndef FENIX_LARGE_H
#define FENIX_LARGE_H

#include <fenix/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Fenix_Serialize_file_fn with large counts. */
typedef void (*Fenix_Serialize_file_fn_c)(FILE* file, int direction, void* buffer, MPI_Count offset, MPI_Count count,
                                          void* ctx);

int Fenix_Data_member_create_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype);
int Fenix_Data_member_fcreate_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                                Fenix_Serialize_file_fn_c serializer, void* ctx);
int Fenix_Data_member_define_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype);
int Fenix_Data_member_fdefine_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                                Fenix_Serialize_file_fn_c serializer, void* ctx);

/** COUNT and SIZE are MPI_Count*. */
int Fenix_Data_member_attr_get_c(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                                 int source_rank);
/** COUNT is MPI_Count*. */
int Fenix_Data_member_attr_set_c(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag);

int Fenix_Data_subset_create_c(MPI_Count num_blocks, MPI_Count start_offset, MPI_Count end_offset, MPI_Count stride,
                               Fenix_Data_subset* subset_specifier);
int Fenix_Data_subset_createv_c(MPI_Count num_blocks, const MPI_Count* array_start_offsets,
                                const MPI_Count* array_end_offsets, Fenix_Data_subset* subset_specifier);

int Fenix_Data_member_restore_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                                Fenix_Data_subset* found_data);
int Fenix_Data_member_lrestore_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                                 Fenix_Data_subset* found_data);
int Fenix_Data_member_restore_from_rank_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count,
                                          int time_stamp, Fenix_Data_subset* found_data, int source_rank);
int Fenix_Data_member_load_to_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                                Fenix_Data_subset* found_data);

#ifdef __cplusplus
}
#endif

#endif
