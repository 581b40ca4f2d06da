// SPDX-License-Identifier: BSD-3-Clause
// A ring with message logs, by the names of the current Fenix: only the rank that dies goes back to its checkpoint. The others execute each
// iteration once, and the values of all are those of a computation that each rank does for itself.
//
//   logged_regions MODE SPARES --deaths N [--kill RANK@ITERATION]… [--place N] [--dies RANK] [--bytes N] [--asks 1] [--decides 1]
//                  [--pause MICROSECONDS]
//
// MODE: inline, autosync, return (calls end with the error, and the program makes them again), jump (all ranks come out of Fenix_Init and go
// back to their checkpoints). Or back: as inline, and all go back because logs lack something. A rank dies in the middle of an iteration, before
// it exchanges values (--place 1), after the sum (--place 2), before the message of --bytes (--place 3), or by FENIX_FAULT (--dies). --bytes: of one more message in each iteration. --asks: a checkpoint is stored when Fenix_Data_need_commit says so.
// --decides: a receive takes a message from any rank. --pause: between iterations; rank 0 prints their numbers, for tests/nodes/beside.
#include <fcntl.h>
#include <fenix.hpp>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../check.hpp"

using check::require;

namespace {

constexpr int kLog = 3;
constexpr int kGroup = 1;
constexpr int kStateMember = 1;
constexpr int kLogMember = 2;
constexpr int kIterations = 60;
constexpr int kInterval = 7;  // iterations between checkpoints
constexpr int kDepth = 8;

struct Kill {
  int rank = 0;
  int iteration = 0;
};

struct Options {
  std::string mode;
  int spares = 1;
  int deaths = 0;
  int bytes = 0;
  bool asks = false;
  bool decides = false;
  int place = 0;
  int pause = 0;
  std::vector<Kill> kills;
};

struct State {
  std::int64_t iteration = 0;
  std::int64_t value = 0;
};

Options options;
MPI_Comm comm = MPI_COMM_NULL;
int role = 0;
int error = 0;
int checkpoints = 0;  // for which Fenix_Data_need_commit has asked
State state;

std::atomic<int>* counts = nullptr;  // of executions, by rank and iteration, in memory that outlives processes

constexpr int kCounts = kIterations + 2;  // of each rank

std::atomic<int>& executed(int rank, int iteration) { return counts[rank * kCounts + iteration]; }
/// Whether a rank has been killed by itself.
std::atomic<int>& has_died(int rank) { return executed(rank, kIterations); }
/// The latest iteration in which a process of a rank has got the message from before.
std::atomic<int>& latest_late(int rank) { return executed(rank, kIterations + 1); }

void share_counts(int processes) {
  const std::size_t bytes = sizeof(int) * static_cast<std::size_t>(processes * kCounts);
  std::array<char, 32> name{"counts-XXXXXX"};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const int made = mkstemp(name.data());
    require(made >= 0 && ftruncate(made, static_cast<off_t>(bytes)) == 0, "a file for counts");
    close(made);
  }
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  const int file = open(name.data(), O_RDWR | O_CLOEXEC);
  counts = static_cast<std::atomic<int>*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  require(file >= 0 && counts != MAP_FAILED, "memory for counts");
  close(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(name.data());
}

bool is_inline() { return options.mode == "inline" || options.mode == "autosync" || options.mode == "back"; }

std::int64_t next_value(std::int64_t own, std::int64_t left, std::int64_t right, std::int64_t sum) {
  return (own * 31 + left * 7 + right * 3 + sum) % 1'000'003;
}

/// The value of a rank at the end, without any message.
std::int64_t expected_value(int rank, int size) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) values[static_cast<std::size_t>(i)] = i + 1;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const std::vector<std::int64_t> before = values;
    std::int64_t sum = 0;
    for (const std::int64_t each : before) sum += each;
    const auto at = [&](int i) { return before[static_cast<std::size_t>((i + size) % size)]; };
    for (int i = 0; i < size; ++i) values[static_cast<std::size_t>(i)] = next_value(at(i), at(i - 1), at(i + 1), sum);
  }
  return values[static_cast<std::size_t>(rank)];
}

