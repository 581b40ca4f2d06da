// SPDX-License-Identifier: BSD-3-Clause
// Measures the price of matching wildcards by MPI_Improbe and MPI_Mrecv instead of a receive posted with MPI_ANY_SOURCE. Knows
// nothing of Fenix: it tests Open MPI.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o matched_probes tests/open_mpi/matched_probes.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm [--mca btl tcp,self] -n 2 ./matched_probes [other]
//
// Two ranks play ping-pong, and half of the round trip is measured. Both sides receive in the way named. The ways take turns in 15
// blocks. Printed are the median block, the least, and the ratios to MPI_Recv from MPI_ANY_SOURCE. With "other", 32 unexpected messages
// of another tag wait at each rank all the time, and 32 receives of a third tag are posted.
// Seen with 8 B: MPI_Improbe and MPI_Mrecv cost 57 to 78 ns more than MPI_Recv from MPI_ANY_SOURCE, MPI_Mprobe and MPI_Mrecv 39 to
// 43 ns. With 64 KiB and 1 MiB there is no difference (0.98 to 1.02).
#include <algorithm>
#include <cstdio>
#include <mpi.h>
#include <vector>
#include <mpi-ext.h>

enum Way { exact, any, posted, posted_test, mprobe, improbe, improbe_i, iprobe, ways };
static const char* names[] = {"MPI_Recv, exact source",
                              "MPI_Recv, ANY_SOURCE",
                              "Irecv ANY posted before the send, Wait",
                              "Irecv ANY posted before, Test loop",
                              "Mprobe + Mrecv",
                              "Improbe loop + Mrecv",
                              "Improbe loop + Imrecv + Wait",
                              "Iprobe loop + Recv"};
static char* buffer;

static void receive(Way way, int bytes, MPI_Request* request) {
  MPI_Message message;
  MPI_Status status;
  MPI_Request r;
  int flag = 0;
  switch (way) {
    case exact: {
      int me;
      MPI_Comm_rank(MPI_COMM_WORLD, &me);
      MPI_Recv(buffer, bytes, MPI_BYTE, 1 - me, 1, MPI_COMM_WORLD, &status);
      break;
    }
    case any:
      MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
      break;
    case posted:
      MPI_Wait(request, &status);
      break;
    case posted_test:
      while (!flag) MPI_Test(request, &flag, &status);
      break;
    case mprobe:
      MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, &status);
      MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, &status);
      break;
    case improbe:
      while (!flag) MPI_Improbe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &message, &status);
      MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, &status);
      break;
    case improbe_i:
      while (!flag) MPI_Improbe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &message, &status);
      MPI_Imrecv(buffer, bytes, MPI_BYTE, &message, &r);
      MPI_Wait(&r, &status);
      break;
    case iprobe:
      while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status);
      MPI_Recv(buffer, bytes, MPI_BYTE, status.MPI_SOURCE, 1, MPI_COMM_WORLD, &status);
      break;
    default:
      break;
  }
}

static double block(Way way, int bytes, int count, int me) {
  MPI_Request request = MPI_REQUEST_NULL;
  const bool early = way == posted || way == posted_test;
  auto post = [&] {
    if (early) MPI_Irecv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
  };
  static std::vector<char> out(1 << 22, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (me == 1) post();
  for (int i = 0; i < count; ++i) {
    if (me == 0) {
      post();
      MPI_Send(out.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      receive(way, bytes, &request);
    } else {
      receive(way, bytes, &request);
      if (i + 1 < count) post();
      MPI_Send(out.data(), bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
  }
  return (MPI_Wtime() - start) / count / 2 * 1e6;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  buffer = new char[1 << 22]();
  if (argc > 1) {
    static MPI_Request requests[64];
    static char waste[64];
    for (int i = 0; i < 32; ++i) {
      MPI_Irecv(waste + i, 1, MPI_BYTE, MPI_ANY_SOURCE, 100, MPI_COMM_WORLD, &requests[i]);
      MPI_Isend(waste + i, 1, MPI_BYTE, 1 - me, 200, MPI_COMM_WORLD, &requests[32 + i]);
    }
  }
  const int sizes[] = {8, 65536, 1 << 20}, counts[] = {3000, 600, 120};
  for (int s = 0; s < 3; ++s) {
    std::vector<double> times[ways];
    for (int repeat = 0; repeat < 16; ++repeat)
      for (int w = 0; w < ways; ++w) {
        const double t = block(Way(w), sizes[s], counts[s], me);
        if (repeat > 0) times[w].push_back(t);  // the first is for warming up
      }
    for (auto& t : times) std::sort(t.begin(), t.end());
    if (me == 0)
      for (int w = 0; w < ways; ++w)
        printf("%8d B  %-40s median %9.3f us  least %9.3f  ratio of medians %.3f  of the least %.3f\n", sizes[s],
               names[w], times[w][7], times[w][0], times[w][7] / times[any][7], times[w][0] / times[any][0]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // Abort with "other": the waiting messages are left.
  if (argc > 1) MPI_Abort(MPI_COMM_WORLD, 0);
  MPI_Finalize();
}
