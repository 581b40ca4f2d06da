// SPDX-License-Identifier: BSD-3-Clause
// A job that goes on from the files of the jobs before it, which were killed as a whole.
//
//   restart FOLDER LAST [quick]
//
// Each rank stores the values 1 to LAST for itself, for the next rank, and as contributions to a collective function. FOLDER has its progress, too, beside the files. A death ends
// the job: nobody is replaced.
#include <fcntl.h>
#include <fenix.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "persisting.hpp"

namespace {

constexpr int kToSelf = 1;
constexpr int kToNext = 2;
constexpr int kToAll = 3;
constexpr std::size_t kBlock = 700;

std::string folder;
int rank = 0;
int size = 0;

/// The latest value that a rank has begun to store and has stored, by tag.
struct Progress {
  std::array<int, 4> begun{};
  std::array<int, 4> stored{};
};

int file_of(int which) {
  return open((folder + "/progress." + std::to_string(which)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

Progress progress_of(int which) {
  Progress progress;
  const int fd = file_of(which);
  CHECK(pread(fd, &progress, sizeof progress, 0) >= 0);
  close(fd);
  return progress;
}

unsigned char byte_of(int sender, int number, std::size_t i) {
  return static_cast<unsigned char>(static_cast<std::size_t>(sender * 59 + number * 31) + i * 7);
}

std::size_t length_of(int number) { return 500 + static_cast<std::size_t>(number) % 11 * 97; }

std::vector<unsigned char> message_of(int sender, int number, std::size_t length) {
  std::vector<unsigned char> data(length);
  for (std::size_t i = 0; i < length; ++i) data[i] = byte_of(sender, number, i);
  std::memcpy(data.data(), &number, sizeof number);
  return data;
}

void write_down(int progress_file, const Progress& progress) {
  CHECK(pwrite(progress_file, &progress, sizeof progress, 0) == sizeof progress);
}

/// call: returns an error of MPI.
template <class Call>
void store(int tag, int number, int progress_file, Progress& progress, const Call& call) {
  const auto tag_index = static_cast<std::size_t>(tag);
  progress.begun[tag_index] = number;
  write_down(progress_file, progress);
  if (call() != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 9);
  progress.stored[tag_index] = number;
  write_down(progress_file, progress);
}

void send(MPI_Comm comm, int destination, int tag, int number, int progress_file, Progress& progress) {
  const auto data = message_of(rank, number, length_of(number));
  store(tag, number, progress_file, progress,
        [&] { return MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, destination, tag, comm); });
}

void contribute(MPI_Comm comm, int number, int progress_file, Progress& progress) {
  const auto data = message_of(rank, number, kBlock);
  store(kToAll, number, progress_file, progress,
        [&] { return MPI_Allgather(data.data(), kBlock, MPI_BYTE, nullptr, kBlock, MPI_BYTE, comm); });
}

bool is_missing(int code) {
  return code == MPI_ERR_OTHER && std::strstr(Fenix_Error_message(), "nothing has been stored") != nullptr;
}

/// Gets the latest contributions of all ranks. All of them are still in files as they were when the job before died.
void restore(MPI_Comm comm) {
  std::vector<unsigned char> data(kBlock * static_cast<std::size_t>(size));
  std::vector<Progress> all;
  for (int each = 0; each < size; ++each) all.push_back(progress_of(each));
  const std::vector<unsigned char> given(kBlock);
  const int code = MPI_Allgather(given.data(), kBlock, MPI_BYTE, data.data(), kBlock, MPI_BYTE, comm);
  if (is_missing(code)) {
    CHECK(std::any_of(all.begin(), all.end(), [](const Progress& each) { return each.stored[kToAll] == 0; }));
    return;
  }
  CHECK(code == MPI_SUCCESS);
  for (int each = 0; each < size; ++each) {
    const Progress& progress = all[static_cast<std::size_t>(each)];
    const unsigned char* block = data.data() + kBlock * static_cast<std::size_t>(each);
    int number = 0;
    std::memcpy(&number, block, sizeof number);
    check::require(number >= progress.stored[kToAll] && number <= progress.begun[kToAll],
                   "contribution " + std::to_string(number) + " of rank " + std::to_string(each) + " after " +
                       std::to_string(progress.stored[kToAll]));
    const auto expected = message_of(each, number, kBlock);
    CHECK(std::equal(expected.begin(), expected.end(), block));
  }
}

/// Returns the value that a rank has stored, which is 0 if it has stored none.
int receive(MPI_Comm comm, int source, int tag) {
  std::vector<unsigned char> data(2000);
  const Progress progress = progress_of(source);
  const auto tag_index = static_cast<std::size_t>(tag);
  MPI_Status status;
  const int code = MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, source, tag, comm, &status);
  if (is_missing(code)) {
    check::expect_equal(progress.stored[tag_index], 0, "value of which nothing is left");
    return 0;
  }
  CHECK(code == MPI_SUCCESS);
  int number = 0;
  int count = 0;
  std::memcpy(&number, data.data(), sizeof number);
  MPI_Get_count(&status, MPI_BYTE, &count);
  check::require(number >= progress.stored[tag_index], "value " + std::to_string(number) + " after " +
                                                           std::to_string(progress.stored[tag_index]) + " of rank " +
                                                           std::to_string(source));
  // Another rank may be storing now.
  if (source == rank) CHECK(number <= progress.begun[tag_index]);
  CHECK(count == static_cast<int>(length_of(number)));
  for (std::size_t i = sizeof number; i < length_of(number); ++i) CHECK(data[i] == byte_of(source, number, i));
  return number;
}

void end_the_job(MPI_Comm, int, void*) { MPI_Abort(MPI_COMM_WORLD, 9); }

}  // namespace

int main(int argc, char** argv) {
  folder = argv[1];
  const int last = std::atoi(argv[2]);
  const bool is_quick = argc > 3;
  MPI_Init(&argc, &argv);
  int role = 0;
  int error = 0;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "FENIX_RESUME_MODE", "RETURN");
  MPI_Info_set(info, "FENIX_UNHANDLED_MODE", "SILENT");
  Fenix_Init(&role, MPI_COMM_WORLD, NULL, &argc, &argv, 0, 0, info, &error);
  MPI_Info_free(&info);
  Fenix_Callback_register(end_the_job, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Progress before = progress_of(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm comm = persist(MPI_COMM_WORLD, "restart", {{"persist_dir", folder.c_str()}, {"persist_missing", "error"}});
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int failed = 0;
  CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS);
  if (before.stored[kToSelf] > 0) CHECK(failed == 1);
  if (before.begun[kToSelf] == 0) CHECK(failed == 0);
  // Files of all are read before anybody stores.
  MPI_Barrier(MPI_COMM_WORLD);
  int value = receive(comm, rank, kToSelf);
  (void)receive(comm, (rank + size - 1) % size, kToNext);
  if (failed != 0) restore(comm);
  MPI_Barrier(MPI_COMM_WORLD);
  const int progress_file = file_of(rank);
  Progress progress = before;
  while (value < last) {
    send(comm, rank, kToSelf, value + 1, progress_file, progress);
    ++value;
    send(comm, (rank + 1) % size, kToNext, value, progress_file, progress);
    contribute(comm, value, progress_file, progress);
    if (!is_quick) usleep(200);
  }
  close(progress_file);
  MPI_Comm_free(&comm);
  Fenix_Finalize();
  MPI_Finalize();
  check::ok(rank);
  return 0;
}
