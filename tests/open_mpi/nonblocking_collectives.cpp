// SPDX-License-Identifier: BSD-3-Clause
// Drains nonblocking collectives that are pending when a rank dies or the communicator is revoked. Shows that they end in bounded time,
// and do no damage. Knows nothing of Fenix: it tests Open MPI.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o nonblocking_collectives tests/open_mpi/nonblocking_collectives.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm [--mca btl tcp,self] -n 4 ./nonblocking_collectives FOLDER JOB HOLD KIND
// tests/open_mpi/run makes many such jobs, and adds up their lines.
//   FOLDER  a folder that exists; each rank adds lines to FOLDER/out.JOB
//   JOB     the number of the job: seed of its random choices
//   HOLD    milliseconds from the first error to MPIX_Comm_revoke (0: at once); it comes after 2 s in any case
//   KIND    absent: the rank dies before it calls the collectives that the others have begun; loop: in the middle of a loop of them
//
// Rounds: (0) a revoke without a death, 4 ranks; (1) a rank dies, 4 ranks; (2) a rank dies, 3 ranks. In each round all eight are
// pending at once: Ibarrier; Ibcast, Iallreduce and Ialltoall with 8 B and with 256 KiB for each peer; Iallgather of 8 B. They are
// drained by MPI_Test. Steps after that: fill the buffers with a pattern, shrink, 20 rounds of collectives with checked results on the
// new communicator, blocking and not, 0.3 s of progress, look at the patterns.
// Seen: all end, with an error 34 ms after the event at the latest (1 s where a living peer made no call of MPI for 1 s). No hang,
// crash, late write or wrong result. Lines of NBC_Progress on stderr. In 6 of 2,325 errors the class was MPI_ERR_OTHER.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <fcntl.h>
#include <mpi.h>
#include <random>
#include <signal.h>
#include <string>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <vector>
#include <mpi-ext.h>

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static int kill_file, out_file, me, round_number;
static const char* phase = "start";

static void die(int) {
  const double t = now();
  (void)!pwrite(kill_file, &t, sizeof t, 8 * round_number);
  kill(getpid(), SIGKILL);
}

// Reports a call of MPI that has not returned, or a crash.
static void hung(int signal) {
  char line[100];
  const int n = snprintf(line, sizeof line, "%s round %d rank %d in %s\n", signal == SIGALRM ? "HUNG" : "CRASH",
                         round_number, me, phase);
  (void)!write(out_file, line, n);
  void* frames[20];
  backtrace_symbols_fd(frames, backtrace(frames, 20), 2);
  kill(getpid(), SIGKILL);
}

struct Op {
  const char* name;
  int count;  // doubles, for each peer
  std::vector<double> in, out;
  MPI_Request request = MPI_REQUEST_NULL;
  int result = -1, turn = 0;
  double ended = 0;
};

static int begin(Op& o, int n, MPI_Comm c) {
  const std::string name = o.name;
  o.result = -1;
  for (double& d : o.in) d = me + o.turn;
  for (double& d : o.out) d = -1;
  if (name == "ibarrier") return MPI_Ibarrier(c, &o.request);
  if (name == "ibcast") {
    for (double& d : o.out) d = me == 0 ? o.turn + 5 : -1;
    return MPI_Ibcast(o.out.data(), o.count * n, MPI_DOUBLE, 0, c, &o.request);
  }
  if (name == "iallreduce")
    return MPI_Iallreduce(o.in.data(), o.out.data(), o.count * n, MPI_DOUBLE, MPI_SUM, c, &o.request);
  if (name == "iallgather")
    return MPI_Iallgather(o.in.data(), o.count, MPI_DOUBLE, o.out.data(), o.count, MPI_DOUBLE, c, &o.request);
  return MPI_Ialltoall(o.in.data(), o.count, MPI_DOUBLE, o.out.data(), o.count, MPI_DOUBLE, c, &o.request);
}

static bool right(const Op& o, int n) {
  const std::string name = o.name;
  for (int i = 0; i < o.count * n; ++i) {
    const double want = name == "ibcast"       ? o.turn + 5
                        : name == "iallreduce" ? n * (n - 1) / 2 + n * o.turn
                                               : i / o.count + o.turn;
    if (name != "ibarrier" && o.out[i] != want) return false;
  }
  return true;
}

static std::vector<Op> operations(int n) {
  std::vector<Op> ops;
  auto add = [&](const char* name, int count) {
    Op o;
    o.name = name;
    o.count = count;
    o.in.resize(count * n);
    o.out.resize(count * n);
    ops.push_back(o);
  };
  add("ibarrier", 1);
  for (int count : {1, 32768}) {
    add("ibcast", count);
    add("iallreduce", count);
    add("ialltoall", count);
  }
  add("iallgather", 1);
  return ops;
}

