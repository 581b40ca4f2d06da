// SPDX-License-Identifier: BSD-3-Clause
// Every function of the interface, for what holds for all of them.
#include "rows.hpp"

#include <cstdlib>

namespace bad_input {
namespace {

using Needs = Function::Needs;

double target[kCount];
int number = 0;
MPI_Group processes = MPI_GROUP_NULL;
MPI_Count large_number = 0;
FILE* file = nullptr;
Fenix_Request request{};

void forget(MPI_Comm, int, void*) {}

std::vector<Function> process_functions() {
  return {
      {"Fenix_Finalize", Needs::init, false, [](int, int) { return Fenix_Finalize(); }},
      {"Fenix_Callback_register", Needs::init, false,
       [](int, int) { return Fenix_Callback_register(forget, nullptr); }},
      {"Fenix_Callback_pop", Needs::init, false, [](int, int) { return Fenix_Callback_pop(); }},
      {"Fenix_Callback_invoke_all", Needs::init, false, [](int, int) { return Fenix_Callback_invoke_all(); }},
      {"Fenix_Callback_register_at", Needs::init, false,
       [](int, int) { return Fenix_Callback_register_at(forget, nullptr, FENIX_CALLBACK_PRE_RECOVERY); }},
      {"Fenix_Callback_pop_at", Needs::init, false,
       [](int, int) { return Fenix_Callback_pop_at(FENIX_CALLBACK_PRE_RECOVERY); }},
      {"Fenix_Callback_invoke_all_at", Needs::init, false,
       [](int, int) { return Fenix_Callback_invoke_all_at(FENIX_CALLBACK_PRE_RECOVERY); }},
      {"Fenix_get_slot", Needs::init, false, [](int, int) { return Fenix_get_slot(); }},
      {"Fenix_rank_to_slot", Needs::init, false,
       [](int, int) { return Fenix_rank_to_slot(MPI_COMM_WORLD, 0, &number); }},
      {"Fenix_slot_to_rank", Needs::init, false,
       [](int, int) { return Fenix_slot_to_rank(MPI_COMM_WORLD, 0, &number); }},
      {"Fenix_repair_group", Needs::init, false,
       [](int, int) { return Fenix_repair_group(MPI_GROUP_EMPTY, &processes); }},
      {"Fenix_Mlog_create", Needs::init, false, [](int, int) { return Fenix_Mlog_create(0, &comm, 1); }},
      {"Fenix_Mlog_activate", Needs::init, false, [](int, int) { return Fenix_Mlog_activate(0); }},
      {"Fenix_Mlog_active", Needs::init, false, [](int, int) { return Fenix_Mlog_active(&number); }},
      {"Fenix_Mlog_begin_region", Needs::init, false, [](int, int) { return Fenix_Mlog_begin_region(0, 0); }},
      {"Fenix_Mlog_activate_region", Needs::init, false, [](int, int) { return Fenix_Mlog_activate_region(0, 0); }},
      {"Fenix_Mlog_sync", Needs::init, false, [](int, int) { return Fenix_Mlog_sync(0, 0); }},
      {"Fenix_Mlog_create_data_member", Needs::init, false,
       [](int group, int member) { return Fenix_Mlog_create_data_member(0, group, member); }},
      {"Fenix_Mlog_define_data_member", Needs::init, false,
       [](int group, int member) { return Fenix_Mlog_define_data_member(0, group, member); }},
      {"Fenix_Mlog_stage", Needs::init, false,
       [](int group, int member) { return Fenix_Mlog_stage(0, group, member); }},
      {"Fenix_Mlog_lrestore", Needs::init, false,
       [](int group, int member) { return Fenix_Mlog_lrestore(0, group, member, 0); }},
      {"Fenix_Mlog_delete", Needs::init, false, [](int, int) { return Fenix_Mlog_delete(0); }},
      {"Fenix_Checkpoint_begin", Needs::init, false,
       [](int group, int member) { return Fenix_Checkpoint_begin(group, member, 4096, &number); }},
      {"Fenix_Checkpoint_request", Needs::init, false, [](int, int) { return Fenix_Checkpoint_request(); }},
      {"Fenix_Checkpoint_potential", Needs::init, false, [](int, int) { return Fenix_Checkpoint_potential(&number); }},
      {"Fenix_Checkpoint_count", Needs::init, false, [](int, int) { return Fenix_Checkpoint_count(&number); }},
      {"Fenix_Checkpoint_finish", Needs::init, false, [](int, int) { return Fenix_Checkpoint_finish(); }},
      {"Fenix_get_error", Needs::init, false, [](int, int) { return Fenix_get_error(); }},
      {"Fenix_get_nspare", Needs::init, false, [](int, int) { return Fenix_get_nspare(); }},
      {"Fenix_Get_role", Needs::init, false, [](int, int) { return Fenix_Get_role(MPI_COMM_WORLD, 0, &number); }},
      {"Fenix_get_rank_role", Needs::init, false,
       [](int, int) { return Fenix_get_rank_role(MPI_COMM_WORLD, 0, &number); }},
      {"Fenix_Get_number_of_ranks_with_role", Needs::init, false,
       [](int, int) { return Fenix_Get_number_of_ranks_with_role(MPI_COMM_WORLD, FENIX_ROLE_INITIAL_RANK, &number); }},
      {"Fenix_get_number_of_ranks_with_role", Needs::init, false,
       [](int, int) { return Fenix_get_number_of_ranks_with_role(FENIX_ROLE_INITIAL_RANK, &number); }},
      {"Fenix_Process_fail_list", Needs::init, false,
       [](int, int) {
         int* list = nullptr;
         return Fenix_Process_fail_list(&list);
       }},
      {"Fenix_Process_repair_times", Needs::init, false,
       [](int, int) { return Fenix_Process_repair_times(target, target + 1); }},
      {"Fenix_Process_detect_failures", Needs::init, false, [](int, int) { return Fenix_Process_detect_failures(1); }},
      {"Fenix_Failure", Needs::init, false, [](int, int) { return Fenix_Failure(&number); }},
      {"Fenix_check_cancelled", Needs::init, false,
       [](int, int) {
         MPI_Request none = MPI_REQUEST_NULL;
         return Fenix_check_cancelled(&none, MPI_STATUS_IGNORE);
       }},
      // May be called at any time.
      {"Fenix_Initialized", Needs::nothing, false, [](int, int) { return Fenix_Initialized(&number); }},
      {"Fenix_Finalized", Needs::nothing, false, [](int, int) { return Fenix_Finalized(&number); }},
      {"Fenix_set_option", Needs::nothing, false,
       [](int, int) { return Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_JUMP); }},
      {"Fenix_get_option", Needs::nothing, false,
       [](int, int) {
         unsigned option = 0;
         return Fenix_get_option(FENIX_RESUME_MODE, &option);
       }},
      {"Fenix_get_role", Needs::nothing, false, [](int, int) { return Fenix_get_role(); }},
      {"Fenix_Error_message", Needs::nothing, false, [](int, int) { return Fenix_Error_message() != nullptr ? 0 : 1; }},
  };
}

std::vector<Function> group_functions() {
  return {
      {"Fenix_Data_group_create", Needs::init, false,
       [](int group, int) {
         return Fenix_Data_group_create(group, comm, 0, 1, FENIX_DATA_POLICY_IMR, nullptr, nullptr);
       }},
      {"Fenix_Data_group_created", Needs::init, false, [](int group, int) { return Fenix_Data_group_created(group); }},
      {"Fenix_Data_group_delete", Needs::group, false, [](int group, int) { return Fenix_Data_group_delete(group); }},
      {"Fenix_Data_group_get_redundancy_policy", Needs::group, false,
       [](int group, int) {
         int values[3] = {0, 0, 0};
         return Fenix_Data_group_get_redundancy_policy(group, &number, values, nullptr);
       }},
      {"Fenix_Data_group_set_redundancy_policy", Needs::group, true,
       [](int group, int) {
         return Fenix_Data_group_set_redundancy_policy(group, FENIX_DATA_POLICY_IMR, nullptr, nullptr);
       }},
      {"Fenix_Data_group_set_hashing", Needs::group, true,
       [](int group, int) { return Fenix_Data_group_set_hashing(group, 1); }},
      {"Fenix_Data_group_set_in_place", Needs::group, true,
       [](int group, int) { return Fenix_Data_group_set_in_place(group, 0); }},
      {"Fenix_Data_group_get_in_place", Needs::group, false,
       [](int group, int) { return Fenix_Data_group_get_in_place(group, &number); }},
      {"Fenix_Data_group_get_cohort", Needs::group, false,
       [](int group, int) { return Fenix_Data_group_get_cohort(group, &processes); }},
      {"Fenix_Data_group_get_hashing", Needs::group, false,
       [](int group, int) { return Fenix_Data_group_get_hashing(group, &number); }},
      {"Fenix_Data_verify", Needs::group, true,
       [](int group, int) { return Fenix_Data_verify(group, nullptr, nullptr); }},
      {"Fenix_Data_group_get_number_of_members", Needs::group, false,
       [](int group, int) { return Fenix_Data_group_get_number_of_members(group, &number); }},
      {"Fenix_Data_group_get_member_at_position", Needs::group, false,
       [](int group, int) { return Fenix_Data_group_get_member_at_position(group, &number, 0); }},
      {"Fenix_Data_group_get_number_of_snapshots", Needs::group, false,
       [](int group, int) { return Fenix_Data_group_get_number_of_snapshots(group, &number); }},
      {"Fenix_Data_group_get_snapshot_at_position", Needs::group, false,
       [](int group, int) { return Fenix_Data_group_get_snapshot_at_position(group, 0, &number); }},
      {"Fenix_Data_commit", Needs::group, true, [](int group, int) { return Fenix_Data_commit(group, nullptr); }},
      {"Fenix_Data_commit_barrier", Needs::group, true,
       [](int group, int) { return Fenix_Data_commit_barrier(group, nullptr); }},
      {"Fenix_Data_commit_cleanup", Needs::group, true,
       [](int group, int) { return Fenix_Data_commit_cleanup(group, nullptr); }},
      {"Fenix_Data_cleanup", Needs::group, true, [](int group, int) { return Fenix_Data_cleanup(group); }},
      {"Fenix_Data_barrier", Needs::group, true, [](int group, int) { return Fenix_Data_barrier(group); }},
      {"Fenix_Data_checkpoint", Needs::group, true,
       [](int group, int) { return Fenix_Data_checkpoint(group, FENIX_DATA_SUBSET_EMPTY, 0, nullptr, nullptr); }},
      {"Fenix_Data_checkpointv", Needs::group, true,
       [](int group, int) { return Fenix_Data_checkpointv(group, FENIX_DATA_SUBSET_EMPTY, nullptr); }},
      {"Fenix_Data_snapshot_delete", Needs::group, true,
       [](int group, int) { return Fenix_Data_snapshot_delete(group, kUnknown); }},
      {"Fenix_Data_wait", Needs::init, false, [](int, int) { return Fenix_Data_wait(FENIX_REQUEST_NULL); }},
      {"Fenix_Data_test", Needs::init, false, [](int, int) { return Fenix_Data_test(FENIX_REQUEST_NULL, &number); }},
  };
}

std::vector<Function> member_functions() {
  return {
      {"Fenix_Data_member_create", Needs::group, true,
       [](int group, int member) { return Fenix_Data_member_create(group, member, buffer, kCount, MPI_DOUBLE); }},
      {"Fenix_Data_member_create_c", Needs::group, true,
       [](int group, int member) { return Fenix_Data_member_create_c(group, member, buffer, kCount, MPI_DOUBLE); }},
      {"Fenix_Data_member_fcreate", Needs::group, true,
       [](int group, int member) {
         return Fenix_Data_member_fcreate(group, member, buffer, kCount, MPI_DOUBLE, nullptr, nullptr);
       }},
      {"Fenix_Data_member_fcreate_c", Needs::group, true,
       [](int group, int member) {
         return Fenix_Data_member_fcreate_c(group, member, buffer, kCount, MPI_DOUBLE, nullptr, nullptr);
       }},
      {"Fenix_Data_member_define", Needs::group, true,
       [](int group, int member) { return Fenix_Data_member_define(group, member, buffer, kCount, MPI_DOUBLE); }},
      {"Fenix_Data_member_define_c", Needs::group, true,
       [](int group, int member) { return Fenix_Data_member_define_c(group, member, buffer, kCount, MPI_DOUBLE); }},
      {"Fenix_Data_member_fdefine", Needs::group, true,
       [](int group, int member) {
         return Fenix_Data_member_fdefine(group, member, buffer, kCount, MPI_DOUBLE, nullptr, nullptr);
       }},
      {"Fenix_Data_member_fdefine_c", Needs::group, true,
       [](int group, int member) {
         return Fenix_Data_member_fdefine_c(group, member, buffer, kCount, MPI_DOUBLE, nullptr, nullptr);
       }},
      {"Fenix_Data_member_created", Needs::init, false,
       [](int group, int member) { return Fenix_Data_member_created(group, member); }},
      {"Fenix_Data_member_delete", Needs::closed, true,
       [](int group, int member) { return Fenix_Data_member_delete(group, member); }},
      {"Fenix_Data_member_allocate", Needs::group, true,
       [](int group, int member) {
         void* base = nullptr;
         return Fenix_Data_member_allocate(group, member, kCount, MPI_DOUBLE, &base);
       }},
      {"Fenix_Data_member_allocate_c", Needs::group, true,
       [](int group, int member) {
         void* base = nullptr;
         return Fenix_Data_member_allocate_c(group, member, kCount, MPI_DOUBLE, &base);
       }},
      {"Fenix_Data_member_footprint", Needs::member, false,
       [](int group, int member) { return Fenix_Data_member_footprint(group, member, &large_number); }},
      {"Fenix_Data_member_attr_get", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_attr_get(group, member, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &number, nullptr, 0);
       }},
      {"Fenix_Data_member_attr_get_c", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_attr_get_c(group, member, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &large_number, nullptr,
                                             0);
       }},
      {"Fenix_Data_member_attr_set", Needs::closed, false,
       [](int group, int member) {
         return Fenix_Data_member_attr_set(group, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, buffer, nullptr);
       }},
      {"Fenix_Data_member_attr_set_c", Needs::closed, false,
       [](int group, int member) {
         return Fenix_Data_member_attr_set_c(group, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, buffer, nullptr);
       }},
      {"Fenix_Data_member_repair", Needs::closed, true,
       [](int group, int member) { return Fenix_Data_member_repair(group, member); }},
  };
}

