// SPDX-License-Identifier: BSD-3-Clause
// Ranks that store messages for themselves and for others, without waiting for each other, while some of them die. Wherever that is, a
// rank receives the last message whose send has returned, or the one that was under way; never a mixture.
//
//   survive MODE SPARES --deaths N [--copies N] [--bytes N] [--pause MICROSECONDS] [--kill RANK@VALUE[,RANK@VALUE]]…
//
// MODE: jump or return. Ranks die by FENIX_FAULT, or when they have stored a value; those of a further --kill when the deaths before
// have been repaired. --deaths: of processes, which is checked.
#include <fcntl.h>
#include <fenix.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "../interposition/comms.hpp"
#include "persisting.hpp"

namespace {

constexpr int kToSelf = 1;
constexpr int kToNext = 2;
constexpr int kLast = 60;

/// How far a slot has come with its messages for another one, in memory that outlives it.
struct Progress {
  std::atomic<int> begun[2];  // by tag - 1
  std::atomic<int> stored[2];
};

struct Kill {
  int slot = 0;
  int value = 0;
  int deaths_before = 0;
};

struct Options {
  bool jumps = true;
  int spares = 1;
  int bytes = 3000;
  int deaths = 0;
  int pause = 100;  // between values, in microseconds
  std::string copies = "1";
  std::vector<Kill> kills;
};

Options options;
Progress* progress = nullptr;
int processes = 0;  // spares included
MPI_Comm everyone = MPI_COMM_NULL;
MPI_Comm alone = MPI_COMM_NULL;
int value = 0;        // the latest one of this rank
bool starts = true;   // no communicator has been made yet
bool is_new = false;  // has the place of a dead one
int size_then = 0;    // of the resilient communicator, when communicators were made
int before = -1;      // slot of the rank before
int received = 0;     // from that slot, at least
int left = 0;         // processes at the end

void share_progress() {
  const std::size_t bytes = sizeof(Progress) * static_cast<std::size_t>(processes * processes);
  // A file: on several nodes there is no other memory that all reach.
  std::array<char, 32> name{"progress-XXXXXX"};
  if (rank_in(MPI_COMM_WORLD) == 0) {
    const int made = mkstemp(name.data());
    CHECK(made >= 0 && ftruncate(made, static_cast<off_t>(bytes)) == 0);
    close(made);
  }
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  const int fd = open(name.data(), O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  progress = static_cast<Progress*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  CHECK(progress != MAP_FAILED);
  close(fd);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0) unlink(name.data());
}

int rank() { return rank_in(MPI_COMM_WORLD); }
int size() { return size_of(MPI_COMM_WORLD); }
Progress& of(int sender, int destination) { return progress[sender * processes + destination]; }

/// Repeats a call that a repair has cut short.
template <class Call>
void repeat(const Call& call) {
  int code = FENIX_SUCCESS;
  do {
    code = call();
    CHECK(code == FENIX_SUCCESS || code == FENIX_ERROR_CANCELLED);
  } while (code != FENIX_SUCCESS);
}

int rank_of(int slot) {
  int found = -1;
  repeat([&] { return Fenix_slot_to_rank(MPI_COMM_WORLD, slot, &found); });
  return found;
}

/// Returns the slot of the rank that comes so many after this one.
int neighbour(int distance) {
  int slot = -1;
  repeat([&] { return Fenix_rank_to_slot(MPI_COMM_WORLD, (rank() + size() + distance) % size(), &slot); });
  return slot;
}

int length_of(int number) { return options.bytes + number % 7 * 13; }
unsigned char byte_of(int sender, int number, int i) {
  return static_cast<unsigned char>(sender * 59 + number * 31 + i * 7);
}

/// Returns the rank of a slot in a communicator; MPI_UNDEFINED if its process was not replaced.
int rank_there(MPI_Comm comm, int slot) { return comm == alone ? 0 : rank_of(slot); }

/// Stores the next value for a slot, and notes when that has come to an end.
void store(MPI_Comm comm, int slot, int tag, int number) {
  static std::vector<unsigned char> data;
  const int me = Fenix_get_slot();
  data.resize(static_cast<std::size_t>(length_of(number)) + sizeof number);
  std::memcpy(data.data(), &number, sizeof number);
  for (int i = 0; i < length_of(number); ++i)
    data[sizeof number + static_cast<std::size_t>(i)] = byte_of(me, number, i);
  of(me, slot).begun[tag - 1] = number;
  int code = MPI_SUCCESS;
  do {
    const int destination = rank_there(comm, slot);
    if (destination == MPI_UNDEFINED) return;
    code = MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, destination, tag, comm);
    CHECK(code == MPI_SUCCESS || is_failure(code));
  } while (code != MPI_SUCCESS);
  of(me, slot).stored[tag - 1] = number;
}

