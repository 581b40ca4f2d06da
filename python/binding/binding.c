/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The C part of the Python binding. It turns numbers into MPI handles and blocks into subsets, and keeps the variables that fenix
 * writes again after each repair. It is compiled by cffi, which releases the lock of the interpreter around each call. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <fenix.h>
#include <mpi-ext.h>

/* ---------------------------------------------------------------------------------------------------- processes */

static int own_role = FENIX_ROLE_INITIAL_RANK;
static int own_error = FENIX_SUCCESS;
static MPI_Comm own_comm = MPI_COMM_NULL;

static int fenix_py_init(int comm, int spares, int spawn, int info, int transparent) {
  return Fenix_Init_no_jump(&own_role, MPI_Comm_f2c(comm), transparent ? NULL : &own_comm, NULL, NULL, spares, spawn,
                            MPI_Info_f2c(info), &own_error);
}

/* Returns the folders of the MPI that this was built with. */
static const char* fenix_py_mpi(void) { return FENIX_PYTHON_MPI; }

static int fenix_py_comm(void) { return MPI_Comm_c2f(own_comm); }
static int fenix_py_role(void) { return own_role; }

/* Returns a number that each repair changes: the time when it was complete. */
static double fenix_py_generation(void) {
  double noticed;
  double repaired;
  return Fenix_Process_repair_times(&noticed, &repaired) == FENIX_SUCCESS ? repaired : 0.0;
}

static int fenix_py_set_option(int setting, unsigned option) { return Fenix_set_option((Fenix_Setting_name)setting, option); }
static int fenix_py_get_option(int setting, unsigned* option) {
  return Fenix_get_option((Fenix_Setting_name)setting, option);
}

static int fenix_py_rank_role(int comm, int rank, int* role) { return Fenix_Get_role(MPI_Comm_f2c(comm), rank, role); }
static int fenix_py_ranks_with_role(int comm, int role, int* number) {
  return Fenix_Get_number_of_ranks_with_role(MPI_Comm_f2c(comm), role, number);
}
static int fenix_py_rank_to_slot(int comm, int rank, int* slot) { return Fenix_rank_to_slot(MPI_Comm_f2c(comm), rank, slot); }
static int fenix_py_slot_to_rank(int comm, int slot, int* rank) { return Fenix_slot_to_rank(MPI_Comm_f2c(comm), slot, rank); }

static int fenix_py_repair_group(int old_group, int* new_group) {
  MPI_Group group = MPI_GROUP_NULL;
  const int code = Fenix_repair_group(MPI_Group_f2c(old_group), &group);
  if (code == FENIX_SUCCESS) *new_group = MPI_Group_c2f(group);
  return code;
}

/* The address of the handle in an object of mpi4py, because the call sets it to MPI_REQUEST_NULL. */
static int fenix_py_check_cancelled(void* request) { return Fenix_check_cancelled((MPI_Request*)request, MPI_STATUS_IGNORE); }

/* libfenix_mpi is not linked with this module: it has to come before MPI. Returns an error of MPI, or -1 without it. */
static int fenix_py_comm_persist(int comm, const char* key, int info, int* made) {
  int (*persist)(MPI_Comm, const char*, MPI_Info, MPI_Comm*) = NULL;
  MPI_Comm persistent = MPI_COMM_NULL;
  *(void**)&persist = dlsym(RTLD_DEFAULT, "MPI_Comm_persist");
  if (persist == NULL) return -1;
  const int error = persist(MPI_Comm_f2c(comm), key, MPI_Info_f2c(info), &persistent);
  *made = MPI_Comm_c2f(persistent);
  return error;
}

static int fenix_py_revoke(int comm) { return MPIX_Comm_revoke(MPI_Comm_f2c(comm)); }

static int fenix_py_is_failure(int error_class) {
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_PROC_FAILED_PENDING || error_class == MPIX_ERR_REVOKED;
}

static void fenix_py_on_recovery(int comm, int error, void* data);

static void call_back(MPI_Comm comm, int error, void* data) { fenix_py_on_recovery(MPI_Comm_c2f(comm), error, data); }