std::vector<Function> storing_functions() {
  return {
      {"Fenix_Data_member_stage", Needs::closed, true,
       [](int group, int member) { return Fenix_Data_member_stage(group, member, FENIX_DATA_SUBSET_EMPTY); }},
      {"Fenix_Data_member_stage_inplace", Needs::closed, true,
       [](int group, int member) {
         void* taken_over = std::malloc(sizeof buffer);
         const int code = Fenix_Data_member_stage_inplace(group, member, taken_over, FENIX_DATA_SUBSET_EMPTY);
         if (code != FENIX_SUCCESS) std::free(taken_over);
         return code;
       }},
      {"Fenix_Data_member_stage_memory", Needs::closed, true,
       [](int group, int member) {
         void* memory = nullptr;
         return Fenix_Data_member_stage_memory(group, member, &memory);
       }},
      {"Fenix_Data_member_stage_begin", Needs::closed, true,
       [](int group, int member) { return Fenix_Data_member_stage_begin(group, member, &file); }},
      {"Fenix_Data_member_stage_end", Needs::member, true,
       [](int group, int member) { return Fenix_Data_member_stage_end(group, member); }},
      {"Fenix_Data_member_store", Needs::closed, true,
       [](int group, int member) { return Fenix_Data_member_store(group, member, FENIX_DATA_SUBSET_FULL); }},
      {"Fenix_Data_member_storev", Needs::closed, true,
       [](int group, int member) { return Fenix_Data_member_storev(group, member, FENIX_DATA_SUBSET_FULL); }},
      {"Fenix_Data_member_istore", Needs::closed, true,
       [](int group, int member) { return Fenix_Data_member_istore(group, member, FENIX_DATA_SUBSET_FULL, &request); }},
      {"Fenix_Data_member_istorev", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_istorev(group, member, FENIX_DATA_SUBSET_FULL, &request);
       }},
  };
}

