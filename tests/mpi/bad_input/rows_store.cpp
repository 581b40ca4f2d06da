// SPDX-License-Identifier: BSD-3-Clause
// The store behind memory, where there is none. What only a store refuses is in tests/mpi/store_api.cpp.
#include "rows.hpp"

namespace bad_input {
namespace {

constexpr int kBad = FENIX_ERROR_INVALID_ARGUMENT;
constexpr int kNoStore = FENIX_ERROR_STORE;

int number = 0;
char name[FENIX_DATASET_NAME_MAX];
Fenix_Request request{};

using Call = std::function<Outcome()>;

/// Adds a row for each kind of name that no dataset can have.
void add_name_rows(Rows& rows, const char* function, Told told, const std::function<Outcome(const char*)>& call) {
  static const std::string too_long(FENIX_DATASET_NAME_MAX, 'n');
  const std::pair<const char*, const char*> cases[] = {
      {"name empty", ""},
      {"name of FENIX_DATASET_NAME_MAX letters", too_long.c_str()},
      {"name with a blank", "two words"},
      {"name with a slash", "../name"},
  };
  for (const auto& [argument, text] : cases) {
    const char* const given = text;
    rows.push_back({function, argument, kBad, "name", told, [=](bool) { return call(given); }});
  }
}

void add_flush_rows(Rows& rows) {
  const auto add = [&](const char* function, const char* argument, int code, const char* named, Told told,
                       const Call& call) {
    rows.push_back({function, argument, code, named, told, [=](bool) { return call(); }});
  };
  const char* const missing = "no store: FENIX_STORE is not set";
  const char* const flush = "Fenix_Data_flush";
  add_name_rows(rows, flush, Told::same,
                [](const char* text) { return Fenix_Data_flush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, text); });
  add(flush, missing, kNoStore, "FENIX_STORE", Told::same,
      [] { return Fenix_Data_flush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, nullptr); });
  const char* const iflush = "Fenix_Data_iflush";
  add_name_rows(rows, iflush, Told::same,
                [](const char* text) { return Fenix_Data_iflush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, text, &request); });
  add(iflush, "request NULL", kBad, "request", Told::same,
      [] { return Fenix_Data_iflush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, nullptr, nullptr); });
  add(iflush, missing, kNoStore, "FENIX_STORE", Told::same,
      [] { return Fenix_Data_iflush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, nullptr, &request); });
  const char* const state = "Fenix_Data_flush_state";
  add(state, "state NULL", kBad, "state", Told::here,
      [] { return Fenix_Data_flush_state(kGroup, 0, nullptr, nullptr); });
  add(state, missing, kNoStore, "FENIX_STORE", Told::here,
      [] { return Fenix_Data_flush_state(kGroup, 0, &number, nullptr); });
  const char* const set = "Fenix_Data_group_set_flush";
  add(set, "every negative", kBad, "every -1", Told::here, [] { return Fenix_Data_group_set_flush(kGroup, -1); });
  add(set, missing, kNoStore, "FENIX_STORE", Told::here, [] { return Fenix_Data_group_set_flush(kGroup, 1); });
  const char* const fetch = "Fenix_Data_fetch";
  add_name_rows(rows, fetch, Told::same, [](const char* text) { return Fenix_Data_fetch(kGroup, text, &number); });
  add(fetch, missing, kNoStore, "FENIX_STORE", Told::same, [] { return Fenix_Data_fetch(kGroup, nullptr, nullptr); });
  add("Fenix_Data_restart_done", missing, kNoStore, "FENIX_STORE", Told::same,
      [] { return Fenix_Data_restart_done(kGroup, 1); });
}

void add_dataset_rows(Rows& rows) {
  const auto add = [&](const char* function, const char* argument, int code, const char* named, const Call& call) {
    rows.push_back({function, argument, code, named, Told::here, [=](bool) { return call(); }});
  };
  const char* const missing = "no store: FENIX_STORE is not set";
  const char* const datasets = "Fenix_Data_get_number_of_datasets";
  add(datasets, "number_of_datasets NULL", kBad, "number_of_datasets",
      [] { return Fenix_Data_get_number_of_datasets(nullptr); });
  add(datasets, missing, kNoStore, "FENIX_STORE", [] { return Fenix_Data_get_number_of_datasets(&number); });
  const char* const dataset = "Fenix_Data_get_dataset_at_position";
  add(dataset, "name NULL", kBad, "name",
      [] { return Fenix_Data_get_dataset_at_position(0, nullptr, nullptr, nullptr); });
  add(dataset, "position negative", FENIX_ERROR_INVALID_POSITION, "position -1",
      [] { return Fenix_Data_get_dataset_at_position(-1, name, nullptr, nullptr); });
  add(dataset, "position = number of datasets", FENIX_ERROR_INVALID_POSITION, "position 0",
      [] { return Fenix_Data_get_dataset_at_position(0, name, nullptr, nullptr); });
  const char* const remove = "Fenix_Data_dataset_delete";
  add(remove, "name NULL", kBad, "name", [] { return Fenix_Data_dataset_delete(nullptr); });
  add_name_rows(rows, remove, Told::here, [](const char* text) { return Fenix_Data_dataset_delete(text); });
  add(remove, missing, kNoStore, "FENIX_STORE", [] { return Fenix_Data_dataset_delete("1.2.3.4"); });
  const char* const set = "Fenix_Data_dataset_set_current";
  add_name_rows(rows, set, Told::here, [](const char* text) { return Fenix_Data_dataset_set_current(text); });
  add(set, missing, kNoStore, "FENIX_STORE", [] { return Fenix_Data_dataset_set_current(nullptr); });
}

void add_job_rows(Rows& rows) {
  const auto add = [&](const char* function, const char* argument, int code, const char* named, const Call& call) {
    rows.push_back({function, argument, code, named, Told::here, [=](bool) { return call(); }});
  };
  add("Fenix_Data_need_commit", "flag NULL", kBad, "flag", [] { return Fenix_Data_need_commit(kGroup, nullptr); });
  rows.push_back({"Fenix_Process_should_halt", "flag NULL", kBad, "flag", Told::all,
                  [](bool wrong) { return Fenix_Process_should_halt(wrong ? nullptr : &number); }});
  static const std::string too_long(1001, 'r');
  const char* const halt = "Fenix_Process_halt";
  add(halt, "reason of more than 1000 bytes", kBad, "reason", [] { return Fenix_Process_halt(too_long.c_str()); });
  add(halt, "reason of two lines", kBad, "reason", [] { return Fenix_Process_halt("one\ntwo"); });
  add(halt, "no store: FENIX_STORE is not set", kNoStore, "FENIX_STORE", [] { return Fenix_Process_halt(nullptr); });
  add("Fenix_Process_get_run", "run NULL", kBad, "run", [] { return Fenix_Process_get_run(nullptr, &number); });
}

}  // namespace

void add_store_rows(Rows& rows) {
  add_flush_rows(rows);
  add_dataset_rows(rows);
  add_job_rows(rows);
}

}  // namespace bad_input