static int fenix_py_callback_register(int location, void* data) { return Fenix_Callback_register_at(call_back, data, location); }

/* State of Open MPI, where that shows it: 2 is in use, 5 is finalized. */
extern int ompi_mpi_state __attribute__((weak));

/* Lets MPI be finalized in a child of fork: mpi4py would call MPI_Finalize at its end, on the sockets and memory of the parent. */
static void fenix_py_forget_mpi(void) {
  enum { IN_USE = 2, FINALIZED = 5 };
  int finalized = 0;
  if (&ompi_mpi_state == NULL || ompi_mpi_state != IN_USE) return;
  ompi_mpi_state = FINALIZED;
  MPI_Finalized(&finalized);
  if (!finalized) ompi_mpi_state = IN_USE;
}

/* ------------------------------------------------------------------------------------------------------ members */

static int fenix_py_group_create(int id, int comm, int start, int depth, int policy, int* values, int* flag) {
  return Fenix_Data_group_create(id, MPI_Comm_f2c(comm), start, depth, policy, values, flag);
}

static int fenix_py_group_cohort(int id, int* group) {
  MPI_Group cohort = MPI_GROUP_NULL;
  const int code = Fenix_Data_group_get_cohort(id, &cohort);
  if (code == FENIX_SUCCESS) *group = MPI_Group_c2f(cohort);
  return code;
}

static void fenix_py_file_fail(void* file);
static int fenix_py_on_serialize(void* file, int direction, MPI_Count offset, MPI_Count count, void* buffer, void* data);

static void serialize(FILE* file, int direction, void* buffer, MPI_Count offset, MPI_Count count, void* data) {
  /* An exception cannot pass through here: a store notices the write that fails. */
  if (fenix_py_on_serialize(file, direction, offset, count, buffer, data) != 0 && direction == FENIX_SERIALIZE) {
    fenix_py_file_fail(file);
  }
}

static int fenix_py_member_make(int create, int group, int member, void* buffer, MPI_Count count, int datatype, void* serializer) {
  Fenix_Serialize_file_fn_c function = serializer != NULL ? serialize : NULL;
  MPI_Datatype type = MPI_Type_f2c(datatype);
  if (create) return Fenix_Data_member_fcreate_c(group, member, buffer, count, type, function, serializer);
  return Fenix_Data_member_fdefine_c(group, member, buffer, count, type, function, serializer);
}

static int fenix_py_member_allocate(int group, int member, MPI_Count count, int datatype, void** base) {
  return Fenix_Data_member_allocate_c(group, member, count, MPI_Type_f2c(datatype), base);
}

static int fenix_py_member_number(int group, int member, int attribute, int rank, MPI_Count* value) {
  return Fenix_Data_member_attr_get_c(group, member, attribute, value, NULL, rank);
}

static int fenix_py_member_datatype(int group, int member, int rank, int* datatype) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int code = Fenix_Data_member_attr_get_c(group, member, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, &type, NULL, rank);
  if (code == FENIX_SUCCESS) *datatype = MPI_Type_c2f(type);
  return code;
}

static int fenix_py_member_set_buffer(int group, int member, void* buffer) {
  return Fenix_Data_member_attr_set_c(group, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, buffer, NULL);
}

static int fenix_py_member_set_count(int group, int member, MPI_Count count) {
  return Fenix_Data_member_attr_set_c(group, member, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &count, NULL);
}

static int fenix_py_member_set_datatype(int group, int member, int datatype) {
  MPI_Datatype type = MPI_Type_f2c(datatype);
  return Fenix_Data_member_attr_set_c(group, member, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, &type, NULL);
}

/* ------------------------------------------------------------------------------------------------------ storing */

enum { FULL, EMPTY, PRESTAGED, BLOCKS };

typedef struct {
  int kind;
  MPI_Count number;
  const MPI_Count* first;
  const MPI_Count* last;
} fenix_py_subset;