std::vector<Function> restoring_functions() {
  constexpr int kLatest = FENIX_DATA_SNAPSHOT_LATEST;
  return {
      {"Fenix_Data_member_restore", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_restore(group, member, target, kCount, kLatest, FENIX_DATA_SUBSET_IGNORE);
       }},
      {"Fenix_Data_member_restore_c", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_restore_c(group, member, target, kCount, kLatest, FENIX_DATA_SUBSET_IGNORE);
       }},
      {"Fenix_Data_member_restore_from_rank", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_restore_from_rank(group, member, target, kCount, kLatest, FENIX_DATA_SUBSET_IGNORE,
                                                    0);
       }},
      {"Fenix_Data_member_restore_from_rank_c", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_restore_from_rank_c(group, member, target, kCount, kLatest, FENIX_DATA_SUBSET_IGNORE,
                                                      0);
       }},
      {"Fenix_Data_member_lrestore", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_lrestore(group, member, target, kCount, kLatest, FENIX_DATA_SUBSET_IGNORE);
       }},
      {"Fenix_Data_member_lrestore_c", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_lrestore_c(group, member, target, kCount, kLatest, FENIX_DATA_SUBSET_IGNORE);
       }},
      {"Fenix_Data_member_load", Needs::closed, true,
       [](int group, int member) { return Fenix_Data_member_load(group, member, kLatest, FENIX_DATA_SUBSET_IGNORE); }},
      {"Fenix_Data_member_load_to", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_load_to(group, member, target, kCount, kLatest, FENIX_DATA_SUBSET_IGNORE);
       }},
      {"Fenix_Data_member_load_to_c", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_load_to_c(group, member, target, kCount, kLatest, FENIX_DATA_SUBSET_IGNORE);
       }},
      {"Fenix_Data_member_load_begin", Needs::closed, true,
       [](int group, int member) {
         return Fenix_Data_member_load_begin(group, member, &file, kLatest, FENIX_DATA_SUBSET_IGNORE);
       }},
      {"Fenix_data_member_load_begin", Needs::closed, true,
       [](int group, int member) {
         return Fenix_data_member_load_begin(group, member, &file, kLatest, FENIX_DATA_SUBSET_IGNORE);
       }},
      {"Fenix_Data_member_load_end", Needs::member, false,
       [](int group, int member) { return Fenix_Data_member_load_end(group, member); }},
  };
}