/// Makes a call again that a failure has cut short. Only where calls end with its error.
template <class Call>
void call(const Call& function) {
  int code = MPI_SUCCESS;
  do {
    code = function();
  } while (code != MPI_SUCCESS && options.mode == "return");
  require(code == MPI_SUCCESS, "a call goes on");
}

/// The same for functions of Fenix.
template <class Call>
void data_call(const Call& function) {
  int code = FENIX_SUCCESS;
  do {
    code = function();
  } while (code == FENIX_ERROR_CANCELLED);
  require(code >= FENIX_SUCCESS, "a function of Fenix returns " + std::to_string(code));
}

int form_group() {
  int flag = 0;
  return Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, &flag);
}

void begin() {
  if (role == FENIX_ROLE_RECOVERED_RANK) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    latest_late(rank) = -1;
  }
  data_call([] { return Fenix_Mlog_create(kLog, &comm, kDepth); });
  data_call(form_group);
  data_call([] { return Fenix_Data_member_define(kGroup, kStateMember, &state, 2, MPI_INT64_T); });
  data_call([] { return Fenix_Mlog_define_data_member(kLog, kGroup, kLogMember); });
  if (role == FENIX_ROLE_INITIAL_RANK) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    state = {0, rank + 1};
    data_call([] { return Fenix_Data_checkpoint(kGroup, FENIX_DATA_SUBSET_FULL, 0, nullptr, nullptr); });
    return;
  }
  for (const int member : {kStateMember, kLogMember}) {
    data_call([&] {
      return Fenix_Data_member_restore(kGroup, member, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL,
                                       FENIX_DATA_SNAPSHOT_LATEST, nullptr);
    });
  }
  data_call([] { return Fenix_Mlog_sync(kLog, static_cast<int>(state.iteration)); });
}

/// Survivors help the ranks that take the places of dead ones.
void help(MPI_Comm, int, void*) {
  int active = FENIX_MLOG_NONE;
  check::success(Fenix_Mlog_active(&active), "Fenix_Mlog_active");
  // All ranks go back: each one takes up its own state.
  require((active == FENIX_MLOG_NONE) == (options.mode == "back"), "the log is active if calls go on");
  if (active == FENIX_MLOG_NONE) return;
  // After a further failure this has been called once more meanwhile, and has done all.
  if (form_group() == FENIX_ERROR_CANCELLED) return;
  for (const int member : {kStateMember, kLogMember}) {
    const int code = Fenix_Data_member_restore(kGroup, member, nullptr, 0, FENIX_DATA_SNAPSHOT_LATEST, nullptr);
    if (code == FENIX_ERROR_CANCELLED) return;
    check::success(code, "a survivor helps");
  }
  if (options.mode == "inline") check::success(Fenix_Mlog_sync(kLog, FENIX_MLOG_CONTINUE), "Fenix_Mlog_sync");
}

/// Dies together with all ranks that are to die in this iteration.
void die_with_others(int iteration) {
  constexpr double kSeconds = 20;
  for (const Kill& each : options.kills) {
    for (const double start = MPI_Wtime(); each.iteration == iteration && has_died(each.rank) == 0;)
      require(MPI_Wtime() - start < kSeconds, "the others come to die");
  }
  raise(SIGKILL);
}

void die_if_due(int rank, int iteration) {
  for (const Kill& each : options.kills) {
    const bool comes = each.rank == rank && each.iteration == iteration;
    if (comes && has_died(rank).exchange(1) == 0) die_with_others(iteration);
  }
}