static int make_subset(const fenix_py_subset* from, Fenix_Data_subset* subset) {
  switch (from->kind) {
    case FULL:
      *subset = FENIX_DATA_SUBSET_FULL;
      return FENIX_SUCCESS;
    case EMPTY:
      *subset = FENIX_DATA_SUBSET_EMPTY;
      return FENIX_SUCCESS;
    case PRESTAGED:
      *subset = FENIX_DATA_SUBSET_PRESTAGED;
      return FENIX_SUCCESS;
    default:
      return Fenix_Data_subset_createv_c(from->number, from->first, from->last, subset);
  }
}

/* Only blocks have to be deleted. The text of an error before stays the last one, because deleting makes none. */
static int end_subset(const fenix_py_subset* from, Fenix_Data_subset* subset, int code) {
  if (from->kind == BLOCKS) Fenix_Data_subset_delete(subset);
  return code;
}

static int fenix_py_store(int group, int member, const fenix_py_subset* from) {
  Fenix_Data_subset subset;
  const int code = make_subset(from, &subset);
  if (code != FENIX_SUCCESS) return code;
  return end_subset(from, &subset, Fenix_Data_member_store(group, member, subset));
}

static int fenix_py_istore(int group, int member, const fenix_py_subset* from, uint64_t* request) {
  Fenix_Data_subset subset;
  Fenix_Request handle = FENIX_REQUEST_NULL;
  int code = make_subset(from, &subset);
  if (code != FENIX_SUCCESS) return code;
  code = end_subset(from, &subset, Fenix_Data_member_istore(group, member, subset, &handle));
  *request = handle.impl;
  return code;
}

static int fenix_py_stage(int group, int member, const fenix_py_subset* from) {
  Fenix_Data_subset subset;
  const int code = make_subset(from, &subset);
  if (code != FENIX_SUCCESS) return code;
  return end_subset(from, &subset, Fenix_Data_member_stage(group, member, subset));
}

/* copied_bytes: so many bytes of memory are copied for the library, which takes over the copy; 0: memory is its own. */
static int fenix_py_stage_inplace(int group, int member, void* memory, size_t copied_bytes, const fenix_py_subset* from) {
  Fenix_Data_subset subset;
  void* copy = NULL;
  int code = make_subset(from, &subset);
  if (code != FENIX_SUCCESS) return code;
  if (copied_bytes > 0) {
    copy = malloc(copied_bytes);
    if (copy == NULL) return end_subset(from, &subset, FENIX_ERROR_NO_MEMORY);
    memcpy(copy, memory, copied_bytes);
    memory = copy;
  }
  code = end_subset(from, &subset, Fenix_Data_member_stage_inplace(group, member, memory, subset));
  if (code < FENIX_SUCCESS) free(copy);
  return code;
}

static int fenix_py_checkpoint(int group, const fenix_py_subset* from, int number, int* ids, int* time_stamp) {
  Fenix_Data_subset subset;
  const int code = make_subset(from, &subset);
  if (code != FENIX_SUCCESS) return code;
  return end_subset(from, &subset, Fenix_Data_checkpoint(group, subset, number, ids, time_stamp));
}

static int fenix_py_iflush(int group, int time_stamp, const char* name, uint64_t* request) {
  Fenix_Request handle = FENIX_REQUEST_NULL;
  const int code = Fenix_Data_iflush(group, time_stamp, name, &handle);
  *request = handle.impl;
  return code;
}

static int fenix_py_wait(uint64_t request) {
  Fenix_Request handle;
  handle.impl = request;
  return Fenix_Data_wait(handle);
}

static int fenix_py_test(uint64_t request, int* flag) {
  Fenix_Request handle;
  handle.impl = request;
  return Fenix_Data_test(handle, flag);
}

/* ---------------------------------------------------------------------------------------------------- restoring */

typedef struct {
  MPI_Count number;
  MPI_Count* blocks;
} fenix_py_found;

