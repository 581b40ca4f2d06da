// SPDX-License-Identifier: BSD-3-Clause
// Fenix_Init, settings, callbacks, roles.
#include "rows.hpp"

namespace bad_input {
namespace {

constexpr int kBad = FENIX_ERROR_INVALID_ARGUMENT;

// Arguments of Fenix_Init outlive the frame that calls it.
int role = -1;
int number = 0;
MPI_Comm made = MPI_COMM_NULL;

struct Start {
  MPI_Comm comm = MPI_COMM_WORLD;
  int* role = &bad_input::role;
  MPI_Comm* newcomm = &made;
  int spares = 0;
  int spawn = 0;
  MPI_Info info = MPI_INFO_NULL;
};

// A start that fails never comes to setjmp; none of these succeeds.
Outcome start(const Start& with) {
  static int error = 0;
  Fenix_Init(with.role, with.comm, with.newcomm, nullptr, nullptr, with.spares, with.spawn, with.info, &error);
  return error;
}

Row init_row(const char* argument, int code, const char* named, Told told, const Start& wrong) {
  return {"Fenix_Init", argument, code, named, told, [=](bool is_wrong) { return start(is_wrong ? wrong : Start{}); }};
}

// Starts with a value of a key that is not the default, or with an info that has no key.
Outcome start_with_info(const char* key, bool has_value) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  if (has_value) MPI_Info_set(info, key, std::string(key) == "FENIX_RESUME_MODE" ? "RETURN" : "SILENT");
  const Outcome outcome = start({.info = info});
  MPI_Info_free(&info);
  return outcome;
}

constexpr int kNowhere = 2;

int ranks_of_world() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

}  // namespace

Rows init_rows() {
  Rows rows{
      init_row("comm MPI_COMM_NULL", kBad, "comm", Told::here, {.comm = MPI_COMM_NULL}),
      init_row("comm MPI_COMM_SELF", kBad, "comm", Told::here, {.comm = MPI_COMM_SELF}),
      init_row("newcomm NULL", kBad, "newcomm", Told::all, {.newcomm = nullptr}),
      init_row("role NULL", kBad, "role", Told::all, {.role = nullptr}),
      init_row("spare_ranks negative", kBad, "spare_ranks -1", Told::all, {.spares = -1}),
  };
  rows.push_back({"Fenix_Init", "spare_ranks as many as ranks", kBad, "spare_ranks", Told::all,
                  [](bool wrong) { return start({.spares = wrong ? ranks_of_world() : 0}); }});
  rows.push_back({"Fenix_Init", "spare_ranks that differ between ranks", FENIX_ERROR_MISMATCH, "spare_ranks",
                  Told::differs, [](bool) { return start({.spares = first_of_two_kinds() ? 1 : 0}); }});
  rows.push_back({"Fenix_Init", "spawn that differs between ranks", FENIX_ERROR_MISMATCH, "spawn", Told::differs,
                  [](bool) { return start({.spawn = first_of_two_kinds() ? 1 : 0}); }});
  for (const char* key : {"FENIX_RESUME_MODE", "FENIX_UNHANDLED_MODE"}) {
    rows.push_back({"Fenix_Init", std::string("info whose ") + key + " differs between ranks", FENIX_ERROR_MISMATCH,
                    key, Told::differs, [key](bool) { return start_with_info(key, first_of_two_kinds()); }});
  }
  return rows;
}