/// Exchanges a message that fills the logs, in one of three ways.
void exchange_more(int left, int right, int iteration) {
  if (options.bytes == 0) return;
  const std::vector<char> sent(static_cast<std::size_t>(options.bytes), static_cast<char>(iteration));
  std::vector<char> received(sent.size());
  const auto receive = [&] {
    for (int flag = 0; flag == 0;) call([&] { return MPI_Iprobe(left, 3, comm, &flag, MPI_STATUS_IGNORE); });
    call([&] { return MPI_Recv(received.data(), options.bytes, MPI_CHAR, left, 3, comm, MPI_STATUS_IGNORE); });
  };
  if (iteration % 3 == 1) {
    call([&] {
      return MPI_Sendrecv(sent.data(), options.bytes, MPI_CHAR, right, 3, received.data(), options.bytes, MPI_CHAR,
                          left, 3, comm, MPI_STATUS_IGNORE);
    });
    require(received == sent, "the message that fills the logs, by Sendrecv");
    return;
  }
  if (iteration % 3 == 2 && options.mode != "return") {
    std::array<MPI_Request, 2> requests{};
    MPI_Isend(sent.data(), options.bytes, MPI_CHAR, right, 3, comm, &requests[0]);
    MPI_Irecv(received.data(), options.bytes, MPI_CHAR, left, 3, comm, &requests[1]);
    // A process that repeats this has to find the same as its predecessor: nothing, so many times.
    for (int flag = 0; flag == 0;) call([&] { return MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE); });
    call([&] { return MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE); });
    require(received == sent, "the message that fills the logs, by Isend");
    return;
  }
  // A large message ends with its receive: neighbours take turns.
  const bool receives_first = left % 2 == 0;
  if (receives_first) receive();
  call([&] { return MPI_Send(sent.data(), options.bytes, MPI_CHAR, right, 3, comm); });
  if (!receives_first) receive();
  require(received == sent, "the message that fills the logs");
}

/// Whether a checkpoint is to be stored.
bool is_due() {
  if (!options.asks) return state.iteration % kInterval == 0;
  int flag = 0;
  data_call([&] { return Fenix_Data_need_commit(kGroup, &flag); });
  checkpoints += flag;
  return flag != 0;
}

void pause(int rank, int iteration) {
  if (options.pause == 0) return;
  if (rank == 0) std::printf("step %d\n", iteration);
  std::fflush(stdout);
  usleep(static_cast<useconds_t>(options.pause));
}

/// Waits until a neighbour has the message from before the checkpoint, as long as this rank calls nothing that is logged: a log that is active
/// has sent it.
void wait_for_late(int neighbour, int iteration) {
  constexpr double kSeconds = 20;
  for (const double start = MPI_Wtime(); latest_late(neighbour) < iteration;)
    require(MPI_Wtime() - start < kSeconds, "a message from before the checkpoint comes when the log is active");
}

void iterate() {
  bool is_new = role == FENIX_ROLE_RECOVERED_RANK;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  while (state.iteration < kIterations) {
    const int iteration = static_cast<int>(state.iteration);
    pause(rank, iteration);
    data_call([&] { return Fenix_Mlog_activate_region(kLog, iteration); });
    if (std::exchange(is_new, false) && iteration > 0) wait_for_late(right, iteration);
    std::int64_t from_left = 0;
    std::int64_t from_right = 0;
    std::int64_t sum = 0;
    // It was sent in the iteration before: there may have been a checkpoint meanwhile.
    std::int64_t late = 0;
    const int from = options.decides ? MPI_ANY_SOURCE : left;
    if (iteration > 0) {
      call([&] { return MPI_Recv(&late, 1, MPI_INT64_T, from, 2, comm, MPI_STATUS_IGNORE); });
      latest_late(rank) = iteration;
    }
    if (options.place == 1) die_if_due(rank, iteration);
    call([&] {
      return MPI_Sendrecv(&state.value, 1, MPI_INT64_T, right, 0, &from_left, 1, MPI_INT64_T, left, 0, comm,
                          MPI_STATUS_IGNORE);
    });
    if (options.place == 0) die_if_due(rank, iteration);
    call([&] { return MPI_Allreduce(&state.value, &sum, 1, MPI_INT64_T, MPI_SUM, comm); });
    if (options.place == 2) die_if_due(rank, iteration);
    // Where calls end with errors, a program would have to begin requests again.
    if (options.mode != "return") {
      std::array<MPI_Request, 2> requests{};
      MPI_Irecv(&from_right, 1, MPI_INT64_T, right, 1, comm, &requests[0]);
      MPI_Isend(&state.value, 1, MPI_INT64_T, left, 1, comm, &requests[1]);
      call([&] { return MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE); });
    } else {
      call([&] { return MPI_Send(&state.value, 1, MPI_INT64_T, left, 1, comm); });
      call([&] { return MPI_Recv(&from_right, 1, MPI_INT64_T, right, 1, comm, MPI_STATUS_IGNORE); });
    }
    require(iteration == 0 || late == from_left, "the message from before");
    if (options.place == 3) die_if_due(rank, iteration);
    exchange_more(left, right, iteration);
    state.value = next_value(state.value, from_left, from_right, sum);
    if (iteration + 1 < kIterations) call([&] { return MPI_Send(&state.value, 1, MPI_INT64_T, right, 2, comm); });
    ++executed(rank, iteration);
    ++state.iteration;
    if (is_due()) {
      const auto checkpoint = [] { return Fenix_Data_checkpoint(kGroup, FENIX_DATA_SUBSET_FULL, 0, nullptr, nullptr); };
      if (is_inline()) {
        check::success(checkpoint(), "a checkpoint goes on");
      } else {
        data_call(checkpoint);
      }
    }
  }
  require(state.value == expected_value(rank, size), "the value at the end");
}

