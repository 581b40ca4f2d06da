// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <limits>

#include "fortran/handles.hpp"

extern "C" {

void fenix_f_member_create(int group_id, int member_id, void* buffer, int count, int datatype, int* ierr) {
  *ierr = Fenix_Data_member_create(group_id, member_id, buffer, count, MPI_Type_f2c(datatype));
}

void fenix_f_member_fcreate(int group_id, int member_id, void* buffer, int count, int datatype,
                            Fenix_Serialize_file_fn serializer, void* ctx, int* ierr) {
  *ierr = Fenix_Data_member_fcreate(group_id, member_id, buffer, count, MPI_Type_f2c(datatype), serializer, ctx);
}

void fenix_f_member_define(int group_id, int member_id, void* buffer, int count, int datatype, int* ierr) {
  *ierr = Fenix_Data_member_define(group_id, member_id, buffer, count, MPI_Type_f2c(datatype));
}

void fenix_f_member_fdefine(int group_id, int member_id, void* buffer, int count, int datatype,
                            Fenix_Serialize_file_fn serializer, void* ctx, int* ierr) {
  *ierr = Fenix_Data_member_fdefine(group_id, member_id, buffer, count, MPI_Type_f2c(datatype), serializer, ctx);
}

void fenix_f_member_allocate(int group_id, int member_id, int count, int datatype, void** baseptr, int* ierr) {
  *ierr = Fenix_Data_member_allocate(group_id, member_id, count, MPI_Type_f2c(datatype), baseptr);
}

void fenix_f_member_created(int group_id, int member_id, int* flag, int* ierr) {
  split(Fenix_Data_member_created(group_id, member_id), flag, ierr);
}

void fenix_f_member_delete(int group_id, int member_id, int* ierr) {
  *ierr = Fenix_Data_member_delete(group_id, member_id);
}

void fenix_f_member_footprint(int group_id, int member_id, MPI_Count* bytes, int* ierr) {
  *ierr = Fenix_Data_member_footprint(group_id, member_id, bytes);
}

void fenix_f_member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                             int source_rank, int* ierr) {
  *flag = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  std::size_t bytes = 0;
  const bool handle = attribute_name == FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE;
  const bool size = attribute_name == FENIX_DATA_MEMBER_ATTRIBUTE_SIZE;
  void* value = attribute_value;
  if (handle) value = &datatype;
  if (size) value = &bytes;
  *ierr = Fenix_Data_member_attr_get(group_id, member_id, attribute_name, value, flag, source_rank);
  if (*flag == 0) return;
  if (handle) *static_cast<int*>(attribute_value) = MPI_Type_c2f(datatype);
  if (!size) return;
  if (bytes <= std::numeric_limits<int>::max()) {
    *static_cast<int*>(attribute_value) = static_cast<int>(bytes);
  } else {
    *flag = 0;
    *ierr = fenix_detail_refuse(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "attribute_value: more bytes than an integer has");
  }
}

void fenix_f_member_attr_set(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                             int* ierr) {
  *flag = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  const bool handle = attribute_name == FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE;
  if (handle) datatype = MPI_Type_f2c(*static_cast<int*>(attribute_value));
  *ierr = Fenix_Data_member_attr_set(group_id, member_id, attribute_name, handle ? &datatype : attribute_value, flag);
}

}  // extern "C"
