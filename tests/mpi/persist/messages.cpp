// SPDX-License-Identifier: BSD-3-Clause
// Messages on persistent communicators without a death: each kind of send, receive, probe and request; types, wildcards, depth, keys.
// Rank 0 also does what a program must not do.
#include <fenix.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "persisting.hpp"

namespace {

int rank = 0;
int size = 0;

int receive(MPI_Comm comm, int source, int tag) {
  int value = -1;
  MPI_Status status;
  CHECK(MPI_Recv(&value, 1, MPI_INT, source, tag, comm, &status) == MPI_SUCCESS);
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 1);
  if (source != MPI_ANY_SOURCE) CHECK(status.MPI_SOURCE == source);
  if (tag != MPI_ANY_TAG) CHECK(status.MPI_TAG == tag);
  return value;
}

void check_modes(MPI_Comm comm) {
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  const auto value = [](int from, int kind) { return 1000 * kind + from; };
  int kind = 0;
  for (const auto send : {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend}) {
    const int mine = value(rank, ++kind);
    CHECK(send(&mine, 1, MPI_INT, next, kind, comm) == MPI_SUCCESS);
    CHECK(receive(comm, before, kind) == value(before, kind));
    // Nothing is taken away.
    CHECK(receive(comm, before, kind) == value(before, kind));
  }
  for (const auto start : {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend}) {
    const int mine = value(rank, ++kind);
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(start(&mine, 1, MPI_INT, next, kind, comm, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(receive(comm, before, kind) == value(before, kind));
  }
  for (const auto init : {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init}) {
    int mine = 0;
    ++kind;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(init(&mine, 1, MPI_INT, rank, kind, comm, &request) == MPI_SUCCESS);
    for (int turn = 0; turn < 3; ++turn) {
      mine = value(rank, kind) + turn;
      CHECK(MPI_Start(&request) == MPI_SUCCESS);
      CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
      CHECK(receive(comm, rank, kind) == value(rank, kind) + turn);
    }
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
  }
}

void check_requests(MPI_Comm comm) {
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  // They are pending until the message is stored.
  std::array<int, 3> values{-1, -1, -1};
  std::array<MPI_Request, 3> requests{};
  for (int i = 0; i < 3; ++i) {
    CHECK(MPI_Irecv(&values[static_cast<std::size_t>(i)], 1, MPI_INT, rank, 200 + i, comm,
                    &requests[static_cast<std::size_t>(i)]) == MPI_SUCCESS);
  }
  int flag = 1;
  int index = -1;
  CHECK(MPI_Testall(3, requests.data(), &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS && flag == 0);
  CHECK(MPI_Testany(3, requests.data(), &index, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 0);
  std::array<int, 3> indices{};
  int outcount = -1;
  CHECK(MPI_Testsome(3, requests.data(), &outcount, indices.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS &&
        outcount == 0);
  CHECK(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 0);
  int mine = 41;
  MPI_Send(&mine, 1, MPI_INT, rank, 201, comm);
  MPI_Status status;
  CHECK(MPI_Request_get_status(requests[1], &flag, &status) == MPI_SUCCESS && flag == 1 && status.MPI_TAG == 201);
  CHECK(MPI_Waitany(3, requests.data(), &index, &status) == MPI_SUCCESS && index == 1);
  CHECK(values[1] == 41 && status.MPI_SOURCE == rank && status.MPI_TAG == 201 && requests[1] == MPI_REQUEST_NULL);
  mine = 40;
  MPI_Send(&mine, 1, MPI_INT, rank, 200, comm);
  std::array<MPI_Status, 3> statuses{};
  CHECK(MPI_Waitsome(3, requests.data(), &outcount, indices.data(), statuses.data()) == MPI_SUCCESS && outcount == 1);
  CHECK(indices[0] == 0 && values[0] == 40 && statuses[0].MPI_TAG == 200 && requests[0] == MPI_REQUEST_NULL);
  CHECK(MPI_Cancel(&requests[2]) == MPI_SUCCESS);
  CHECK(MPI_Wait(&requests[2], &status) == MPI_SUCCESS && MPI_Test_cancelled(&status, &flag) == MPI_SUCCESS &&
        flag == 1);

  // Persistent requests, beside one of MPI itself.
  int received = 0;
  MPI_Request persistent = MPI_REQUEST_NULL;
  CHECK(MPI_Recv_init(&received, 1, MPI_INT, before, 210, comm, &persistent) == MPI_SUCCESS);
  for (int turn = 0; turn < 3; ++turn) {
    mine = 100 * rank + turn;
    int plain = -1;
    std::array<MPI_Request, 2> both{persistent, MPI_REQUEST_NULL};
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&mine, 1, MPI_INT, next, 210, comm);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Irecv(&plain, 1, MPI_INT, before, 7, MPI_COMM_WORLD, &both[1]) == MPI_SUCCESS);
    CHECK(MPI_Start(&both[0]) == MPI_SUCCESS);
    CHECK(MPI_Send(&mine, 1, MPI_INT, next, 7, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Waitall(2, both.data(), statuses.data()) == MPI_SUCCESS);
    CHECK(received == 100 * before + turn && plain == received);
    CHECK(statuses[0].MPI_SOURCE == before && statuses[0].MPI_TAG == 210 && statuses[1].MPI_TAG == 7);
    persistent = both[0];
    CHECK(persistent != MPI_REQUEST_NULL && both[1] == MPI_REQUEST_NULL);
  }
  CHECK(MPI_Request_free(&persistent) == MPI_SUCCESS);

  mine = 7 * rank;
  int there = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_Sendrecv(&mine, 1, MPI_INT, next, 220, &there, 1, MPI_INT, before, 220, comm, &status) == MPI_SUCCESS);
  CHECK(there == 7 * before && status.MPI_SOURCE == before);
  there = 9 * rank;
  CHECK(MPI_Sendrecv_replace(&there, 1, MPI_INT, next, 221, before, 221, comm, &status) == MPI_SUCCESS);
  CHECK(there == 9 * before);
  MPI_Request exchange = MPI_REQUEST_NULL;
  mine = 11 * rank;
  CHECK(MPI_Isendrecv(&mine, 1, MPI_INT, next, 222, &there, 1, MPI_INT, before, 222, comm, &exchange) == MPI_SUCCESS);
  CHECK(MPI_Wait(&exchange, &status) == MPI_SUCCESS && there == 11 * before && status.MPI_TAG == 222);
}

void check_probes(MPI_Comm comm) {
  int flag = -1;
  MPI_Status status;
  CHECK(MPI_Iprobe(rank, 300, comm, &flag, &status) == MPI_SUCCESS && flag == 0);
  MPI_Message message = MPI_MESSAGE_NULL;
  CHECK(MPI_Improbe(rank, 300, comm, &flag, &message, &status) == MPI_SUCCESS && flag == 0);
  std::vector<int> sent(100000);
  std::iota(sent.begin(), sent.end(), rank);
  MPI_Send(sent.data(), static_cast<int>(sent.size()), MPI_INT, rank, 300, comm);
  int count = 0;
  CHECK(MPI_Probe(rank, 300, comm, &status) == MPI_SUCCESS);
  CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 100000 && status.MPI_SOURCE == rank);
  for (const bool immediate : {false, true}) {
    std::vector<int> received(sent.size());
    CHECK(MPI_Improbe(MPI_ANY_SOURCE, 300, comm, &flag, &message, &status) == MPI_SUCCESS && flag == 1);
    if (immediate) {
      MPI_Request request = MPI_REQUEST_NULL;
      CHECK(MPI_Imrecv(received.data(), count, MPI_INT, &message, &request) == MPI_SUCCESS);
      CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
    } else {
      CHECK(MPI_Mrecv(received.data(), count, MPI_INT, &message, &status) == MPI_SUCCESS);
    }
    CHECK(received == sent && status.MPI_TAG == 300 && status.MPI_SOURCE == rank && message == MPI_MESSAGE_NULL);
    CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 100000);
  }
}

void check_types(MPI_Comm comm) {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 5, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  std::array<double, 20> from{};
  std::array<double, 20> to{};
  std::iota(from.begin(), from.end(), 1.0);
  CHECK(MPI_Send(from.data() + 2, 1, column, rank, 400, comm) == MPI_SUCCESS);
  CHECK(MPI_Recv(to.data() + 1, 1, column, rank, 400, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  for (std::size_t i = 0; i < 20; ++i) CHECK(to[i] == (i % 5 == 1 ? from[i + 1] : 0.0));
  std::array<double, 4> plain{};
  CHECK(MPI_Recv(plain.data(), 4, MPI_DOUBLE, rank, 400, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  for (std::size_t i = 0; i < 4; ++i) CHECK(plain[i] == from[5 * i + 2]);
  // Fewer elements than one of the receiver's type.
  CHECK(MPI_Send(from.data(), 2, MPI_DOUBLE, rank, 401, comm) == MPI_SUCCESS);
  to.fill(-1.0);
  CHECK(MPI_Recv(to.data(), 1, column, rank, 401, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  for (std::size_t i = 0; i < 20; ++i) CHECK(to[i] == (i == 0 ? 1.0 : i == 5 ? 2.0 : -1.0));
  MPI_Type_free(&column);
  MPI_Status status;
  CHECK(MPI_Send(nullptr, 0, MPI_INT, rank, 402, comm) == MPI_SUCCESS);
  CHECK(MPI_Recv(nullptr, 0, MPI_INT, rank, 402, comm, &status) == MPI_SUCCESS && status.MPI_TAG == 402);
  const int value = 1;
  int other = 3;
  CHECK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 402, comm) == MPI_SUCCESS);
  CHECK(MPI_Recv(&other, 1, MPI_INT, MPI_PROC_NULL, 402, comm, &status) == MPI_SUCCESS);
  CHECK(other == 3 && status.MPI_SOURCE == MPI_PROC_NULL);
}

void check_wildcards(MPI_Comm comm) {
  for (const int tag : {500, 501}) {
    const int value = 10 * rank + tag;
    MPI_Send(&value, 1, MPI_INT, 0, tag, comm);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    CHECK(receive(comm, MPI_ANY_SOURCE, 500) == 500);
    CHECK(receive(comm, 1, MPI_ANY_TAG) == 511);
    CHECK(receive(comm, MPI_ANY_SOURCE, MPI_ANY_TAG) == 501);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void check_depth(MPI_Comm comm) {
  MPI_Comm fifo = persist(comm, "fifo", {{"persist_depth", "3"}, {"persist_missing", "error"}});
  MPI_Comm lifo =
      persist(comm, "lifo",
              {{"persist_depth", "3"}, {"persist_order", "lifo"}, {"persist_missing", "error"}, {"no_such_key", "x"}});
  MPI_Comm_set_errhandler(fifo, MPI_ERRORS_RETURN);
  for (MPI_Comm each : {fifo, lifo}) {
    for (int value = 1; value <= 5; ++value) MPI_Send(&value, 1, MPI_INT, rank, 0, each);
  }
  for (int value = 3; value <= 5; ++value) CHECK(receive(fifo, rank, 0) == value);
  for (int value = 5; value >= 3; --value) CHECK(receive(lifo, rank, 0) == value);
  int value = 0;
  CHECK(MPI_Recv(&value, 1, MPI_INT, rank, 0, fifo, MPI_STATUS_IGNORE) == MPI_ERR_OTHER);
  CHECK(std::strstr(Fenix_Error_message(), "nothing has been stored") != nullptr);
  // Nobody searches for a death behind it, which takes half a second.
  double fastest = 1;
  for (int turn = 0; turn < 3; ++turn) {
    const double begin = MPI_Wtime();
    CHECK(MPI_Recv(&value, 1, MPI_INT, rank, 0, fifo, MPI_STATUS_IGNORE) == MPI_ERR_OTHER);
    fastest = std::min(fastest, MPI_Wtime() - begin);
  }
  CHECK(fastest < 0.25);
  value = 6;
  MPI_Send(&value, 1, MPI_INT, rank, 0, fifo);
  CHECK(receive(fifo, rank, 0) == 6);
  MPI_Comm_free(&fifo);
  MPI_Comm_free(&lifo);
  CHECK(fifo == MPI_COMM_NULL);
}

void check_keys(MPI_Comm comm) {
  MPI_Comm a = persist(comm, "a");
  MPI_Comm b = persist(comm, "b");
  MPI_Comm a2 = persist(comm, "a");
  MPI_Comm self = persist(MPI_COMM_SELF, "a");
  int result = -1;
  CHECK(MPI_Comm_compare(comm, a, &result) == MPI_SUCCESS && result == MPI_CONGRUENT);
  int value = 1;
  for (MPI_Comm each : {a, b, a2}) {
    MPI_Send(&value, 1, MPI_INT, rank, 0, each);
    ++value;
  }
  MPI_Send(&value, 1, MPI_INT, 0, 0, self);
  CHECK(receive(a, rank, 0) == 1 && receive(b, rank, 0) == 2 && receive(a2, rank, 0) == 3 && receive(self, 0, 0) == 4);
  // The first one that is made anew goes on from the first one before.
  MPI_Comm_free(&a);
  a = persist(comm, "a");
  CHECK(receive(a, rank, 0) == 1);
  for (MPI_Comm* each : {&a, &b, &a2, &self}) MPI_Comm_free(each);
}

// Messages are stored and delivered: each one is received once, in the order of the sends, and is stored besides.
void check_transparent() {
  MPI_Comm both = persist(MPI_COMM_WORLD, "transparent", {{"persist_transparent", "true"}});
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  std::array<MPI_Request, 4> requests{};
  std::array<int, 4> sent{};
  std::array<int, 4> received{};
  for (int turn = 0; turn < 3; ++turn) {
    for (std::size_t i = 0; i < 4; ++i) sent[i] = 100 * rank + 10 * turn + static_cast<int>(i);
    CHECK(MPI_Recv_init(&received[3], 1, MPI_INT, before, 3, both, &requests[3]) == MPI_SUCCESS);
    CHECK(MPI_Start(&requests[3]) == MPI_SUCCESS);
    CHECK(MPI_Isend(&sent[0], 1, MPI_INT, next, 0, both, &requests[0]) == MPI_SUCCESS);
    CHECK(MPI_Send(&sent[1], 1, MPI_INT, next, 0, both) == MPI_SUCCESS);
    CHECK(MPI_Send_init(&sent[2], 1, MPI_INT, next, 0, both, &requests[1]) == MPI_SUCCESS);
    CHECK(MPI_Start(&requests[1]) == MPI_SUCCESS);
    CHECK(MPI_Issend(&sent[3], 1, MPI_INT, next, 3, both, &requests[2]) == MPI_SUCCESS);
    MPI_Status status;
    CHECK(MPI_Probe(before, 0, both, &status) == MPI_SUCCESS && status.MPI_SOURCE == before);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(MPI_Recv(&received[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, both, &status) == MPI_SUCCESS);
    }
    CHECK(MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (std::size_t i = 0; i < 4; ++i) CHECK(received[i] == 100 * before + 10 * turn + static_cast<int>(i));
    CHECK(MPI_Request_free(&requests[1]) == MPI_SUCCESS && MPI_Request_free(&requests[3]) == MPI_SUCCESS);
    int flag = 1;
    CHECK(MPI_Iprobe(before, 9, both, &flag, &status) == MPI_SUCCESS && flag == 0);
    int there = -1;
    CHECK(MPI_Sendrecv(&sent[0], 1, MPI_INT, next, 5, &there, 1, MPI_INT, before, 5, both, &status) == MPI_SUCCESS);
    CHECK(there == received[0]);
    CHECK(MPI_Sendrecv_replace(&there, 1, MPI_INT, before, 6, next, 6, both, &status) == MPI_SUCCESS);
    CHECK(there == sent[0]);
  }
  MPI_Comm_free(&both);
  MPI_Barrier(MPI_COMM_WORLD);
  // The same session without delivery has what was stored.
  both = persist(MPI_COMM_WORLD, "transparent");
  CHECK(receive(both, before, 0) == 100 * before + 22 && receive(both, before, 3) == 100 * before + 23);
  CHECK(receive(both, before, 5) == 100 * before + 20);
  MPI_Comm_free(&both);
}

// Rank 1 replaces a message again and again. There is one at each time.
void check_replacing(MPI_Comm comm) {
  constexpr int kTurns = 400;
  MPI_Comm errors = persist(comm, "replacing", {{"persist_missing", "error"}});
  std::vector<int> data(20000, 0);
  const auto count = static_cast<int>(data.size());
  if (rank == 1) CHECK(MPI_Send(data.data(), count, MPI_INT, 0, 0, errors) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int value = 1; rank == 1 && value <= kTurns; ++value) {
    std::fill(data.begin(), data.end(), value);
    CHECK(MPI_Send(data.data(), count, MPI_INT, 0, 0, errors) == MPI_SUCCESS);
  }
  for (int last = 0; rank == 0 && last < kTurns; last = data[0]) {
    CHECK(MPI_Recv(data.data(), count, MPI_INT, 1, 0, errors, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(data[0] >= last && std::count(data.begin(), data.end(), data[0]) == count);
  }
  MPI_Comm_free(&errors);
}

void refuses(int code, int expected, const char* text) {
  const bool named = std::strstr(Fenix_Error_message(), text) != nullptr;
  if (code != expected || !named) std::printf("code %d, text: %s\n", code, Fenix_Error_message());
  CHECK(code == expected);
  CHECK(named);
}

void check_errors(MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::array<int, 4> values{1, 2, 3, 4};
  int* data = values.data();
  refuses(MPI_Send(data, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK, "dest");
  refuses(MPI_Send(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm), MPI_ERR_RANK, "dest");
  refuses(MPI_Send(data, 1, MPI_INT, 0, -5, comm), MPI_ERR_TAG, "tag");
  refuses(MPI_Send(data, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT, "count");
  refuses(MPI_Send(nullptr, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER, "buffer");
  refuses(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE, "datatype");
  refuses(MPI_Recv(data, 1, MPI_INT, -7, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK, "source");
  MPI_Send(data, 4, MPI_INT, rank, 600, comm);
  values.fill(0);
  refuses(MPI_Recv(data, 3, MPI_INT, rank, 600, comm, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "16 bytes");
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Mprobe(rank, 600, comm, &message, MPI_STATUS_IGNORE);
  refuses(MPI_Mrecv(data, 3, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "more bytes than the buffer");
  CHECK(message == MPI_MESSAGE_NULL);
  MPI_Mprobe(rank, 600, comm, &message, MPI_STATUS_IGNORE);
  refuses(MPI_Imrecv(data, 3, MPI_INT, &message, &request), MPI_ERR_TRUNCATE, "more bytes than the buffer");
  CHECK(std::all_of(values.begin(), values.end(), [](int value) { return value == 0; }));
  MPI_Comm made = comm;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_depth", "0");
  refuses(MPI_Comm_persist(comm, "key", info, &made), MPI_ERR_INFO_VALUE, "persist_depth");
  CHECK(made == MPI_COMM_NULL);
  MPI_Info_delete(info, "persist_depth");
  MPI_Info_set(info, "persist_dir", "/no/such/folder");
  refuses(MPI_Comm_persist(comm, "key", info, &made), MPI_ERR_IO, "persist_dir");
  MPI_Info_free(&info);
  refuses(MPI_Comm_persist(comm, nullptr, MPI_INFO_NULL, &made), MPI_ERR_ARG, "key");
  refuses(MPI_Comm_persist(comm, "key", MPI_INFO_NULL, nullptr), MPI_ERR_ARG, "persistentcomm");
  made = comm;
  refuses(MPI_Comm_persist(MPI_COMM_NULL, "key", MPI_INFO_NULL, &made), MPI_ERR_COMM, "comm is MPI_COMM_NULL");
  CHECK(made == MPI_COMM_NULL);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, 0, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  refuses(MPI_Comm_persist(inter, "key", MPI_INFO_NULL, &made), MPI_ERR_COMM, "intercommunicator");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&part);
  std::vector<char> large(std::size_t{100} << 20U);
  refuses(MPI_Send(large.data(), static_cast<int>(large.size()), MPI_CHAR, rank, 601, comm), MPI_ERR_NO_MEM,
          "persist_volume");
  // Nothing that was stored has been harmed.
  MPI_Recv(data, 4, MPI_INT, rank, 600, comm, MPI_STATUS_IGNORE);
  CHECK(values[3] == 4);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm made = MPI_COMM_WORLD;
  refuses(MPI_Comm_persist(MPI_COMM_SELF, "key", MPI_INFO_NULL, &made), MPI_ERR_OTHER, "before Fenix_Init");
  CHECK(made == MPI_COMM_NULL);
  int role = 0;
  int error = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, NULL, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int flag = -1;
  CHECK(Fenix_Failure(&flag) == FENIX_SUCCESS && flag == 0);
  MPI_Comm comm = persist(MPI_COMM_WORLD, "messages");
  check_modes(comm);
  check_requests(comm);
  check_probes(comm);
  check_types(comm);
  check_wildcards(comm);
  check_depth(MPI_COMM_WORLD);
  check_keys(MPI_COMM_WORLD);
  check_transparent();
  check_replacing(MPI_COMM_WORLD);
  check_errors(comm);
  MPI_Comm_free(&comm);
  Fenix_Finalize();
  MPI_Finalize();
  check::ok(rank);
}