int main(int argc, char** argv) {
  if (argc < 5) return 1;
  const std::string dir = argv[1];
  const int job = atoi(argv[2]);
  const double hold = atof(argv[3]) / 1000;
  const bool absent = std::string(argv[4]) == "absent";
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  kill_file = open((dir + "/kill." + argv[2]).c_str(), O_RDWR | O_CREAT, 0600);
  out_file = open((dir + "/out." + argv[2]).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  signal(SIGALRM, hung);
  signal(SIGSEGV, hung);
  signal(SIGABRT, hung);
  signal(SIGPIPE, SIG_IGN);  // over TCP a survivor would die of it now and then
  std::mt19937 random(job * 104729);
  MPI_Comm base = MPI_COMM_WORLD, comm, next;
  for (round_number = 0; round_number < 3; ++round_number) {
    alarm(20);
    phase = "dup";
    if (MPI_Comm_dup(base, &comm) != MPI_SUCCESS) {
      dprintf(out_file, "dup failed\n");
      break;
    }
    int n, flag;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    const bool killing = round_number > 0;
    const int victim = random() % n;
    const double delay = 0.001 + (random() % 1000) * 2e-5;  // 1 to 21 ms
    std::vector<Op> ops = operations(n);
    int wrong = 0, refused = 0;
    phase = "barrier";
    MPI_Barrier(comm);
    const double start = now();
    if (killing && me == victim) {
      signal(SIGALRM, die);
      const itimerval timer = {{0, 0}, {0, int(delay * 1e6)}};
      setitimer(ITIMER_REAL, &timer, nullptr);
      if (absent)
        while (true) usleep(1000);
    }
    double known = 0, revoked = 0;
    if (!killing && absent && me == victim) {
      usleep(delay * 1e6);
      MPIX_Comm_revoke(comm);
      known = revoked = now();
    }
    phase = "drain";
    bool again = true;
    while (true) {
      int pending = 0;
      for (Op& o : ops) {
        // Begin them in the same order on all ranks.
        if (o.request == MPI_REQUEST_NULL && again && known == 0) {
          const int error = begin(o, n, comm);
          if (error != MPI_SUCCESS) {
            MPI_Error_class(error, &o.result);
            ++refused;
            o.ended = now();
            if (known == 0) known = now();
          }
        }
        if (o.request == MPI_REQUEST_NULL) continue;
        const int error = MPI_Test(&o.request, &flag, MPI_STATUS_IGNORE);
        if (error == MPI_SUCCESS && !flag) {
          ++pending;
          continue;
        }
        MPI_Error_class(error, &o.result);
        o.ended = now();
        if (error == MPI_SUCCESS) {
          if (!right(o, n)) ++wrong;
          ++o.turn;
        } else {
          if (known == 0) known = now();
          if (o.request != MPI_REQUEST_NULL) {
            o.request = MPI_REQUEST_NULL;
            ++refused;
          }
        }
      }
      again = pending == 0;  // the next turn begins when all have ended
      const double t = now();
      const bool mine = !killing && me == victim && t - start > delay;
      if (revoked == 0 && (mine || (known != 0 && t - known >= hold) || t - start > 2)) {
        phase = "revoke";
        MPIX_Comm_revoke(comm);
        revoked = now();
        phase = "drain";
        if (known == 0) known = revoked;
      }
      if (revoked != 0 && (pending == 0 || t - revoked > 5)) break;
    }
    const double drained = now();
    for (Op& o : ops)
      if (o.request == MPI_REQUEST_NULL) {
        memset(o.in.data(), 0x5A, o.in.size() * 8);
        memset(o.out.data(), 0x5A, o.out.size() * 8);
      }
    phase = "shrink";
    if (MPIX_Comm_shrink(comm, &next) != MPI_SUCCESS) {
      dprintf(out_file, "SHRINK failed\n");
      break;
    }
    const double shrunk = now();
    phase = "traffic";
    MPI_Comm_set_errhandler(next, MPI_ERRORS_RETURN);
    const int old = me;
    int m, bad = 0;
    MPI_Comm_size(next, &m);
    MPI_Comm_rank(next, &me);
    std::vector<Op> fresh = operations(m);
    for (int i = 0; i < 20; ++i) {
      for (Op& o : fresh) {
        o.turn = i;
        if (begin(o, m, next) != MPI_SUCCESS) ++bad;
      }
      for (Op& o : fresh)
        if (MPI_Wait(&o.request, MPI_STATUS_IGNORE) != MPI_SUCCESS || !right(o, m)) ++bad;
      double one = 1, sum = 0;
      if (MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, next) != MPI_SUCCESS || sum != m) ++bad;
    }
    phase = "quiet";
    for (const double t = now(); now() - t < 0.3; usleep(1000))
      MPI_Iprobe(MPI_ANY_SOURCE, 63, next, &flag, MPI_STATUS_IGNORE);
    double killed = 0;
    (void)!pread(kill_file, &killed, sizeof killed, 8 * round_number);
    const double event = killing ? killed : start + delay;
    std::string text;
    char line[200];
    int written = 0;
    for (Op& o : ops) {
      const char* const p = reinterpret_cast<char*>(o.out.data());
      const bool touched =
          o.request == MPI_REQUEST_NULL && (p[0] != 0x5A || memcmp(p, p + 1, o.out.size() * 8 - 1) != 0);
      written += touched;
      text += std::string(
          line, snprintf(line, sizeof line, "o %d %d %s %d %d %.3f %.3f %d\n", round_number, old, o.name, o.count * 8,
                         o.ended == 0 && o.request == MPI_REQUEST_NULL ? -2
                         : o.request == MPI_REQUEST_NULL               ? o.result
                                                                       : -1,
                         (o.ended - event) * 1e3, (o.ended - revoked) * 1e3, touched));
    }
    text +=
        std::string(line, snprintf(line, sizeof line,
                                   "r %d %d size %d turns %d known %.3f revoked %.3f drained %.3f shrink %.3f bad %d "
                                   "written %d wrong %d refused %d\n",
                                   round_number, old, n, ops[0].turn, (known - event) * 1e3, (revoked - event) * 1e3,
                                   (drained - event) * 1e3, (shrunk - drained) * 1e3, bad, written, wrong, refused));
    (void)!write(out_file, text.data(), text.size());
    base = next;
    me = old;
  }
  phase = "finalize";
  alarm(20);
  MPI_Finalize();
  dprintf(out_file, "end\n");
}
