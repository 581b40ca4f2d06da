/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Declarations that cffi reads. MPI handles are numbers here, as in Fortran: mpi4py gives them by py2f() and takes them by f2py(). */

typedef int... MPI_Count;

/* ------------------------------------------------------------------------------------------- called as they are */

int Fenix_Initialized(int* flag);
int Fenix_Finalized(int* flag);
int Fenix_Finalize(void);
int Fenix_get_error(void);
int Fenix_get_nspare(void);
int Fenix_get_slot(void);
int Fenix_get_number_of_ranks_with_role(int role, int* number_of_ranks);
int Fenix_Process_fail_list(int** fail_list);
int Fenix_Process_repair_times(double* noticed, double* repaired);
int Fenix_Process_detect_failures(int do_recovery);
int Fenix_Callback_pop_at(int location);
int Fenix_Callback_invoke_all_at(int location);
const char* Fenix_Error_message(void);

int Fenix_Data_group_created(int group_id);
int Fenix_Data_group_delete(int group_id);
int Fenix_Data_group_get_redundancy_policy(int group_id, int* policy_name, void* policy_value, int* flag);
int Fenix_Data_group_set_redundancy_policy(int group_id, int policy_name, void* policy_value, int* flag);
int Fenix_Data_group_set_hashing(int group_id, int hashing);
int Fenix_Data_group_get_hashing(int group_id, int* hashing);
int Fenix_Data_group_set_in_place(int group_id, int in_place);
int Fenix_Data_group_get_in_place(int group_id, int* in_place);
int Fenix_Data_group_get_number_of_members(int group_id, int* number_of_members);
int Fenix_Data_group_get_member_at_position(int group_id, int* member_id, int position);
int Fenix_Data_group_get_number_of_snapshots(int group_id, int* number_of_snapshots);
int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int* time_stamp);
int Fenix_Data_member_created(int group_id, int member_id);
int Fenix_Data_member_delete(int group_id, int member_id);
int Fenix_Data_member_footprint(int group_id, int member_id, MPI_Count* bytes);
int Fenix_Data_member_stage_memory(int group_id, int member_id, void** memory);
int Fenix_Data_member_stage_end(int group_id, int member_id);
int Fenix_Data_member_load_end(int group_id, int member_id);
int Fenix_Data_commit(int group_id, int* time_stamp);
int Fenix_Data_commit_barrier(int group_id, int* time_stamp);
int Fenix_Data_commit_cleanup(int group_id, int* time_stamp);
int Fenix_Data_cleanup(int group_id);
int Fenix_Data_barrier(int group_id);
int Fenix_Data_snapshot_delete(int group_id, int time_stamp);
int Fenix_Data_member_repair(int group_id, int member_id);
int Fenix_Data_verify(int group_id, int* num_mended, int* num_lost);

int Fenix_Data_flush(int group_id, int time_stamp, const char* name);
int Fenix_Data_flush_state(int group_id, int time_stamp, int* state, MPI_Count* bytes);
int Fenix_Data_group_set_flush(int group_id, int every);
int Fenix_Data_fetch(int group_id, const char* name, int* time_stamp);
int Fenix_Data_restart_done(int group_id, int good);
int Fenix_Data_get_number_of_datasets(int* number_of_datasets);
int Fenix_Data_get_dataset_at_position(int position, char* name, char* label, int* complete);
int Fenix_Data_dataset_delete(const char* name);
int Fenix_Data_dataset_set_current(const char* name);
int Fenix_Data_need_commit(int group_id, int* flag);
int Fenix_Process_should_halt(int* flag);
int Fenix_Process_halt(const char* reason);
int Fenix_Process_get_run(int* run, int* origin);

/* ------------------------------------------------------------------- with handles, files or subsets: binding.c */

