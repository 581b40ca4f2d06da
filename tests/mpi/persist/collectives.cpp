// SPDX-License-Identifier: BSD-3-Clause
// All collective functions on persistent communicators. MPI itself says on ordinary communicators which result each rank has to get; that
// is kept in memory that outlives processes. Then ranks store their contributions, while some of them die, and each replacement restores
// all results. Survivors never take part: their buffers stay as they are.
//
//   collectives MODE SPARES FORM [--turns] [--kill RANK]… [--late RANK] [--deaths N]
//
// MODE: jump or return. FORM, in which contributions are stored: blocking, immediate or started. --turns: a rank begins when the one
// before has done all its calls. --late: this rank stores later than the others. Ranks die when they have stored
// everything, or by FENIX_FAULT. --deaths: so many in all, if some are by FENIX_FAULT.
#include <fcntl.h>
#include <fenix.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "collective_cases.hpp"
#include "persisting.hpp"

namespace {

constexpr int kMostCases = 160;
constexpr int kMostRanks = 5;

struct Shared {
  /// What MPI gives, by case and rank.
  int results[kMostCases][kMostRanks][2 * kRoom];
  std::atomic<bool> expected[kMostRanks];
  /// Whether a rank has stored its contribution.
  std::atomic<bool> stored[kMostCases][kMostRanks];
  std::atomic<int> deaths;
  std::atomic<int> restored;
  std::atomic<int> replacements;
};

struct Options {
  bool jumps = true;
  int spares = 1;
  Form form = Form::blocking;
  bool takes_turns = false;
  std::vector<int> kills;
  int late = -1;
  int deaths = 0;
};

Options options;
Shared* shared = nullptr;
MPI_Comm ordinary[kKinds];
MPI_Comm persistent[kKinds];
MPI_Comm alone = MPI_COMM_NULL;
bool starts = true;

int rank() { return rank_in(MPI_COMM_WORLD); }
int size() { return size_of(MPI_COMM_WORLD); }

void share() {
  struct Where {
    int pid = 0;
    int fd = 0;
  } where;
  if (rank() == 0) {
    where = {getpid(), memfd_create("results", MFD_CLOEXEC)};
    CHECK(ftruncate(where.fd, sizeof(Shared)) == 0);
  }
  MPI_Bcast(&where, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string name = "/proc/" + std::to_string(where.pid) + "/fd/" + std::to_string(where.fd);
  const int fd = open(name.c_str(), O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  shared = static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  CHECK(shared != MAP_FAILED);
  close(fd);
  MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<Case>& cases() {
  static std::vector<Case> all = all_cases(size());
  return all;
}

void make_communicators() {
  for (int kind = 0; kind < kKinds; ++kind) {
    ordinary[kind] = make_comm(MPI_COMM_WORLD, static_cast<Kind>(kind));
    persistent[kind] = persist(ordinary[kind], "collectives");
    MPI_Comm_set_errhandler(persistent[kind], MPI_ERRORS_RETURN);
  }
  alone = persist(MPI_COMM_SELF, "collectives");
}

void compute_expectations() {
  const int me = rank();
  CHECK(cases().size() <= kMostCases && size() <= kMostRanks);
  for (std::size_t i = 0; i < cases().size(); ++i) {
    const Case& each = cases()[i];
    check::context() = "MPI's " + each.name + ": ";
    Buffers buffers;
    fill(each, me, size(), true, buffers);
    CHECK(each.call(Form::blocking, ordinary[static_cast<int>(each.kind)], buffers) == MPI_SUCCESS);
    int* result = shared->results[i][me];
    std::copy(buffers.sent.begin(), buffers.sent.end(), result);
    std::copy(buffers.received.begin(), buffers.received.end(), result + kRoom);
  }
  check::context().clear();
  MPI_Barrier(MPI_COMM_WORLD);
  shared->expected[me] = true;
}

/// Calls a function until no death disturbs it.
template <class Call>
int repeat(const Call& call) {
  int code = MPI_SUCCESS;
  do {
    code = call();
  } while (code != MPI_SUCCESS && is_failure(code));
  return code;
}

void restore_all() {
  const int me = rank();
  int restored = 0;
  ++shared->replacements;
  for (std::size_t i = 0; i < cases().size(); ++i) {
    const Case& each = cases()[i];
    // A contribution of its own that the dead rank had not stored cannot be awaited.
    if (!shared->stored[i][me]) continue;
    for (const Form form : {Form::blocking, Form::immediate, Form::started}) {
      check::context() = "restored " + each.name + ": ";
      Buffers buffers;
      const int code = repeat([&] {
        fill(each, me, size(), false, buffers);
        return each.call(form, persistent[static_cast<int>(each.kind)], buffers);
      });
      check::require(code == MPI_SUCCESS, "error " + std::to_string(code));
      const int* result = shared->results[i][me];
      const int defined = each.defined ? each.defined(me, size()) : kRoom;
      CHECK(std::equal(buffers.sent.begin(), buffers.sent.end(), result));
      for (int at = 0; at < defined; ++at) {
        check::require(buffers.received[static_cast<std::size_t>(at)] == result[kRoom + at], [&] {
          return "integer " + std::to_string(at) + " is " +
                 std::to_string(buffers.received[static_cast<std::size_t>(at)]) + ", not " +
                 std::to_string(result[kRoom + at]);
        });
      }
    }
    ++restored;
  }
  check::context().clear();
  int failed = 0;
  CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS && failed == 1);
  shared->restored += restored;
  // The rank goes on: it stores from now on.
  CHECK(repeat([&] { return MPI_Send(&restored, 1, MPI_INT, 0, 0, alone); }) == MPI_SUCCESS);
  CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS && failed == 0);
}

void store_all() {
  const int me = rank();
  for (std::size_t i = 0; i < cases().size(); ++i) {
    const Case& each = cases()[i];
    check::context() = "stored " + each.name + ": ";
    Buffers before;
    fill(each, me, size(), true, before);
    Buffers buffers = before;
    const int code = repeat([&] { return each.call(options.form, persistent[static_cast<int>(each.kind)], buffers); });
    check::require(code == MPI_SUCCESS, "error " + std::to_string(code));
    CHECK(buffers == before);
    shared->stored[i][me] = true;
  }
  check::context().clear();
}

/// Contributions are no messages.
void check_no_messages() {
  for (MPI_Comm each : persistent) {
    int flag = 1;
    CHECK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, each, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 0);
  }
}

/// deaths: that there have been.
void die_if_due(int deaths) {
  const auto next = static_cast<std::size_t>(deaths);
  if (next == options.kills.size() || options.kills[next] != rank()) return;
  ++shared->deaths;
  std::raise(SIGKILL);
}

void work() {
  const int me = rank();
  if (!shared->expected[me]) compute_expectations();
  int failed = 0;
  CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS);
  if (failed != 0) restore_all();
  if (options.takes_turns && me > 0) MPI_Recv(nullptr, 0, MPI_INT, me - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (me == options.late) usleep(500000);
  store_all();
  if (options.takes_turns && me + 1 < size()) MPI_Send(nullptr, 0, MPI_INT, me + 1, 0, MPI_COMM_WORLD);
  check_no_messages();
  // The first one dies while others may still be storing.
  if (shared->deaths == 0) die_if_due(0);
}

void parse(int argc, char** argv) {
  options.jumps = std::string(argv[1]) == "jump";
  options.spares = std::atoi(argv[2]);
  const std::string form = argv[3];
  options.form = form == "blocking" ? Form::blocking : form == "immediate" ? Form::immediate : Form::started;
  for (int i = 4; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--turns") options.takes_turns = true;
    if (name == "--kill") options.kills.push_back(std::atoi(argv[++i]));
    if (name == "--deaths") options.deaths = std::atoi(argv[++i]);
    if (name == "--late") options.late = std::atoi(argv[++i]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  parse(argc, argv);
  MPI_Init(&argc, &argv);
  share();
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "FENIX_RESUME_MODE", options.jumps ? "JUMP" : "RETURN");
  MPI_Info_set(info, "FENIX_UNHANDLED_MODE", "SILENT");
  int role = 0;
  int error = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, NULL, &argc, &argv, options.spares, 0, info, &error);
  // In mode "jump" survivors come here again.
  if (options.jumps || starts) make_communicators();
  starts = false;
  int code = FENIX_SUCCESS;
  do {
    work();
    const int deaths = shared->deaths;
    // A death that this rank has not noticed yet leads to a repair here.
    if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS) continue;
    // The next one dies when the repair before has come to its end. Two neighbours that die together would take what they had stored
    // with them.
    die_if_due(deaths);
    if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS) continue;
    code = Fenix_Finalize();
    CHECK(code == FENIX_SUCCESS || code == FENIX_ERROR_CANCELLED);
    if (code == FENIX_SUCCESS) break;
  } while (true);
  const auto killed = static_cast<int>(options.kills.size());
  CHECK(shared->replacements == std::max(killed, options.deaths));
  // Everything has been restored once for each of these deaths.
  if (options.deaths == 0) CHECK(shared->restored == static_cast<int>(cases().size()) * killed);
  check::ok(rank());
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
