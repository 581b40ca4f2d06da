// SPDX-License-Identifier: BSD-3-Clause
// The store behind memory for C++, implemented by calls of the C interface.
#include <fenix.hpp>

#include <array>

#include "api/cxx/cxx_throw.hpp"

using namespace fenix_impl;

namespace fenix {
namespace {

/// Converts a text for C. One with zero bytes becomes one that C refuses, so that all ranks hear of it.
const char* text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return text.find('\0') == std::string::npos ? text.c_str() : "\n";
}

}  // namespace

namespace data {

int flush(int group_id, int time_stamp, const std::string& name) {
  return thrown(Fenix_Data_flush(group_id, time_stamp, text_or_null(name)));
}

int iflush(int group_id, Fenix_Request* request, int time_stamp, const std::string& name) {
  return thrown(Fenix_Data_iflush(group_id, time_stamp, text_or_null(name), request));
}

FlushState flush_state(int group_id, int time_stamp) {
  FlushState found;
  (void)thrown(Fenix_Data_flush_state(group_id, time_stamp, &found.state, &found.bytes));
  return found;
}

int group_set_flush(int group_id, int every) { return thrown(Fenix_Data_group_set_flush(group_id, every)); }

int fetch(int group_id, const std::string& name, int* time_stamp) {
  return thrown(Fenix_Data_fetch(group_id, text_or_null(name), time_stamp));
}

int restart_done(int group_id, bool good) { return thrown(Fenix_Data_restart_done(group_id, good ? 1 : 0)); }

std::vector<Dataset> datasets() {
  int number = 0;
  (void)thrown(Fenix_Data_get_number_of_datasets(&number));
  std::vector<Dataset> found;
  for (int position = 0; position < number; ++position) {
    std::array<char, FENIX_DATASET_NAME_MAX> name{};
    std::array<char, FENIX_DATASET_NAME_MAX> label{};
    int complete = 0;
    (void)thrown(Fenix_Data_get_dataset_at_position(position, name.data(), label.data(), &complete));
    found.push_back({name.data(), label.data(), complete != 0});
  }
  return found;
}

int dataset_delete(const std::string& name) {
  // An empty name is wrong here.
  return thrown(Fenix_Data_dataset_delete(name.empty() ? "" : text_or_null(name)));
}

int dataset_set_current(const std::string& name) { return thrown(Fenix_Data_dataset_set_current(text_or_null(name))); }

bool need_commit(int group_id) {
  int flag = 0;
  (void)thrown(Fenix_Data_need_commit(group_id, &flag));
  return flag != 0;
}

}  // namespace data

bool should_halt() {
  int flag = 0;
  (void)thrown(Fenix_Process_should_halt(&flag));
  return flag != 0;
}

int halt(const std::string& reason) { return thrown(Fenix_Process_halt(text_or_null(reason))); }

Run get_run() {
  Run found;
  (void)thrown(Fenix_Process_get_run(&found.run, &found.origin));
  return found;
}

}  // namespace fenix