std::vector<Function> store_functions() {
  static char name[FENIX_DATASET_NAME_MAX];
  return {
      {"Fenix_Data_flush", Needs::group, true,
       [](int group, int) { return Fenix_Data_flush(group, FENIX_DATA_SNAPSHOT_LATEST, nullptr); }},
      {"Fenix_Data_iflush", Needs::group, true,
       [](int group, int) { return Fenix_Data_iflush(group, FENIX_DATA_SNAPSHOT_LATEST, nullptr, &request); }},
      {"Fenix_Data_flush_state", Needs::group, false,
       [](int group, int) { return Fenix_Data_flush_state(group, 0, &number, nullptr); }},
      {"Fenix_Data_group_set_flush", Needs::group, false,
       [](int group, int) { return Fenix_Data_group_set_flush(group, 0); }},
      {"Fenix_Data_fetch", Needs::group, true,
       [](int group, int) { return Fenix_Data_fetch(group, nullptr, nullptr); }},
      {"Fenix_Data_restart_done", Needs::group, true, [](int group, int) { return Fenix_Data_restart_done(group, 1); }},
      {"Fenix_Data_get_number_of_datasets", Needs::init, false,
       [](int, int) { return Fenix_Data_get_number_of_datasets(&number); }},
      {"Fenix_Data_get_dataset_at_position", Needs::init, false,
       [](int, int) { return Fenix_Data_get_dataset_at_position(0, name, nullptr, nullptr); }},
      {"Fenix_Data_dataset_delete", Needs::init, false, [](int, int) { return Fenix_Data_dataset_delete("1.2.3.4"); }},
      {"Fenix_Data_dataset_set_current", Needs::init, false,
       [](int, int) { return Fenix_Data_dataset_set_current(nullptr); }},
      {"Fenix_Data_need_commit", Needs::group, true,
       [](int group, int) { return Fenix_Data_need_commit(group, &number); }},
      {"Fenix_Process_should_halt", Needs::init, false, [](int, int) { return Fenix_Process_should_halt(&number); }},
      {"Fenix_Process_halt", Needs::init, false, [](int, int) { return Fenix_Process_halt(nullptr); }},
      {"Fenix_Process_get_run", Needs::init, false, [](int, int) { return Fenix_Process_get_run(&number, nullptr); }},
  };
}

