// SPDX-License-Identifier: BSD-3-Clause
// The store in C++: each function does what the C function does. 3 ranks use Fenix without a store, then twice with one, as two jobs
// would.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "store_folder.hpp"

namespace {

using check::expect_equal;
using check::expect_thrown;
using check::require;
using check::success;
namespace data = fenix::data;

constexpr int kGroup = 6;
constexpr int kMember = 0;
constexpr int kNoStore = FENIX_ERROR_STORE;
constexpr int kBad = FENIX_ERROR_INVALID_ARGUMENT;
const std::string kWithZero("a\0b", 3);

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
std::vector<int> values(500);

void begin(int run) {
  fenix::init({.out_comm = &comm});
  MPI_Comm_rank(comm, &rank);
  expect_equal(fenix::get_run().run, run, "run");
  expect_equal(fenix::get_run().origin, 0, "origin at the start");
}

void create() {
  success(data::group_create(kGroup), "group_create");
  success(data::member_define(kGroup, kMember, values.data(), static_cast<MPI_Count>(values.size()), MPI_INT),
          "member_define");
}

void commit(int time_stamp) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = rank * 10'000 + time_stamp * 1'000 + static_cast<int>(i);
  success(data::member_store(kGroup), "store");
  int got = -1;
  success(data::commit_barrier(kGroup, &got), "commit_barrier");
  expect_equal(got, time_stamp, "time stamp");
}

void expect_snapshot(int time_stamp) {
  values.assign(values.size(), -1);
  success(data::member_restore(kGroup, kMember), "restore");
  for (std::size_t i = 0; i < values.size(); ++i) {
    expect_equal(values[i], rank * 10'000 + time_stamp * 1'000 + static_cast<int>(i), "an element");
  }
}

void wait_until_complete(int time_stamp) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (data::flush_state(kGroup, time_stamp).state != FENIX_FLUSH_COMPLETE) {
    require(std::chrono::steady_clock::now() < deadline, "a flush that does not become complete");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  MPI_Barrier(comm);
}

void without_store() {
  begin(0);
  create();
  commit(0);
  Fenix_Request request = FENIX_REQUEST_NULL;
  expect_thrown(kNoStore, "flush without a store", [] { data::flush(kGroup); });
  expect_thrown(kNoStore, "iflush without a store", [&] { data::iflush(kGroup, &request); });
  expect_thrown(kNoStore, "flush_state without a store", [] { data::flush_state(kGroup, 0); });
  expect_thrown(kNoStore, "group_set_flush without a store", [] { data::group_set_flush(kGroup, 1); });
  expect_thrown(kNoStore, "fetch without a store", [] { data::fetch(kGroup); });
  expect_thrown(kNoStore, "restart_done without a store", [] { data::restart_done(kGroup); });
  expect_thrown(kNoStore, "datasets without a store", [] { (void)data::datasets(); });
  expect_thrown(kNoStore, "dataset_delete without a store", [] { data::dataset_delete("x"); });
  expect_thrown(kNoStore, "dataset_set_current without a store", [] { data::dataset_set_current("x"); });
  expect_thrown(kNoStore, "halt without a store", [] { fenix::halt("why not"); });
  require(!data::need_commit(kGroup) && !fenix::should_halt(), "need_commit and should_halt without a store");
  success(Fenix_Finalize(), "Fenix_Finalize");
}

void wrong_texts() {
  Fenix_Request request = FENIX_REQUEST_NULL;
  expect_thrown(kBad, "flush with a zero byte", [] { data::flush(kGroup, 0, kWithZero); });
  expect_thrown(kBad, "iflush with a zero byte", [&] { data::iflush(kGroup, &request, 0, kWithZero); });
  expect_thrown(kBad, "fetch with a zero byte", [] { data::fetch(kGroup, kWithZero); });
  expect_thrown(kBad, "dataset_delete with a zero byte", [] { data::dataset_delete(kWithZero); });
  expect_thrown(kBad, "dataset_delete without a name", [] { data::dataset_delete({}); });
  expect_thrown(kBad, "dataset_set_current with a zero byte", [] { data::dataset_set_current(kWithZero); });
  expect_thrown(kBad, "halt with a zero byte", [] { fenix::halt(kWithZero); });
  // Told by one rank to all.
  expect_thrown(kBad, "flush with a zero byte on one rank", [] { data::flush(kGroup, 0, rank == 1 ? kWithZero : ""); });
}

