// SPDX-License-Identifier: BSD-3-Clause
// Ranks that store messages for themselves and for others, without waiting for each other, while some of them die. Wherever that is, a
// rank receives the last message whose send has returned, or the one that was under way; never a mixture.
//
//   survive MODE SPARES [--copies N] [--bytes N] [--kill RANK@VALUE]…
//
// MODE: jump or return. Ranks die by FENIX_FAULT, or when they have stored a value.
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

#include "../interposition/comms.hpp"
#include "persisting.hpp"

namespace {

constexpr int kToSelf = 1;
constexpr int kToNext = 2;
constexpr int kLast = 60;

/// How far each rank has come, in memory that outlives it.
struct Progress {
  std::atomic<int> begun[2];
  std::atomic<int> stored[2];
};

struct Options {
  bool jumps = true;
  int spares = 1;
  int bytes = 3000;
  std::string copies = "1";
  std::vector<std::pair<int, int>> kills;
};

Options options;
Progress* progress = nullptr;
MPI_Comm everyone = MPI_COMM_NULL;
MPI_Comm alone = MPI_COMM_NULL;
int value = 0;       // the latest one of this rank
bool starts = true;  // no communicator has been made yet
int received = 0;    // from the rank before, at least

void share_progress(int processes) {
  struct Place {
    int pid = 0;
    int fd = 0;
  } place;
  const std::size_t bytes = sizeof(Progress) * static_cast<std::size_t>(processes);
  if (rank_in(MPI_COMM_WORLD) == 0) {
    place = {getpid(), memfd_create("progress", MFD_CLOEXEC)};
    CHECK(ftruncate(place.fd, static_cast<off_t>(bytes)) == 0);
  }
  MPI_Bcast(&place, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string name = "/proc/" + std::to_string(place.pid) + "/fd/" + std::to_string(place.fd);
  const int fd = open(name.c_str(), O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  progress = static_cast<Progress*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  CHECK(progress != MAP_FAILED);
  close(fd);
  MPI_Barrier(MPI_COMM_WORLD);
}

int rank() { return rank_in(MPI_COMM_WORLD); }
int size() { return size_of(MPI_COMM_WORLD); }
Progress& of(int which) { return progress[which]; }

int length_of(int number) { return options.bytes + number % 7 * 13; }
unsigned char byte_of(int sender, int number, int i) {
  return static_cast<unsigned char>(sender * 59 + number * 31 + i * 7);
}

/// Stores the next value, and notes when that has come to an end.
void store(MPI_Comm comm, int destination, int tag, int number) {
  static std::vector<unsigned char> data;
  const int me = rank();
  data.resize(static_cast<std::size_t>(length_of(number)) + sizeof number);
  std::memcpy(data.data(), &number, sizeof number);
  for (int i = 0; i < length_of(number); ++i)
    data[sizeof number + static_cast<std::size_t>(i)] = byte_of(me, number, i);
  of(me).begun[tag - 1] = number;
  int code = MPI_SUCCESS;
  do {
    code = MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, destination, tag, comm);
    CHECK(code == MPI_SUCCESS || is_failure(code));
  } while (code != MPI_SUCCESS);
  of(me).stored[tag - 1] = number;
}

/// Returns the value that is received from a rank, or 0 if nothing has been stored.
int receive(MPI_Comm comm, int source, int sender, int tag) {
  static std::vector<unsigned char> data;
  data.assign(static_cast<std::size_t>(options.bytes) + 200, 0);
  const int least = of(sender).stored[tag - 1];
  MPI_Status status;
  int code = MPI_SUCCESS;
  do {
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
  check::require(number >= least, "value " + std::to_string(number) + " of rank " + std::to_string(sender) +
                                      ", which had stored " + std::to_string(least));
  check::require(number <= of(sender).begun[tag - 1], "a value that was not sent");
  CHECK(count == static_cast<int>(sizeof number) + length_of(number));
  CHECK(status.MPI_SOURCE == source && status.MPI_TAG == tag);
  for (int i = 0; i < length_of(number); ++i) {
    CHECK(data[sizeof number + static_cast<std::size_t>(i)] == byte_of(sender, number, i));
  }
  return number;
}

void make_communicators() {
  everyone =
      persist(MPI_COMM_WORLD, "session", {{"persist_copies", options.copies.c_str()}, {"persist_missing", "error"}});
  alone = persist(MPI_COMM_SELF, "session", {{"persist_copies", options.copies.c_str()}, {"persist_missing", "error"}});
  MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(everyone, MPI_ERRORS_RETURN);
}

void work() {
  const int me = rank();
  const int next = (me + 1) % size();
  const int before = (me + size() - 1) % size();
  int failed = 0;
  CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS);
  if (failed != 0) {
    // Its own messages, and what others have stored for it.
    value = receive(alone, 0, me, kToSelf);
    const int to_next = of(me).stored[kToNext - 1];
    CHECK(to_next == value || to_next == value - 1);
    received = receive(everyone, before, before, kToNext);
    // The message to the next rank may be missing.
    if (value > 0) store(everyone, next, kToNext, value);
    CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS && failed == (value > 0 ? 0 : 1));
  }
  while (value < kLast) {
    store(alone, 0, kToSelf, value + 1);
    ++value;
    store(everyone, next, kToNext, value);
    for (const auto& [victim, when] : options.kills) {
      if (victim == me && when == value) std::raise(SIGKILL);
    }
    const int from_before = receive(everyone, before, before, kToNext);
    CHECK(from_before >= received);
    received = from_before;
    usleep(100);
  }
}

void parse(int argc, char** argv) {
  options.jumps = std::string(argv[1]) == "jump";
  options.spares = std::atoi(argv[2]);
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--copies") options.copies = argv[i + 1];
    if (name == "--bytes") options.bytes = std::atoi(argv[i + 1]);
    if (name == "--kill") {
      const std::string kill = argv[i + 1];
      options.kills.emplace_back(std::atoi(kill.c_str()), std::atoi(kill.c_str() + kill.find('@') + 1));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  parse(argc, argv);
  MPI_Init(&argc, &argv);
  share_progress(size_of(MPI_COMM_WORLD));
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
  check::ok(rank());
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