void add_process_rows(Rows& rows) {
  const auto add = [&](const char* function, const char* argument, int code, const char* named,
                       const std::function<Outcome()>& call) {
    rows.push_back({function, argument, code, named, Told::here, [call](bool) { return call(); }});
  };
  add("Fenix_Init", "second call", FENIX_ERROR_INVALID_LOGIC_CALL, "before", [] { return start({}); });
  add("Fenix_Initialized", "flag NULL", kBad, "flag", [] { return Fenix_Initialized(nullptr); });
  add("Fenix_Finalized", "flag NULL", kBad, "flag", [] { return Fenix_Finalized(nullptr); });

  constexpr auto kNoSetting = FENIX_SETTING_NAME_MAXCODE;
  add("Fenix_set_option", "setting that does not exist", FENIX_ERROR_INVALID_SETTING_NAME, "setting",
      [] { return Fenix_set_option(kNoSetting, 0); });
  for (int setting = 0; setting < FENIX_SETTING_NAME_MAXCODE; ++setting) {
    rows.push_back({"Fenix_set_option", "option 99 for setting " + std::to_string(setting),
                    FENIX_ERROR_INVALID_SETTING_OPTION, "option 99", Told::here,
                    [=](bool) { return Fenix_set_option(static_cast<Fenix_Setting_name>(setting), 99); }});
  }
  add("Fenix_get_option", "setting that does not exist", FENIX_ERROR_INVALID_SETTING_NAME, "setting", [] {
    unsigned option = 0;
    return Fenix_get_option(kNoSetting, &option);
  });
  add("Fenix_get_option", "option NULL", kBad, "option", [] { return Fenix_get_option(FENIX_RESUME_MODE, nullptr); });

  add("Fenix_Callback_register", "recover NULL", FENIX_ERROR_CALLBACK_NOT_REGISTERED, "recover",
      [] { return Fenix_Callback_register(nullptr, nullptr); });
  add("Fenix_Callback_register_at", "recover NULL", FENIX_ERROR_CALLBACK_NOT_REGISTERED, "recover",
      [] { return Fenix_Callback_register_at(nullptr, nullptr, FENIX_CALLBACK_PRE_RECOVERY); });
  add("Fenix_Callback_register_at", "location that does not exist", kBad, "location 2",
      [] { return Fenix_Callback_register_at([](MPI_Comm, int, void*) {}, nullptr, kNowhere); });
  add("Fenix_Callback_pop_at", "no callback registered", FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback",
      [] { return Fenix_Callback_pop_at(FENIX_CALLBACK_PRE_RECOVERY); });
  add("Fenix_Callback_pop_at", "location that does not exist", kBad, "location 2",
      [] { return Fenix_Callback_pop_at(kNowhere); });
  add("Fenix_Callback_invoke_all_at", "no repair so far", FENIX_ERROR_INVALID_LOGIC_CALL, "repair",
      [] { return Fenix_Callback_invoke_all_at(FENIX_CALLBACK_PRE_RECOVERY); });
  add("Fenix_Callback_invoke_all_at", "location that does not exist", kBad, "location 2",
      [] { return Fenix_Callback_invoke_all_at(kNowhere); });
  add("Fenix_Callback_pop", "no callback registered", FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback",
      [] { return Fenix_Callback_pop(); });
  add("Fenix_Callback_invoke_all", "no repair so far", FENIX_ERROR_INVALID_LOGIC_CALL, "repair",
      [] { return Fenix_Callback_invoke_all(); });

  for (const auto& [name, get] :
       {std::pair{"Fenix_Get_role", &Fenix_Get_role}, {"Fenix_get_rank_role", &Fenix_get_rank_role}}) {
    add(name, "comm MPI_COMM_NULL", kBad, "comm", [get = get] { return get(MPI_COMM_NULL, 0, &number); });
    add(name, "comm with spare ranks in it", kBad, "comm", [get = get] { return get(MPI_COMM_WORLD, 0, &number); });
    add(name, "rank too large", kBad, "rank 99", [get = get] { return get(comm, 99, &number); });
    add(name, "rank negative", kBad, "rank -1", [get = get] { return get(comm, -1, &number); });
    add(name, "role NULL", kBad, "role", [get = get] { return get(comm, 0, nullptr); });
  }
  const char* const count = "Fenix_Get_number_of_ranks_with_role";
  add(count, "comm MPI_COMM_NULL", kBad, "comm",
      [] { return Fenix_Get_number_of_ranks_with_role(MPI_COMM_NULL, 0, &number); });
  add(count, "comm with spare ranks in it", kBad, "comm",
      [] { return Fenix_Get_number_of_ranks_with_role(MPI_COMM_WORLD, 0, &number); });
  add(count, "role that does not exist", kBad, "role 17",
      [] { return Fenix_Get_number_of_ranks_with_role(comm, 17, &number); });
  add(count, "number_of_ranks NULL", kBad, "number_of_ranks",
      [] { return Fenix_Get_number_of_ranks_with_role(comm, 0, nullptr); });
  add("Fenix_get_number_of_ranks_with_role", "role that does not exist", kBad, "role -1",
      [] { return Fenix_get_number_of_ranks_with_role(-1, &number); });
  add("Fenix_get_number_of_ranks_with_role", "number_of_ranks NULL", kBad, "number_of_ranks",
      [] { return Fenix_get_number_of_ranks_with_role(0, nullptr); });

  add("Fenix_rank_to_slot", "comm MPI_COMM_NULL", kBad, "comm",
      [] { return Fenix_rank_to_slot(MPI_COMM_NULL, 0, &number); });
  add("Fenix_rank_to_slot", "rank too large", kBad, "rank 99", [] { return Fenix_rank_to_slot(comm, 99, &number); });
  add("Fenix_rank_to_slot", "slot NULL", kBad, "slot", [] { return Fenix_rank_to_slot(comm, 0, nullptr); });
  add("Fenix_slot_to_rank", "comm MPI_COMM_NULL", kBad, "comm",
      [] { return Fenix_slot_to_rank(MPI_COMM_NULL, 0, &number); });
  add("Fenix_slot_to_rank", "slot that does not exist", kBad, "slot 99",
      [] { return Fenix_slot_to_rank(comm, 99, &number); });
  add("Fenix_slot_to_rank", "slot negative", kBad, "slot -1", [] { return Fenix_slot_to_rank(comm, -1, &number); });
  add("Fenix_slot_to_rank", "rank NULL", kBad, "rank", [] { return Fenix_slot_to_rank(comm, 0, nullptr); });
  static MPI_Group processes = MPI_GROUP_NULL;
  add("Fenix_repair_group", "old_group MPI_GROUP_NULL", kBad, "old_group",
      [] { return Fenix_repair_group(MPI_GROUP_NULL, &processes); });
  add("Fenix_repair_group", "new_group NULL", kBad, "new_group",
      [] { return Fenix_repair_group(MPI_GROUP_EMPTY, nullptr); });

  add("Fenix_Init_no_jump", "Fenix in use already", FENIX_ERROR_INVALID_LOGIC_CALL, "before",
      [] { return Fenix_Init_no_jump(&role, MPI_COMM_WORLD, &made, nullptr, nullptr, 0, 0, MPI_INFO_NULL, nullptr); });
  constexpr int kNoLog = FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE;
  const char* const logs = "any arguments: there is no message logging";
  add("Fenix_Mlog_create", logs, kNoLog, "message logging", [] { return Fenix_Mlog_create(0, &comm, 1); });
  add("Fenix_Mlog_activate", logs, kNoLog, "message logging", [] { return Fenix_Mlog_activate(0); });
  add("Fenix_Mlog_active", logs, kNoLog, "message logging", [] { return Fenix_Mlog_active(&number); });
  add("Fenix_Mlog_active", "mlog_id NULL", kBad, "mlog_id", [] { return Fenix_Mlog_active(nullptr); });
  add("Fenix_Mlog_begin_region", logs, kNoLog, "message logging", [] { return Fenix_Mlog_begin_region(0, 0); });
  add("Fenix_Mlog_activate_region", logs, kNoLog, "message logging", [] { return Fenix_Mlog_activate_region(0, 0); });
  add("Fenix_Mlog_sync", logs, kNoLog, "message logging", [] { return Fenix_Mlog_sync(0, FENIX_MLOG_CONTINUE); });
  add("Fenix_Mlog_create_data_member", logs, kNoLog, "message logging",
      [] { return Fenix_Mlog_create_data_member(0, 0, 0); });
  add("Fenix_Mlog_define_data_member", logs, kNoLog, "message logging",
      [] { return Fenix_Mlog_define_data_member(0, 0, 0); });
  add("Fenix_Mlog_stage", logs, kNoLog, "message logging", [] { return Fenix_Mlog_stage(0, 0, 0); });
  add("Fenix_Mlog_lrestore", logs, kNoLog, "message logging", [] { return Fenix_Mlog_lrestore(0, 0, 0, 0); });
  add("Fenix_Mlog_delete", logs, kNoLog, "message logging", [] { return Fenix_Mlog_delete(0); });

  add("Fenix_Process_fail_list", "fail_list NULL", kBad, "fail_list", [] { return Fenix_Process_fail_list(nullptr); });
  static double seconds = 0;
  add("Fenix_Process_repair_times", "noticed NULL", kBad, "noticed",
      [] { return Fenix_Process_repair_times(nullptr, &seconds); });
  add("Fenix_Process_repair_times", "repaired NULL", kBad, "repaired",
      [] { return Fenix_Process_repair_times(&seconds, nullptr); });
  add("Fenix_Process_repair_times", "no repair so far", FENIX_ERROR_INVALID_LOGIC_CALL, "repair",
      [] { return Fenix_Process_repair_times(&seconds, &seconds); });
  add("Fenix_Failure", "flag NULL", kBad, "flag", [] { return Fenix_Failure(nullptr); });
  add("Fenix_check_cancelled", "request NULL", kBad, "request",
      [] { return Fenix_check_cancelled(nullptr, MPI_STATUS_IGNORE); });
}

}  // namespace bad_input