int fenix_py_init(int comm, int spares, int spawn, int info, int transparent);
const char* fenix_py_mpi(void);
int fenix_py_comm(void);
int fenix_py_role(void);
double fenix_py_generation(void);
int fenix_py_set_option(int setting, unsigned option);
int fenix_py_get_option(int setting, unsigned* option);
int fenix_py_rank_role(int comm, int rank, int* role);
int fenix_py_ranks_with_role(int comm, int role, int* number);
int fenix_py_rank_to_slot(int comm, int rank, int* slot);
int fenix_py_slot_to_rank(int comm, int slot, int* rank);
int fenix_py_repair_group(int old_group, int* new_group);
int fenix_py_check_cancelled(void* request);
void fenix_py_forget_mpi(void);
int fenix_py_revoke(int comm);
int fenix_py_comm_persist(int comm, const char* key, int info, int* made);
int Fenix_Failure(int* flag);
int fenix_py_is_failure(int error_class);
int fenix_py_callback_register(int location, void* data);

int fenix_py_group_create(int id, int comm, int start, int depth, int policy, int* values, int* flag);
int fenix_py_group_cohort(int id, int* group);
int fenix_py_member_make(int create, int group, int member, void* buffer, MPI_Count count, int datatype, void* serializer);
int fenix_py_member_allocate(int group, int member, MPI_Count count, int datatype, void** base);
int fenix_py_member_number(int group, int member, int attribute, int rank, MPI_Count* value);
int fenix_py_member_datatype(int group, int member, int rank, int* datatype);
int fenix_py_member_set_buffer(int group, int member, void* buffer);
int fenix_py_member_set_count(int group, int member, MPI_Count count);
int fenix_py_member_set_datatype(int group, int member, int datatype);

typedef struct {
  int kind; /* 0: full, 1: empty, 2: prestaged, 3: blocks */
  MPI_Count number;
  const MPI_Count* first;
  const MPI_Count* last;
} fenix_py_subset;

int fenix_py_store(int group, int member, const fenix_py_subset* subset);
int fenix_py_istore(int group, int member, const fenix_py_subset* subset, uint64_t* request);
int fenix_py_stage(int group, int member, const fenix_py_subset* subset);
int fenix_py_stage_inplace(int group, int member, void* memory, size_t copied_bytes, const fenix_py_subset* subset);
int fenix_py_checkpoint(int group, const fenix_py_subset* subset, int number, int* ids, int* time_stamp);
int fenix_py_iflush(int group, int time_stamp, const char* name, uint64_t* request);
int fenix_py_wait(uint64_t request);
int fenix_py_test(uint64_t request, int* flag);

typedef struct {
  MPI_Count number;
  MPI_Count* blocks; /* first and last element of each; freed by fenix_py_free */
} fenix_py_found;

int fenix_py_restore(int group, int member, int in_place, void* target, MPI_Count count, int time_stamp, fenix_py_found* found);
int fenix_py_restore_from(int group, int member, int in_place, void* target, MPI_Count count, int time_stamp, int rank,
                          fenix_py_found* found);
int fenix_py_load(int group, int member, int in_place, void* target, MPI_Count count, int time_stamp, fenix_py_found* found);
void fenix_py_free(void* memory);

int fenix_py_stage_begin(int group, int member, void** file);
int fenix_py_load_begin(int group, int member, int time_stamp, void** file, fenix_py_found* found);
long long fenix_py_file_read(void* file, void* to, size_t bytes);
long long fenix_py_file_write(void* file, const void* from, size_t bytes);
long long fenix_py_file_seek(void* file, long long offset, int whence);
void fenix_py_file_fail(void* file);

/* Time of a store and commit made in C alone, for the benchmark: seconds, or a code of Fenix below 0. */
double fenix_py_time_checkpoint(int group, int member);

/* ------------------------------------------------------------------------------------------- called back from C */

extern "Python" void fenix_py_on_recovery(int comm, int error, void* data);
extern "Python" int fenix_py_on_serialize(void* file, int direction, MPI_Count offset, MPI_Count count, void* buffer, void* data);