/// Returns the value that is received from a slot, or 0 if nothing has been stored.
int receive(MPI_Comm comm, int sender, int tag) {
  static std::vector<unsigned char> data;
  data.assign(static_cast<std::size_t>(options.bytes) + 200, 0);
  const Progress& there = of(sender, Fenix_get_slot());
  const int least = there.stored[tag - 1];
  MPI_Status status;
  int code = MPI_SUCCESS;
  int source = 0;
  do {
    source = rank_there(comm, sender);
    if (source == MPI_UNDEFINED) return 0;
    code = MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, source, tag, comm, &status);
    if (code == MPI_ERR_OTHER && std::strstr(Fenix_Error_message(), "nothing has been stored") != nullptr) {
      CHECK(least == 0);
      return 0;
    }
    CHECK(code == MPI_SUCCESS || is_failure(code));
  } while (code != MPI_SUCCESS);
  int count = 0;
  int number = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  std::memcpy(&number, data.data(), sizeof number);
  check::require(number >= least, "value " + std::to_string(number) + " of slot " + std::to_string(sender) +
                                      ", which had stored " + std::to_string(least));
  check::require(number <= there.begun[tag - 1], "a value that was not sent");
  CHECK(count == static_cast<int>(sizeof number) + length_of(number));
  CHECK(status.MPI_SOURCE == source && status.MPI_TAG == tag);
  for (int i = 0; i < length_of(number); ++i) {
    CHECK(data[sizeof number + static_cast<std::size_t>(i)] == byte_of(sender, number, i));
  }
  return number;
}

void make_communicators() {
  // With other ranks it is another communicator. Nobody receives before all have come to MPI_Comm_persist.
  if (size_then != 0 && size_then != size()) {
    for (int slot = 0; slot < processes; ++slot) {
      of(Fenix_get_slot(), slot).begun[kToNext - 1] = 0;
      of(Fenix_get_slot(), slot).stored[kToNext - 1] = 0;
    }
    received = 0;
  }
  size_then = size();
  const Hints hints{{"persist_copies", options.copies.c_str()}, {"persist_missing", "error"}};
  everyone = persist(MPI_COMM_WORLD, "session", hints);
  alone = persist(MPI_COMM_SELF, "session", hints);
  MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(everyone, MPI_ERRORS_RETURN);
}

/// Receives from the rank before, whose slot may be another one after a repair.
void look_before() {
  if (const int slot = neighbour(-1); slot != before) {
    before = slot;
    received = 0;
  }
  const int number = receive(everyone, before, kToNext);
  if (rank_of(before) == MPI_UNDEFINED) return;
  CHECK(number >= received);
  received = number;
}

int processes_left() { return size() + Fenix_get_nspare(); }

void die_if_due() {
  for (const Kill& kill : options.kills) {
    if (is_new || kill.slot != Fenix_get_slot() || kill.value != value) continue;
    while (processes_left() > processes - kill.deaths_before) {
      (void)Fenix_Process_detect_failures(1);
      usleep(1000);
    }
    std::raise(SIGKILL);
  }
}

void work() {
  const int me = Fenix_get_slot();
  int failed = 0;
  CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS);
  if (failed != 0) {
    // Its own messages, and those that others have stored for it.
    is_new = true;
    value = receive(alone, me, kToSelf);
    const int next = neighbour(1);
    const int to_next = of(me, next).stored[kToNext - 1];
    const bool has_shrunk = size() + options.spares < processes;
    CHECK(has_shrunk || to_next == value || to_next == value - 1);
    look_before();
    // The message to the next rank may be missing.
    if (value > 0) store(everyone, next, kToNext, value);
    CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS && failed == (value > 0 ? 0 : 1));
  }
  die_if_due();
  while (value < kLast) {
    store(alone, me, kToSelf, value + 1);
    ++value;
    store(everyone, neighbour(1), kToNext, value);
    die_if_due();
    look_before();
    if (me == 0 && options.pause >= 10000) {
      std::printf("step %d\n", value);
      std::fflush(stdout);
    }
    usleep(static_cast<useconds_t>(options.pause));
  }
  left = processes_left();
}

void parse(int argc, char** argv) {
  options.jumps = std::string(argv[1]) == "jump";
  options.spares = std::atoi(argv[2]);
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--copies") options.copies = argv[i + 1];
    if (name == "--deaths") options.deaths = std::atoi(argv[i + 1]);
    if (name == "--pause") options.pause = std::atoi(argv[i + 1]);
    if (name == "--bytes") options.bytes = std::atoi(argv[i + 1]);
    if (name == "--kill") {
      const auto deaths_before = static_cast<int>(options.kills.size());
      std::istringstream together(argv[i + 1]);
      for (std::string kill; std::getline(together, kill, ',');) {
        options.kills.push_back({std::atoi(kill.c_str()), std::atoi(kill.c_str() + kill.find('@') + 1), deaths_before});
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  parse(argc, argv);
  MPI_Init(&argc, &argv);
  processes = size_of(MPI_COMM_WORLD);
  share_progress();
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
    code = Fenix_Finalize();
    CHECK(code == FENIX_SUCCESS || code == FENIX_ERROR_CANCELLED);
  } while (code != FENIX_SUCCESS);
  CHECK(left == processes - options.deaths);
  check::ok(rank());
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