/* Writes the blocks of a subset that a restore has found, and deletes the subset. */
static int list_found(int code, Fenix_Data_subset* subset, fenix_py_found* found) {
  int failed;
  found->number = 0;
  found->blocks = NULL;
  if (code < FENIX_SUCCESS) return code;
  failed = Fenix_Data_subset_get_number_of_blocks(*subset, &found->number);
  found->blocks = malloc((size_t)(found->number + 1) * 2 * sizeof(MPI_Count));
  if (found->blocks == NULL) failed = FENIX_ERROR_NO_MEMORY;
  for (MPI_Count i = 0; failed == FENIX_SUCCESS && i < found->number; ++i) {
    failed = Fenix_Data_subset_get_block(*subset, i, &found->blocks[2 * i], &found->blocks[2 * i + 1]);
  }
  Fenix_Data_subset_delete(subset);
  return failed == FENIX_SUCCESS ? code : failed;
}

static void fenix_py_free(void* memory) { free(memory); }

static void* target_of(int in_place, void* target) { return in_place ? FENIX_DATA_RESTORE_INPLACE : target; }

static int fenix_py_restore(int group, int member, int in_place, void* target, MPI_Count count, int time_stamp,
                            fenix_py_found* found) {
  Fenix_Data_subset subset = FENIX_SUBSET_NULL;
  const int code = Fenix_Data_member_restore_c(group, member, target_of(in_place, target), count, time_stamp, &subset);
  return list_found(code, &subset, found);
}

static int fenix_py_restore_from(int group, int member, int in_place, void* target, MPI_Count count, int time_stamp, int rank,
                                 fenix_py_found* found) {
  Fenix_Data_subset subset = FENIX_SUBSET_NULL;
  const int code = Fenix_Data_member_restore_from_rank_c(group, member, target_of(in_place, target), count, time_stamp,
                                                         &subset, rank);
  return list_found(code, &subset, found);
}

static int fenix_py_load(int group, int member, int in_place, void* target, MPI_Count count, int time_stamp,
                         fenix_py_found* found) {
  Fenix_Data_subset subset = FENIX_SUBSET_NULL;
  const int code = Fenix_Data_member_load_to_c(group, member, target_of(in_place, target), count, time_stamp, &subset);
  return list_found(code, &subset, found);
}

/* -------------------------------------------------------------------------------------------------------- files */

static int fenix_py_stage_begin(int group, int member, void** file) {
  return Fenix_Data_member_stage_begin(group, member, (FILE**)file);
}

static int fenix_py_load_begin(int group, int member, int time_stamp, void** file, fenix_py_found* found) {
  Fenix_Data_subset subset = FENIX_SUBSET_NULL;
  const int code = Fenix_Data_member_load_begin(group, member, (FILE**)file, time_stamp, &subset);
  return list_found(code, &subset, found);
}

static long long result_of(FILE* file, size_t bytes, size_t wanted) {
  if (bytes < wanted && ferror(file)) {
    const int error = errno != 0 ? errno : EIO;
    clearerr(file);
    return -error;
  }
  return (long long)bytes;
}

/* These return bytes or a place, or the negative errno. */
static long long fenix_py_file_read(void* file, void* to, size_t bytes) {
  errno = 0;
  return result_of(file, fread(to, 1, bytes, file), bytes);
}

static long long fenix_py_file_write(void* file, const void* from, size_t bytes) {
  errno = 0;
  return result_of(file, fwrite(from, 1, bytes, file), bytes);
}

static long long fenix_py_file_seek(void* file, long long offset, int whence) {
  errno = 0;
  if (fseeko(file, (off_t)offset, whence) != 0) return -(errno != 0 ? errno : EIO);
  return (long long)ftello(file);
}

/* Makes the library see a write that has failed: there is no room so far out. */
static void fenix_py_file_fail(void* file) {
  if (fseeko(file, (off_t)INT64_MAX - 4096, SEEK_SET) == 0) (void)fputc(0, file);
}

/* ---------------------------------------------------------------------------------------------------- benchmark */

static double fenix_py_time_checkpoint(int group, int member) {
  const double begin = MPI_Wtime();
  int code = Fenix_Data_member_store(group, member, FENIX_DATA_SUBSET_FULL);
  if (code >= FENIX_SUCCESS) code = Fenix_Data_commit_barrier(group, FENIX_TIME_STAMP_IGNORE);
  return code < FENIX_SUCCESS ? code : MPI_Wtime() - begin;
}