void flushes() {
  commit(0);
  wrong_texts();
  success(data::flush(kGroup, 0, "begin"), "flush");
  expect_equal(data::flush_state(kGroup, 0).state, FENIX_FLUSH_COMPLETE, "state after a flush");
  commit(1);
  Fenix_Request request = FENIX_REQUEST_NULL;
  expect_equal(data::flush_state(kGroup, 1).state, FENIX_FLUSH_NONE, "state before a flush");
  success(data::iflush(kGroup, &request), "iflush");
  success(data::wait(request), "wait");
  wait_until_complete(1);
  success(data::group_set_flush(kGroup, 1), "group_set_flush");
  commit(2);
  wait_until_complete(2);
  success(data::group_set_flush(kGroup, 0), "group_set_flush");
}

void lists() {
  auto listed = data::datasets();
  expect_equal(static_cast<long>(listed.size()), 3, "datasets");
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const std::string start = std::to_string(kGroup) + "." + std::to_string(2 - i) + ".1.";
    require(listed[i].name.rfind(start, 0) == 0 && listed[i].complete, "dataset " + listed[i].name);
    require(listed[i].label == (i == 2 ? "begin" : ""), "label " + listed[i].label);
  }
  MPI_Barrier(comm);
  if (rank == 0) {
    success(data::dataset_delete(listed[0].name), "dataset_delete");
    success(data::dataset_set_current(listed[2].name), "dataset_set_current");
  }
  MPI_Barrier(comm);
  expect_equal(static_cast<long>(data::datasets().size()), 2, "datasets after a deletion");
}

void halts() {
  require(!fenix::should_halt(), "should_halt before halt");
  MPI_Barrier(comm);
  if (rank == 2) success(fenix::halt("enough"), "halt");
  MPI_Barrier(comm);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!fenix::should_halt()) {
    require(std::chrono::steady_clock::now() < deadline, "should_halt never says true");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  require(data::need_commit(kGroup), "need_commit at the end");
}

void first_use() {
  begin(1);
  require(data::datasets().empty(), "datasets of an empty store");
  create();
  require(!data::need_commit(kGroup), "need_commit without any setting");
  flushes();
  expect_thrown(FENIX_ERROR_INVALID_LOGIC_CALL, "restart_done of a new group", [] { data::restart_done(kGroup); });
  lists();
  halts();
  success(Fenix_Finalize(), "Fenix_Finalize");
}

void second_use() {
  begin(2);
  create();
  expect_snapshot(0);
  expect_equal(fenix::get_run().run, 2, "run");
  expect_equal(fenix::get_run().origin, 1, "origin");
  success(data::restart_done(kGroup), "restart_done");
  if (rank == 1) success(data::dataset_set_current(), "dataset_set_current, none");
  MPI_Barrier(comm);
  int time_stamp = -1;
  success(data::fetch(kGroup, {}, &time_stamp), "fetch");
  expect_equal(time_stamp, 1, "time stamp of the newest dataset");
  expect_snapshot(1);
  expect_equal(data::restart_done(kGroup, rank != 0), FENIX_WARNING_RESUMED, "restart_done, not good on one rank");
  expect_snapshot(0);
  expect_thrown(FENIX_ERROR_NODATA_FOUND, "fetch of an unknown name", [] { data::fetch(kGroup, "unknown"); });
  success(data::fetch(kGroup, "begin"), "fetch by name");
  expect_snapshot(0);
  success(Fenix_Finalize(), "Fenix_Finalize");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check::make_store();
  const std::string folder = check::store_folder();
  unsetenv("FENIX_STORE");
  without_store();
  setenv("FENIX_STORE", folder.c_str(), 1);
  first_use();
  second_use();
  check::remove_store();
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