// Values that may be made and deleted at any time.
std::vector<Function> subset_functions() {
  const auto with_subset = [](const std::function<int(Fenix_Data_subset)>& body) {
    return [=](int, int) {
      const Subset subset(1, 0, 0, 1);
      return body(subset);
    };
  };
  const auto made = [](const std::function<int(Fenix_Data_subset*)>& make) {
    return [=](int, int) {
      Fenix_Data_subset subset{};
      const int code = make(&subset);
      return code != FENIX_SUCCESS ? code : Fenix_Data_subset_delete(&subset);
    };
  };
  static int zero = 0;
  static MPI_Count large_zero = 0;
  return {
      {"Fenix_Data_subset_create", Needs::nothing, false,
       made([](Fenix_Data_subset* subset) { return Fenix_Data_subset_create(1, 0, 0, 1, subset); })},
      {"Fenix_Data_subset_create_c", Needs::nothing, false,
       made([](Fenix_Data_subset* subset) { return Fenix_Data_subset_create_c(1, 0, 0, 1, subset); })},
      {"Fenix_Data_subset_createv", Needs::nothing, false,
       made([](Fenix_Data_subset* subset) { return Fenix_Data_subset_createv(1, &zero, &zero, subset); })},
      {"Fenix_Data_subset_createv_c", Needs::nothing, false, made([](Fenix_Data_subset* subset) {
         return Fenix_Data_subset_createv_c(1, &large_zero, &large_zero, subset);
       })},
      {"Fenix_Data_subset_delete", Needs::nothing, false,
       made([](Fenix_Data_subset* subset) { return Fenix_Data_subset_create(1, 0, 0, 1, subset); })},
      {"Fenix_Data_subset_get_number_of_blocks", Needs::nothing, false, with_subset([](Fenix_Data_subset subset) {
         return Fenix_Data_subset_get_number_of_blocks(subset, &large_number);
       })},
      {"Fenix_Data_subset_get_block", Needs::nothing, false, with_subset([](Fenix_Data_subset subset) {
         return Fenix_Data_subset_get_block(subset, 0, &large_number, &large_number);
       })},
  };
}

}  // namespace

const std::vector<Function>& functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> list;
    for (const auto& part : {process_functions(), group_functions(), member_functions(), subset_functions(),
                             storing_functions(), restoring_functions(), store_functions()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

}  // namespace bad_input
