// SPDX-License-Identifier: BSD-3-Clause
// Rules of collective functions on persistent communicators: wrong arguments, functions that are refused, missing contributions, buffers
// that are too small, several contributions that are kept, communicators that deliver as well. 3 ranks, and a spare for rank 1.
#include <fenix.h>
#include <mpi.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "persisting.hpp"

namespace {

constexpr int kVictim = 1;

struct Comms {
  MPI_Comm plain = MPI_COMM_NULL;
  MPI_Comm deep = MPI_COMM_NULL;
  MPI_Comm delivering = MPI_COMM_NULL;
};

Comms comms;
int rank = 0;
int size = 0;

void refuses(int code, int expected, const char* text) {
  const bool is_named = std::strstr(Fenix_Error_message(), text) != nullptr;
  if (code != expected || !is_named) std::printf("code %d, text: %s\n", code, Fenix_Error_message());
  CHECK(code == expected);
  CHECK(is_named);
}

bool has_failed() {
  int failed = -1;
  CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS);
  return failed == 1;
}

std::vector<int> from_all(int first) {
  std::vector<int> values;
  for (int each = 0; each < size; ++each) values.push_back(first + each);
  return values;
}

void check_arguments() {
  MPI_Comm comm = comms.plain;
  std::array<int, 8> data{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<int, 8> to{};
  int* from = data.data();
  refuses(MPI_Bcast(from, 1, MPI_INT, size, comm), MPI_ERR_ROOT, "root");
  refuses(MPI_Reduce(from, to.data(), 1, MPI_INT, MPI_SUM, -1, comm), MPI_ERR_ROOT, "root");
  refuses(MPI_Allreduce(from, to.data(), 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "op");
  refuses(MPI_Allgather(from, -1, MPI_INT, to.data(), 1, MPI_INT, comm), MPI_ERR_COUNT, "count");
  refuses(MPI_Allgather(nullptr, 1, MPI_INT, to.data(), 1, MPI_INT, comm), MPI_ERR_BUFFER, "buffer");
  refuses(MPI_Allgather(from, 1, MPI_DATATYPE_NULL, to.data(), 1, MPI_INT, comm), MPI_ERR_TYPE, "datatype");
  refuses(MPI_Neighbor_alltoall(from, 1, MPI_INT, to.data(), 1, MPI_INT, comm), MPI_ERR_TOPOLOGY, "topology");
  MPI_Request request = MPI_REQUEST_NULL;
  refuses(MPI_Ibcast(from, -1, MPI_INT, rank, comm, &request), MPI_ERR_COUNT, "count");
  std::vector<char> large(std::size_t{100} << 20U);
  refuses(MPI_Bcast(large.data(), static_cast<int>(large.size()), MPI_CHAR, rank, comm), MPI_ERR_NO_MEM,
          "persist_volume");
  CHECK(to == (std::array<int, 8>{}));
}

void check_refused() {
  std::array<int, 8> data{};
  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  for (MPI_Comm comm : {comms.plain, comms.delivering}) {
    CHECK(MPI_Win_create(data.data(), sizeof data, 1, MPI_INFO_NULL, comm, &window) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &base, &window) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, comm, &base, &window) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_Psend_init(data.data(), 1, 1, MPI_INT, rank, 0, comm, MPI_INFO_NULL, &request) ==
          MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_Precv_init(data.data(), 1, 1, MPI_INT, rank, 0, comm, MPI_INFO_NULL, &request) ==
          MPI_ERR_UNSUPPORTED_OPERATION);
  }
}

void exchange_with_types(std::vector<int>& received) {
  const auto count = static_cast<std::size_t>(size);
  std::vector<int> sent = from_all(100 * rank);
  const std::vector<int> ones(count, 1);
  std::vector<int> places;
  for (int each = 0; each < size; ++each) places.push_back(each * static_cast<int>(sizeof(int)));
  const std::vector<MPI_Datatype> types(count, MPI_INT);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK(MPI_Alltoallw_init(sent.data(), ones.data(), places.data(), types.data(), received.data(), ones.data(),
                           places.data(), types.data(), comms.plain, MPI_INFO_NULL, &request) == MPI_SUCCESS);
  int flag = 0;
  CHECK(MPI_Start(&request) == MPI_SUCCESS);
  CHECK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 1);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && request != MPI_REQUEST_NULL);
  CHECK(MPI_Request_free(&request) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
}

