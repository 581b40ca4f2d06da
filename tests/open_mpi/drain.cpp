// SPDX-License-Identifier: BSD-3-Clause
// Drains pending point-to-point requests after a SIGKILL, a revoke, or both. Shows whether each request ends in bounded time, and
// whether its buffer is left alone afterwards. Knows nothing of Fenix: it tests Open MPI. README.md has what was seen.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o drain tests/open_mpi/drain.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm [--mca btl tcp,self | --mca smsc ^cma] -n 4 ./drain FOLDER JOB HOLD METHOD [MIB] [MS]
// tests/open_mpi/run makes many such jobs, and adds up their lines.
//   FOLDER  a folder that exists; each rank adds lines to FOLDER/out.JOB
//   JOB     the number of the job: seed of its random choices
//   HOLD    milliseconds from the first error to MPIX_Comm_revoke (0: at once)
//   METHOD  the calls that drain after the revoke: test, testall or wait
//   MIB     the size of the large streams (16)
//   MS      deaths and revokes come within this time (25)
// Variables of the environment, each of them off when it is not set:
//   DRAIN_TAME   no wildcards (receives from MPI_ANY_SOURCE)
//   DRAIN_WILD   all streams are received by wildcards
//   DRAIN_PROBE  all streams are received by MPI_Improbe and MPI_Imrecv
//   DRAIN_ONCE   streams do not start again
//   DRAIN_PAUSE  milliseconds without a call of MPI, around the death
//
// Rounds: (0) a revoke without a death, 4 ranks; (1) a rank is killed, 4 ranks; (2) a rank is killed, 3 ranks. Pending between each
// pair, in both directions: endless streams of MIB and of 64 KiB, single transfers of 1 KiB, 64 KiB and 1 MiB, receives and sends that
// nobody matches, and receives from MPI_ANY_SOURCE. The next message of a stream starts when the last has ended, so that some are cut
// in the middle. Steps of a round: drain, check the bytes, fill the buffers with a pattern, shrink, traffic, 0.5 s of progress, look
// at the patterns.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <fcntl.h>
#include <mpi.h>
#include <random>
#include <signal.h>
#include <string>
#include <time.h>
#include <unistd.h>
#include <vector>
#include <mpi-ext.h>

static double begun, known, revoked;  // of this round
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
  char line[200];
  const double t = now(), killed = known == 0 ? 0 : t - known, after = revoked == 0 ? 0 : t - revoked;
  (void)!write(
      out_file, line,
      snprintf(line, sizeof line,
               "%s round %d rank %d in %s %.4f s after the begin, %.4f after the first error, %.4f after the revoke\n",
               signal == SIGALRM ? "HUNG" : "CRASH", round_number, me, phase, t - begun, killed, after));
  void* frames[20];
  backtrace_symbols_fd(frames, backtrace(frames, 20), 2);
  kill(getpid(), SIGKILL);
}

struct Slot {
  const char* kind;
  bool receive, stream;
  int peer, tag;
  size_t size;
  char* buffer;
  MPI_Request request;
  uint64_t turn;
  int result;  // -1 pending, else the error class (0 is success)
  double ended;
  bool wrong, reused, probing;
};

static uint64_t word(int from, int to, int tag, uint64_t turn, size_t at) {
  return ((((turn * 8 + from) * 8 + to) * 64 + tag) << 24 | at >> 12) * 0x9E3779B97F4A7C15u;
}

static void stamp(Slot& s) {
  for (size_t at = 0; at + 8 <= s.size; at += 4096) {
    auto w = word(me, s.peer, s.tag, s.turn, at);
    memcpy(s.buffer + at, &w, 8);
  }
}

static bool right(const Slot& s, int source) {
  for (size_t at = 0; at + 8 <= s.size; at += 4096)
    if (const auto w = word(source, me, s.tag, s.turn, at); memcmp(s.buffer + at, &w, 8) != 0) return false;
  return true;
}

static void start(Slot& s, MPI_Comm comm) {
  int error = s.result = -1;
  if (s.probing) return;
  if (s.receive) {
    error = MPI_Irecv(s.buffer, s.size, MPI_BYTE, s.peer, s.tag, comm, &s.request);
  } else {
    stamp(s);
    error = MPI_Isend(s.buffer, s.size, MPI_BYTE, s.peer, s.tag, comm, &s.request);
  }
  if (error != MPI_SUCCESS) {
    MPI_Error_class(error, &s.result);
    s.ended = now();
    s.kind = "refused";
  }
}

