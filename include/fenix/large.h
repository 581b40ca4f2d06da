/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Large counts: twins of the functions with int counts or offsets, with MPI_Count instead of int. Their contracts are
 * those of the functions without _c, in <fenix/data.h>.
 */
#ifndef FENIX_LARGE_H
#define FENIX_LARGE_H

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes elements of a member to a file or reads them from it, as Fenix_Serialize_file_fn does, with large counts.
 * @param[in] file, direction, buffer, ctx as for Fenix_Serialize_file_fn
 * @param[in] offset                       first element
 * @param[in] count                        elements; 0 as for Fenix_Serialize_file_fn
 */
typedef void (*Fenix_Serialize_file_fn_c)(FILE* file, int direction, void* buffer, MPI_Count offset, MPI_Count count,
                                          void* ctx);

/**
 * Adds a member to a group, as Fenix_Data_member_create does.
 * @param[in] group_id, member_id, buffer, datatype as for Fenix_Data_member_create
 * @param[in] count                                 elements, ≥ 0, or FENIX_RESIZEABLE
 * @return as Fenix_Data_member_create.
 */
int Fenix_Data_member_create_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype);

/**
 * Adds a member with a serializer to a group, as Fenix_Data_member_fcreate does.
 * @param[in] group_id, member_id, buffer, datatype, ctx as for Fenix_Data_member_fcreate
 * @param[in] count                                      elements, ≥ 0, or FENIX_RESIZEABLE
 * @param[in] serializer                                 takes large counts; NULL: plain copies
 * @return as Fenix_Data_member_fcreate.
 */
int Fenix_Data_member_fcreate_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                                Fenix_Serialize_file_fn_c serializer, void* ctx);

/**
 * Creates or changes a member, as Fenix_Data_member_define does.
 * @param[in] group_id, member_id, buffer, datatype as for Fenix_Data_member_define
 * @param[in] count                                 elements, ≥ 0, or FENIX_RESIZEABLE
 * @return as Fenix_Data_member_define.
 */
int Fenix_Data_member_define_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype);

/**
 * Creates a member with a buffer whose memory the library has, as Fenix_Data_member_allocate does.
 * @param[in]  group_id, member_id, datatype as for Fenix_Data_member_allocate
 * @param[in]  count                         elements, ≥ 0
 * @param[out] baseptr                       as for Fenix_Data_member_allocate
 * @return as Fenix_Data_member_allocate.
 */
int Fenix_Data_member_allocate_c(int group_id, int member_id, MPI_Count count, MPI_Datatype datatype, void* baseptr);

/**
 * Creates or changes a member and its serializer, as Fenix_Data_member_fdefine does.
 * @param[in] group_id, member_id, buffer, datatype, ctx as for Fenix_Data_member_fdefine
 * @param[in] count                                      elements, ≥ 0, or FENIX_RESIZEABLE
 * @param[in] serializer                                 takes large counts; NULL: plain copies
 * @return as Fenix_Data_member_fdefine.
 */
int Fenix_Data_member_fdefine_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                                Fenix_Serialize_file_fn_c serializer, void* ctx);

/**
 * Gets an attribute of a member, as Fenix_Data_member_attr_get does.
 * @param[in]  group_id, member_id, attribute_name, source_rank as for Fenix_Data_member_attr_get
 * @param[out] flag                                             as for Fenix_Data_member_attr_get
 * @param[out] attribute_value                                  MPI_Count* for COUNT and SIZE; other types as for
 *                                                              Fenix_Data_member_attr_get
 * @return as Fenix_Data_member_attr_get.
 */
int Fenix_Data_member_attr_get_c(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                                 int source_rank);

/**
 * Sets an attribute of a member, as Fenix_Data_member_attr_set does.
 * @param[in]  group_id, member_id, attribute_name as for Fenix_Data_member_attr_set
 * @param[in]  attribute_value                     MPI_Count* for COUNT; other types as for Fenix_Data_member_attr_set
 * @param[out] flag                                as for Fenix_Data_member_attr_set
 * @return as Fenix_Data_member_attr_set.
 */
int Fenix_Data_member_attr_set_c(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag);

/**
 * Creates a subset of regular blocks, as Fenix_Data_subset_create does.
 * @param[in]  num_blocks, start_offset, end_offset, stride as for Fenix_Data_subset_create
 * @param[out] subset_specifier                             as for Fenix_Data_subset_create
 * @return as Fenix_Data_subset_create.
 */
int Fenix_Data_subset_create_c(MPI_Count num_blocks, MPI_Count start_offset, MPI_Count end_offset, MPI_Count stride,
                               Fenix_Data_subset* subset_specifier);

/**
 * Creates a subset of any blocks, as Fenix_Data_subset_createv does.
 * @param[in]  num_blocks, array_start_offsets, array_end_offsets as for Fenix_Data_subset_createv
 * @param[out] subset_specifier                                   as for Fenix_Data_subset_createv
 * @return as Fenix_Data_subset_createv.
 */
int Fenix_Data_subset_createv_c(MPI_Count num_blocks, const MPI_Count* array_start_offsets,
                                const MPI_Count* array_end_offsets, Fenix_Data_subset* subset_specifier);

/**
 * Restores a member, as Fenix_Data_member_restore does.
 * @param[in]  group_id, member_id, time_stamp as for Fenix_Data_member_restore
 * @param[in]  max_count                       elements that are wanted, ≥ 0, or FENIX_DATA_RESTORE_FULL
 * @param[out] target_buffer, found_data       as for Fenix_Data_member_restore
 * @return as Fenix_Data_member_restore.
 */
int Fenix_Data_member_restore_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                                Fenix_Data_subset* found_data);

/**
 * Restores a member from this rank's own copy, as Fenix_Data_member_lrestore does.
 * @param[in]  group_id, member_id, time_stamp as for Fenix_Data_member_lrestore
 * @param[in]  max_count                       elements that are wanted, ≥ 0, or FENIX_DATA_RESTORE_FULL
 * @param[out] target_buffer, found_data       as for Fenix_Data_member_lrestore
 * @return as Fenix_Data_member_lrestore.
 */
int Fenix_Data_member_lrestore_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                                 Fenix_Data_subset* found_data);

/**
 * Restores the member of another rank, as Fenix_Data_member_restore_from_rank does.
 * @param[in]  group_id, member_id, time_stamp, source_rank as for Fenix_Data_member_restore_from_rank
 * @param[in]  max_count                                    elements that are wanted, ≥ 0, or FENIX_DATA_RESTORE_FULL
 * @param[out] target_buffer, found_data                    as for Fenix_Data_member_restore_from_rank
 * @return as Fenix_Data_member_restore_from_rank.
 */
int Fenix_Data_member_restore_from_rank_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count,
                                          int time_stamp, Fenix_Data_subset* found_data, int source_rank);

/**
 * Restores a member from this rank's own copy, as Fenix_Data_member_load_to does.
 * @param[in]  group_id, member_id, time_stamp as for Fenix_Data_member_load_to
 * @param[in]  max_count                       elements that are wanted, ≥ 0, or FENIX_DATA_RESTORE_FULL
 * @param[out] target_buffer, found_data       as for Fenix_Data_member_load_to
 * @return as Fenix_Data_member_load_to.
 */
int Fenix_Data_member_load_to_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                                Fenix_Data_subset* found_data);

#ifdef __cplusplus
}
#endif

#endif