/// Calls functions on a communicator that delivers. When each rank has called them, a replacement gets the same alone.
void call_on_delivering(int turn) {
  MPI_Comm comm = comms.delivering;
  const int mine = 10 * turn + rank + 1;
  int sum = -1;
  CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(sum == 30 * turn + 6);
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK(MPI_Iallgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, comm, &request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
  CHECK(all == from_all(10 * turn + 1));
  int from_two = rank == 2 ? mine : -1;
  CHECK(MPI_Bcast(&from_two, 1, MPI_INT, 2, comm) == MPI_SUCCESS && from_two == 10 * turn + 3);
  // This one gives only.
  all.assign(all.size(), -1);
  CHECK(MPI_Gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, 0, comm) == MPI_SUCCESS);
  CHECK(all == (rank == 0 ? from_all(10 * turn + 1) : std::vector<int>(static_cast<std::size_t>(size), -1)));
  CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
  all.assign(all.size(), -1);
  CHECK(MPI_Allgather_init(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, comm, MPI_INFO_NULL, &request) == MPI_SUCCESS);
  CHECK(MPI_Start(&request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(all == from_all(10 * turn + 1));
  CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
}

void store() {
  MPI_Comm comm = comms.plain;
  check_arguments();
  check_refused();
  const int mine = 50 + rank;
  std::vector<int> untouched(static_cast<std::size_t>(size), -1);
  const std::vector<int> before = untouched;
  // Rank 2 does not take part.
  if (rank != 2) CHECK(MPI_Allgather(&mine, 1, MPI_INT, untouched.data(), 1, MPI_INT, comm) == MPI_SUCCESS);
  CHECK(MPI_Allreduce(&mine, untouched.data(), 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(MPI_Gather(&mine, 1, MPI_INT, untouched.data(), 1, MPI_INT, kVictim, comm) == MPI_SUCCESS);
  exchange_with_types(untouched);
  // Three of them are kept.
  for (int value = 1; value <= 4; ++value) {
    const int given = 10 * value + rank;
    CHECK(MPI_Allgather(&given, 1, MPI_INT, untouched.data(), 1, MPI_INT, comms.deep) == MPI_SUCCESS);
  }
  CHECK(untouched == before);
  call_on_delivering(1);
}

void restore() {
  MPI_Comm comm = comms.plain;
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  const std::vector<int> untouched = all;
  const int junk = -7;
  refuses(MPI_Allgather(&junk, 1, MPI_INT, all.data(), 1, MPI_INT, comm), MPI_ERR_OTHER, "nothing has been stored");
  MPI_Request request = MPI_REQUEST_NULL;
  refuses(MPI_Iallgather(&junk, 1, MPI_INT, all.data(), 1, MPI_INT, comm, &request), MPI_ERR_OTHER,
          "nothing has been stored");
  CHECK(all == untouched);
  // A buffer that is too small, and a reduction of other counts.
  const std::vector<int> none(all.size(), 0);
  const std::vector<int> places(all.size(), 0);
  refuses(MPI_Gatherv(&junk, 1, MPI_INT, all.data(), none.data(), places.data(), MPI_INT, kVictim, comm), MPI_ERR_OTHER,
          "nothing has been stored");
  refuses(MPI_Gather(&junk, 1, MPI_SHORT, all.data(), 1, MPI_SHORT, kVictim, comm), MPI_ERR_TRUNCATE, "4 bytes");
  refuses(MPI_Allreduce(&junk, all.data(), 2, MPI_INT, MPI_SUM, comm), MPI_ERR_TRUNCATE, "4 bytes");
  CHECK(all == untouched);
  int sum = 0;
  CHECK(MPI_Allreduce(&junk, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == 153);
  CHECK(MPI_Gather(&junk, 1, MPI_INT, all.data(), 1, MPI_INT, kVictim, comm) == MPI_SUCCESS && all == from_all(50));
  // It gives nothing, and gets nothing.
  all = untouched;
  CHECK(MPI_Gather(&junk, 1, MPI_INT, all.data(), 1, MPI_INT, 0, comm) == MPI_SUCCESS && all == untouched);
  CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
  exchange_with_types(all);
  for (int each = 0; each < size; ++each) CHECK(all[static_cast<std::size_t>(each)] == 100 * each + rank);
  for (int value = 2; value <= 4; ++value) {
    CHECK(MPI_Allgather(&junk, 1, MPI_INT, all.data(), 1, MPI_INT, comms.deep) == MPI_SUCCESS);
    CHECK(all == from_all(10 * value));
  }
  refuses(MPI_Allgather(&junk, 1, MPI_INT, all.data(), 1, MPI_INT, comms.deep), MPI_ERR_OTHER,
          "nothing has been stored");
  CHECK(has_failed());
  // No other rank takes part.
  call_on_delivering(1);
  CHECK(has_failed());
}

/// Nobody has called this one before: all execute it.
void execute() {
  const int mine = rank + 1;
  int sum = -1;
  CHECK(MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, comms.delivering) == MPI_SUCCESS);
  CHECK(sum == (rank + 1) * (rank + 2) / 2);
  CHECK(!has_failed());
  call_on_delivering(2);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "FENIX_RESUME_MODE", "RETURN");
  MPI_Info_set(info, "FENIX_UNHANDLED_MODE", "SILENT");
  int role = 0;
  int error = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, NULL, &argc, &argv, 1, 0, info, &error);
  MPI_Info_free(&info);
  rank = rank_in(MPI_COMM_WORLD);
  size = size_of(MPI_COMM_WORLD);
  comms.plain = persist(MPI_COMM_WORLD, "rules", {{"persist_missing", "error"}});
  comms.deep = persist(MPI_COMM_WORLD, "deep", {{"persist_missing", "error"}, {"persist_depth", "3"}});
  comms.delivering = persist(MPI_COMM_WORLD, "delivering", {{"persist_transparent", "true"}});
  for (MPI_Comm each : {comms.plain, comms.deep, comms.delivering}) MPI_Comm_set_errhandler(each, MPI_ERRORS_RETURN);
  const bool is_replacement = role == FENIX_ROLE_RECOVERED_RANK;
  CHECK(has_failed() == is_replacement);
  if (is_replacement) {
    restore();
  } else {
    store();
    // All have stored everything when rank 1 dies: the last function has come to its end on all.
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    if (rank == kVictim) std::raise(SIGKILL);
  }
  // Survivors wait here until the replacement has restored.
  int code = MPI_SUCCESS;
  do {
    code = MPI_Barrier(MPI_COMM_WORLD);
  } while (code != MPI_SUCCESS && is_failure(code));
  CHECK(code == MPI_SUCCESS);
  execute();
  Fenix_Finalize();
  MPI_Finalize();
  check::ok(rank);
  return 0;
}
