// SPDX-License-Identifier: BSD-3-Clause
// A ring of ranks that exchange the edges of their fields. One of them is killed, and the time until the job is where it was is taken. Either
// all ranks go back to the latest checkpoint, or only the killed one does, by message logs. bench/recovery_interval/measure runs it.
//
//   recovery_interval FORM FOLDER ITERATIONS INTERVAL DEATH COMPUTE SPREAD
//
// FORM: global or logged. FOLDER gets the files "record" and "field"; it is empty before. INTERVAL: iterations between checkpoints. DEATH: the
// iteration before which rank 1 is killed; -1: it is not. COMPUTE: microseconds that a rank sleeps in an iteration. SPREAD: percent by which
// they differ from rank to rank and from iteration to iteration. There is one spare rank. Prints one line of JSON, with times in seconds.
#include <fcntl.h>
#include <fenix.h>
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
#include <ctime>
#include <string>
#include <vector>

#include "../cpu_time.hpp"

using fenix_bench::cpu_time;

namespace {

constexpr int kLog = 0;
constexpr int kGroup = 1;
constexpr int kIterationMember = 1;
constexpr int kFieldMember = 2;
constexpr int kLogMember = 3;
constexpr int kVictim = 1;
constexpr int kMostRanks = 64;
constexpr std::size_t kWidth = 1024;
constexpr std::size_t kRows = 32;

struct Options {
  bool is_logged = false;
  std::string folder;
  std::int64_t iterations = 0;
  std::int64_t interval = 1;
  std::int64_t death = -1;
  int compute = 0;
  int spread = 0;
};

/// The history of a rank, whichever process has its place.
struct Place {
  std::atomic<double> resumed{0};   // time of its latest return from a repair
  std::atomic<double> restored{0};  // time at which it had its data again
  std::atomic<double> reached{0};   // time at which it had come to the iteration of the death, the latest one
  std::atomic<std::int64_t> executed{0};
  std::atomic<double> cpu{0};  // seconds of its processes
};

/// What outlives a killed process: a file that all processes map. It is zero at first.
struct Record {
  std::atomic<double> died{0};
  std::atomic<double> begun{0};
  std::array<Place, kMostRanks> places;
};

// All of it outlives the jump back into Fenix_Init.
Options options;
Record* record = nullptr;
MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
std::int64_t iteration = 0;
// The field with an edge of the neighbour before and behind it.
std::vector<double> field(kWidth*(kRows + 2));
std::vector<double> next(field.size());

void check(int code, const char* what) {
  if (code == FENIX_SUCCESS) return;
  std::fprintf(stderr, "recovery_interval: %s: %d [%s]\n", what, code, Fenix_Error_message());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/// Returns the time of a clock that all processes of the machine have in common.
double now() {
  constexpr double kNanosecond = 1e-9;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * kNanosecond;
}

int rank_of_this() {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int number_of_ranks() {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

Place& place() { return record->places[static_cast<std::size_t>(rank_of_this())]; }

void map_record() {
  const int file = open((options.folder + "/record").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(Record)) != 0) check(FENIX_ERROR_NOCATEGORY, "a file for times");
  void* const memory = mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) check(FENIX_ERROR_NOCATEGORY, "memory for times");
  record = static_cast<Record*>(memory);
  close(file);
}

int form_group() {
  int flag = 0;
  return Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, &flag);
}

void define_members() {
  if (options.is_logged) check(Fenix_Mlog_create(kLog, &comm, static_cast<int>(options.interval)), "Fenix_Mlog_create");
  check(form_group(), "Fenix_Data_group_create");
  check(Fenix_Data_member_define(kGroup, kIterationMember, &iteration, 1, MPI_INT64_T), "Fenix_Data_member_define");
  check(Fenix_Data_member_define(kGroup, kFieldMember, field.data(), static_cast<int>(field.size()), MPI_DOUBLE),
        "Fenix_Data_member_define");
  if (options.is_logged)
    check(Fenix_Mlog_define_data_member(kLog, kGroup, kLogMember), "Fenix_Mlog_define_data_member");
}

std::vector<int> members() {
  std::vector<int> all{kIterationMember, kFieldMember};
  if (options.is_logged) all.push_back(kLogMember);
  return all;
}

void checkpoint() {
  check(Fenix_Data_checkpoint(kGroup, FENIX_DATA_SUBSET_FULL, 0, nullptr, nullptr), "Fenix_Data_checkpoint");
}

void begin() {
  const auto rank = static_cast<std::size_t>(rank_of_this());
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = static_cast<double>((i * 31 + rank * 7919) % 1009);
  define_members();
  checkpoint();
  MPI_Barrier(comm);
  if (rank == 0) record->begun = now();
}

/// Gets the data of the latest checkpoint.
void go_back() {
  place().resumed = now();
  define_members();
  for (const int member : members()) {
    check(Fenix_Data_member_restore(kGroup, member, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL,
                                    FENIX_DATA_SNAPSHOT_LATEST, nullptr),
          "Fenix_Data_member_restore");
  }
  if (options.is_logged) check(Fenix_Mlog_sync(kLog, static_cast<int>(iteration)), "Fenix_Mlog_sync");
  place().restored = now();
}

/// Helps the rank that takes the place of the killed one.
void help(MPI_Comm /*repaired*/, int /*code*/, void* /*data*/) {
  check(form_group(), "Fenix_Data_group_create");
  for (const int member : members()) {
    check(Fenix_Data_member_restore(kGroup, member, nullptr, 0, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
          "Fenix_Data_member_restore");
  }
  check(Fenix_Mlog_sync(kLog, FENIX_MLOG_CONTINUE), "Fenix_Mlog_sync");
}

/// Notes that this rank has come to the iteration of the death. The first process of the victim ends here.
void reach() {
  place().reached = now();
  if (rank_of_this() != kVictim || record->died != 0.0) return;
  place().cpu += cpu_time();
  record->died = now();
  raise(SIGKILL);
}

/// Gets the edges of both neighbours.
void exchange() {
  const int rank = rank_of_this();
  const int size = number_of_ranks();
  const int up = (rank + size - 1) % size;
  const int down = (rank + 1) % size;
  constexpr int kEdge = static_cast<int>(kWidth);
  std::array<MPI_Request, 4> requests{};
  MPI_Irecv(field.data(), kEdge, MPI_DOUBLE, up, 0, comm, &requests[0]);
  MPI_Irecv(&field[(kRows + 1) * kWidth], kEdge, MPI_DOUBLE, down, 1, comm, &requests[1]);
  MPI_Isend(&field[kWidth], kEdge, MPI_DOUBLE, up, 1, comm, &requests[2]);
  MPI_Isend(&field[kRows * kWidth], kEdge, MPI_DOUBLE, down, 0, comm, &requests[3]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void smooth() {
  for (std::size_t y = 1; y <= kRows; ++y) {
    for (std::size_t x = 0; x < kWidth; ++x) {
      const std::size_t at = y * kWidth + x;
      const std::size_t left = y * kWidth + (x + kWidth - 1) % kWidth;
      const std::size_t right = y * kWidth + (x + 1) % kWidth;
      next[at] = 0.25 * (field[left] + field[right] + field[at - kWidth] + field[at + kWidth]) + 0.001 * field[at];
    }
  }
  std::copy(next.begin() + kWidth, next.end() - kWidth, field.begin() + kWidth);
}

/// Returns the microseconds that a rank computes in this iteration: the same whenever it does it.
long compute_time() {
  constexpr std::uint64_t kParts = 1000;
  std::uint64_t mixed = (static_cast<std::uint64_t>(iteration) << 8U) + static_cast<std::uint64_t>(rank_of_this()) + 1;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  const auto part = static_cast<double>((mixed ^ (mixed >> 31U)) % (2 * kParts + 1)) / kParts - 1.0;
  return static_cast<long>(options.compute * (1.0 + options.spread / 100.0 * part));
}

/// Sleeps instead of a longer computation: ranks may have more cores in this way than the machine has.
void compute() {
  constexpr long kMicrosecondsInSecond = 1'000'000;
  smooth();
  const long microseconds = compute_time();
  const timespec time{microseconds / kMicrosecondsInSecond, microseconds % kMicrosecondsInSecond * 1000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

void iterate() {
  while (iteration < options.iterations) {
    if (iteration == options.death) reach();
    if (options.is_logged) check(Fenix_Mlog_activate_region(kLog, static_cast<int>(iteration)), "a region");
    exchange();
    compute();
    ++place().executed;
    if (++iteration % options.interval == 0) checkpoint();
  }
}

/// Returns the latest of the times of all ranks.
double latest(std::atomic<double> Place::*time) {
  double most = 0;
  for (const Place& each : record->places) most = std::max(most, (each.*time).load());
  return most;
}

void print_figures() {
  std::int64_t again = -options.iterations * number_of_ranks();
  double cpu = 0;
  for (const Place& each : record->places) {
    again += each.executed;
    cpu += each.cpu;
  }
  std::printf("{\"seconds\": %.6f, \"again\": %lld, \"cpu\": %.6f", now() - record->begun,
              static_cast<long long>(again), cpu);
  if (options.death >= 0) {
    const double died = record->died;
    const double resumed = latest(&Place::resumed);
    const double restored = latest(&Place::restored);
    const double reached = latest(&Place::reached);
    std::printf(", \"repair\": %.6f, \"restore\": %.6f, \"repeat\": %.6f, \"lost\": %.6f", resumed - died,
                restored - resumed, reached - restored, reached - died);
  }
  std::printf("}\n");
  std::fflush(stdout);
}

/// Writes the fields of all ranks to a file, which is compared with that of an undisturbed run.
void write_field() {
  place().cpu += cpu_time();
  const int rank = rank_of_this();
  const auto count = static_cast<int>(kWidth * kRows);
  std::vector<double> all(rank == 0 ? kWidth * kRows * static_cast<std::size_t>(number_of_ranks()) : 0);
  MPI_Gather(&field[kWidth], count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm);
  if (rank != 0) return;
  print_figures();
  std::FILE* const file = std::fopen((options.folder + "/field").c_str(), "wb");
  if (file == nullptr || std::fwrite(all.data(), sizeof(double), all.size(), file) != all.size() ||
      std::fclose(file) != 0)
    check(FENIX_ERROR_NOCATEGORY, "the file of the field");
}

bool read_options(int argc, char** argv) {
  if (argc != 8) return false;
  const std::string form = argv[1];
  options.is_logged = form == "logged";
  options.folder = argv[2];
  options.iterations = std::atoi(argv[3]);
  options.interval = std::atoi(argv[4]);
  options.death = std::atoi(argv[5]);
  options.compute = std::atoi(argv[6]);
  options.spread = std::atoi(argv[7]);
  return (options.is_logged || form == "global") && options.interval > 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (!read_options(argc, argv)) {
    std::fprintf(stderr, "usage: recovery_interval global|logged FOLDER ITERATIONS INTERVAL DEATH COMPUTE SPREAD\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  map_record();
  Fenix_set_option(FENIX_RESUME_MODE, options.is_logged ? FENIX_RESUME_RETURN : FENIX_RESUME_JUMP);
  Fenix_set_option(FENIX_MLOG_RECOVERY_MODE, FENIX_MLOG_RECOVERY_INLINE);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  check(error, "Fenix_Init");
  if (role == FENIX_ROLE_INITIAL_RANK) {
    begin();
  } else {
    go_back();
  }
  if (options.is_logged) (void)Fenix_Callback_register(help, nullptr);
  iterate();
  write_field();
  check(Fenix_Finalize(), "Fenix_Finalize");
  MPI_Finalize();
  return EXIT_SUCCESS;
}