/// Stores the state of the log alone, and goes back to it.
void check_states() {
  check::success(Fenix_Mlog_begin_region(kLog, kIterations + 3), "Fenix_Mlog_begin_region");
  check::success(Fenix_Mlog_stage(kLog, kGroup, kLogMember), "Fenix_Mlog_stage");
  check::success(Fenix_Data_member_store(kGroup, kLogMember, FENIX_DATA_SUBSET_PRESTAGED), "Fenix_Data_member_store");
  check::success(Fenix_Data_commit_barrier(kGroup, nullptr), "Fenix_Data_commit_barrier");
  check::success(Fenix_Mlog_begin_region(kLog, kIterations + 4), "Fenix_Mlog_begin_region");
  check::success(Fenix_Mlog_lrestore(kLog, kGroup, kLogMember, FENIX_DATA_SNAPSHOT_LATEST), "Fenix_Mlog_lrestore");
  // It is in the region of the snapshot again.
  check::success(Fenix_Mlog_begin_region(kLog, kIterations + 4), "Fenix_Mlog_begin_region");
}

/// All functions of logs, and what they refuse. All ranks are here at the same time.
void check_interface() {
  int active = -2;
  check::success(Fenix_Mlog_active(&active), "Fenix_Mlog_active");
  check::expect_equal(active, kLog, "the active log");
  MPI_Comm self = MPI_COMM_SELF;
  check::expect_equal(Fenix_Mlog_create(kLog, &comm, 1), FENIX_ERROR_MLOG_EXISTS, "a log that exists");
  check::expect_equal(Fenix_Mlog_create(-1, &comm, 1), FENIX_ERROR_INVALID_MLOGID, "a negative id");
  check::expect_equal(Fenix_Mlog_create(9, &comm, -1), FENIX_ERROR_INVALID_ARGUMENT, "a negative depth");
  check::expect_equal(Fenix_Mlog_create(9, &self, 1), FENIX_ERROR_INVALID_ARGUMENT, "another communicator");
  check::expect_equal(Fenix_Mlog_create(9, nullptr, 1), FENIX_ERROR_INVALID_ARGUMENT, "no communicator");
  for (const int code : {Fenix_Mlog_activate(77), Fenix_Mlog_activate_region(77, 1), Fenix_Mlog_begin_region(77, 1),
                         Fenix_Mlog_sync(77, 1), Fenix_Mlog_create_data_member(77, kGroup, 5),
                         Fenix_Mlog_define_data_member(77, kGroup, 5), Fenix_Mlog_stage(77, kGroup, 5),
                         Fenix_Mlog_lrestore(77, kGroup, 5, 0), Fenix_Mlog_delete(77)}) {
    check::expect_equal(code, FENIX_ERROR_INVALID_MLOGID, "a log that does not exist");
  }
  check::expect_equal(Fenix_Mlog_begin_region(kLog, 0), FENIX_ERROR_INVALID_ARGUMENT,
                      "a region before the present one");
  check::expect_equal(Fenix_Mlog_begin_region(kLog, -1), FENIX_ERROR_INVALID_ARGUMENT, "a negative region");
  check::expect_equal(Fenix_Mlog_sync(kLog, 1), FENIX_ERROR_NODATA_FOUND, "a region that is not kept");
  check::expect_equal(Fenix_Mlog_sync(kLog, -5), FENIX_ERROR_INVALID_ARGUMENT, "a negative region");
  check::success(Fenix_Mlog_create_data_member(kLog, kGroup, 77), "Fenix_Mlog_create_data_member");
  check::expect_equal(Fenix_Mlog_create_data_member(kLog, kGroup, 77), FENIX_ERROR_MEMBER_EXISTS,
                      "a member that exists");
  // Logs that lack messages refuse to store a state in which they are needed.
  if (options.mode != "back") check_states();
  check::success(Fenix_Mlog_delete(kLog), "Fenix_Mlog_delete");
  check::success(Fenix_Mlog_active(&active), "Fenix_Mlog_active");
  check::expect_equal(active, FENIX_MLOG_NONE, "no active log");
}