int main(int argc, char** argv) {
  if (argc < 5) return 1;
  const std::string dir = argv[1], method = argv[4];
  const double hold = atof(argv[3]) / 1000;
  const size_t big = (argc > 5 ? atoi(argv[5]) : 16) * size_t(1 << 20);
  const bool once = getenv("DRAIN_ONCE"), probe = getenv("DRAIN_PROBE");
  const bool wild = getenv("DRAIN_WILD"), tame = getenv("DRAIN_TAME");
  const char* const pause = getenv("DRAIN_PAUSE");
  const char* const range = argc > 6 ? argv[6] : "25";
  MPI_Init(&argc, &argv);
  MPI_Comm comm, base = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(base, MPI_ERRORS_RETURN);
  kill_file = open((dir + "/kill." + argv[2]).c_str(), O_RDWR | O_CREAT, 0600);
  out_file = open((dir + "/out." + argv[2]).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  signal(SIGALRM, hung);
  signal(SIGSEGV, hung);
  signal(SIGPIPE, SIG_IGN);                   // over TCP a survivor would die of it now and then
  std::mt19937 random(atoi(argv[2]) * 7919);  // the same numbers on all ranks
  for (round_number = 0; round_number < 3; ++round_number) {
    phase = "dup";
    alarm(20);
    if (MPI_Comm_dup(base, &comm) != MPI_SUCCESS) {
      dprintf(out_file, "dup failed\n");
      break;
    }
    int size;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    const int victim = random() % size;
    const double delay = 0.0002 + (random() % 10000) * 1e-7 * atoi(range);  // 0.2 to 25 ms
    std::vector<Slot> slots;
    auto add = [&](const char* kind, bool receive, int peer, int tag, size_t bytes, bool stream = false) {
      slots.push_back({kind, receive, stream, peer, tag, bytes, static_cast<char*>(malloc(bytes)), MPI_REQUEST_NULL, 0,
                       -1, 0, false, false, false});
      memset(slots.back().buffer, 1, bytes);
    };
    for (int p = 0; p < size; ++p)
      for (bool r : {true, false}) {
        if (p == me) continue;
        const int from = r ? p : me, source = r && wild ? MPI_ANY_SOURCE : p;
        add("stream", r, source, 30 + from, big, true);
        add("stream", r, source, 40 + from, 65536, true);
        add("single", r, p, 3, 1024);
        add("single", r, p, 4, 65536);
        add("single", r, p, 5, 1 << 20);
        add("unmatched", r, p, r ? 10 : 11, 1024);
        add("unmatched", r, p, r ? 12 : 13, 1 << 20);
      }
    if (!tame) add("any-unmatched", true, MPI_ANY_SOURCE, 20, 1 << 20);
    add("any-matched", true, tame ? (me + size - 1) % size : MPI_ANY_SOURCE, 21, 1 << 20);
    add("single", false, (me + 1) % size, 21, 1 << 20);
    phase = "barrier";
    MPI_Barrier(comm);
    begun = now();
    known = revoked = 0;
    const bool killing = round_number > 0;
    if (killing && me == victim) {
      signal(SIGALRM, die);
      ualarm(int(delay * 1e6), 0);
    }
    bool paused = false;
    phase = "post";
    for (Slot& s : slots) {
      s.probing = probe && s.stream && s.receive;
      start(s, comm);
    }
    int notnull = 0, bad = 0, written = 0;
    auto end = [&](Slot& s, int error, int source, bool done) {
      int kind = 0;
      MPI_Error_class(error, &kind);
      if (kind != 0 && known == 0) known = now();
      if (kind == MPIX_ERR_PROC_FAILED_PENDING && !done) return;
      if (kind != 0 && s.request != MPI_REQUEST_NULL) ++notnull;
      if ((kind == 0 || kind == MPIX_ERR_PROC_FAILED_PENDING) && s.receive && !right(s, source)) s.wrong = true;
      s.result = kind;
      s.ended = now();
      if (s.stream && !once && kind == 0 && revoked == 0) {
        ++s.turn;
        s.probing = probe && s.receive;
        start(s, comm);
      }
    };
    phase = "drain";
    while (true) {
      if (pause && killing && !paused && now() - begun > delay - 0.001) {
        usleep(atoi(pause) * 1000);
        paused = true;
      }
      int pending = 0, flag;
      MPI_Status status;
      std::vector<MPI_Request> all;
      std::vector<Slot*> owner;
      for (Slot& s : slots) {
        if (s.result != -1) continue;
        ++pending;
        if (s.probing) {
          MPI_Message message;
          const int error = MPI_Improbe(MPI_ANY_SOURCE, s.tag, comm, &flag, &message, &status);
          if (error != MPI_SUCCESS) {
            end(s, error, 0, false);
          } else if (flag) {
            s.probing = false;
            MPI_Imrecv(s.buffer, s.size, MPI_BYTE, &message, &s.request);
          } else if (revoked != 0) {
            end(s, MPIX_ERR_REVOKED, 0, false);  // nothing was posted
          }
          continue;
        }
        if (method == "test" || revoked == 0) {
          const int error = MPI_Test(&s.request, &flag, &status);
          if (error != MPI_SUCCESS || flag) end(s, error, status.MPI_SOURCE, flag);
        } else if (method == "wait") {
          const int error = MPI_Wait(&s.request, &status);
          end(s, error, status.MPI_SOURCE, false);
        } else {
          all.push_back(s.request);
          owner.push_back(&s);
        }
      }
      if (!all.empty()) {  // testall, after the revoke
        std::vector<MPI_Status> states(all.size());
        for (auto& st : states) st.MPI_ERROR = MPI_ERR_PENDING;
        const int error = MPI_Testall(all.size(), all.data(), &flag, states.data());
        if (error != MPI_SUCCESS || flag)
          for (size_t i = 0; i < all.size(); ++i) {
            owner[i]->request = all[i];
            const int e = error == MPI_SUCCESS ? 0 : states[i].MPI_ERROR;
            if (e != MPI_ERR_PENDING) end(*owner[i], e, states[i].MPI_SOURCE, flag);
          }
      }
      if (pending == 0) break;
      const double t = now();
      const bool mine = !killing && me == victim && t - begun > delay;
      if (revoked == 0 && (mine || (known != 0 && t - known >= hold) || t - begun > 3)) {
        phase = "revoke";
        MPIX_Comm_revoke(comm);
        revoked = now();
        phase = "drain";
      }
      if (revoked != 0 && t - revoked > 5) break;
    }
    const double drained = now();
    for (Slot& s : slots)
      if (s.result != -1) memset(s.buffer, s.receive ? 0x5A : 0xA5, s.size);
    phase = "shrink";
    if (MPIX_Comm_shrink(comm, &base) != MPI_SUCCESS) {
      dprintf(out_file, "SHRINK failed\n");
      break;
    }
    const double shrunk = now();
    phase = "traffic";
    int n, r, sum = 0, one = 1, flag;
    MPI_Comm_set_errhandler(base, MPI_ERRORS_RETURN);
    MPI_Comm_size(base, &n);
    MPI_Comm_rank(base, &r);
    std::vector<char> out(1 << 22, char(r)), in(1 << 22);
    for (int i = 0; i < 5; ++i) {
      if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, base) != MPI_SUCCESS || sum != n) ++bad;
      if (MPI_Sendrecv(out.data(), out.size(), MPI_BYTE, (r + 1) % n, 1, in.data(), in.size(), MPI_BYTE,
                       (r + n - 1) % n, 1, base, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
          in[7] != (r + n - 1) % n || in.back() != (r + n - 1) % n)
        ++bad;
    }
    phase = "quiet";
    for (const double t = now(); now() - t < 0.5; usleep(1000))
      MPI_Iprobe(MPI_ANY_SOURCE, 63, base, &flag, MPI_STATUS_IGNORE);
    double killed = 0, never = 9e6;
    (void)!pread(kill_file, &killed, sizeof killed, 8 * round_number);
    const double event = killing ? killed : revoked;
    std::string text;
    char line[200];
    for (Slot& s : slots) {
      const char want = s.receive ? 0x5A : char(0xA5);
      if (s.result != -1) s.reused = s.buffer[0] != want || memcmp(s.buffer, s.buffer + 1, s.size - 1) != 0;
      written += s.reused;
      const char* other = s.peer == MPI_ANY_SOURCE ? "any" : killing && s.peer == victim ? "dead" : "alive";
      text +=
          std::string(line, snprintf(line, sizeof line, "q %d %d %s %s %s %zu %d %.3f %.3f %d %d peer %d\n",
                                     round_number, me, s.kind, s.receive ? "recv" : "send", other, s.size, s.result,
                                     (s.result == -1 ? never : s.ended - event) * 1e3,
                                     (s.result == -1 ? never : s.ended - revoked) * 1e3, s.reused, s.wrong, s.peer));
      if (s.result != -1) free(s.buffer);
    }
    text += std::string(
        line,
        snprintf(line, sizeof line,
                 "r %d %d size %d known %.3f revoked %.3f drained %.3f shrink %.3f bad %d written %d notnull %d\n",
                 round_number, me, size, (known - event) * 1e3, (revoked - event) * 1e3, (drained - event) * 1e3,
                 (shrunk - drained) * 1e3, bad, written, notnull));
    (void)!write(out_file, text.data(), text.size());
  }
  phase = "finalize";
  alarm(20);
  MPI_Finalize();
  dprintf(out_file, "end\n");
}