void read_options(int argc, char** argv) {
  options.mode = argv[1];
  options.spares = std::atoi(argv[2]);
  for (int i = 3; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--bytes") == 0) options.bytes = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--pause") == 0) options.pause = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--decides") == 0) options.decides = std::atoi(argv[i + 1]) != 0;
    if (std::strcmp(argv[i], "--place") == 0) options.place = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--asks") == 0) options.asks = std::atoi(argv[i + 1]) != 0;
    if (std::strcmp(argv[i], "--deaths") == 0) options.deaths = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--dies") == 0) options.kills.push_back({std::atoi(argv[i + 1]), -1});
    if (std::strcmp(argv[i], "--kill") == 0) {
      Kill kill;
      require(std::sscanf(argv[i + 1], "%d@%d", &kill.rank, &kill.iteration) == 2, "RANK@ITERATION");
      options.kills.push_back(kill);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  require(argc > 2, "MODE SPARES");
  read_options(argc, argv);
  int processes = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  share_counts(processes);
  Fenix_set_option(FENIX_RESUME_MODE,
                   options.mode == "jump" || options.mode == "back" ? FENIX_RESUME_JUMP : FENIX_RESUME_RETURN);
  Fenix_set_option(FENIX_MLOG_RECOVERY_MODE, options.mode == "inline" || options.mode == "back"
                                                 ? FENIX_MLOG_RECOVERY_INLINE
                                             : options.mode == "autosync" ? FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC
                                                                          : FENIX_MLOG_RECOVERY_MANUAL);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, options.spares, 0, MPI_INFO_NULL, &error);
  begin();
  if (options.mode != "jump" && role != FENIX_ROLE_SURVIVOR_RANK) (void)Fenix_Callback_register(help, nullptr);
  iterate();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  int died = 0;
  for (const Kill& each : options.kills) died += each.rank == rank ? 1 : 0;
  int more = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const int times = executed(rank, iteration);
    require(times >= 1, "each iteration is executed");
    more += times - 1;
  }
  const bool all_go_back = options.mode == "jump" || options.mode == "back";
  if (options.mode == "back") require(more > 0, "each rank goes back");
  if (options.asks) require(checkpoints > 0 && checkpoints < kIterations / 2, "some checkpoints are asked for");
  // The proof that only the rank that has died has gone back.
  if (!all_go_back && died == 0) require(more == 0, "no iteration is executed twice");
  if (!all_go_back && died > 0 && !options.asks)
    require(more <= died * kInterval, "a rank that has died goes back a little, and not by " + std::to_string(more));
  check_interface();
  data_call([] { return Fenix_Finalize(); });
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
