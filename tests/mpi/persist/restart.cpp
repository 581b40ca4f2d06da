// SPDX-License-Identifier: BSD-3-Clause
// A job that goes on from the files of the jobs before it, which were killed as a whole.
//
//   restart FOLDER LAST [quick]
//
// Each rank stores the values 1 to LAST for itself and for the next rank. FOLDER has its progress, too, beside the files. A death ends
// the job: nobody is replaced.
#include <fcntl.h>
#include <fenix.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "persisting.hpp"

namespace {

constexpr int kToSelf = 1;
constexpr int kToNext = 2;

std::string folder;
int rank = 0;
int size = 0;

/// The latest value that a rank has begun to store and has stored, by tag.
struct Progress {
  std::array<int, 3> begun{};
  std::array<int, 3> stored{};
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

void store(MPI_Comm comm, int destination, int tag, int number, int progress_file, Progress& progress) {
  std::vector<unsigned char> data(length_of(number));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = byte_of(rank, number, i);
  std::memcpy(data.data(), &number, sizeof number);
  const auto tag_index = static_cast<std::size_t>(tag);
  progress.begun[tag_index] = number;
  CHECK(pwrite(progress_file, &progress, sizeof progress, 0) == sizeof progress);
  if (MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, destination, tag, comm) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 9);
  }
  progress.stored[tag_index] = number;
  CHECK(pwrite(progress_file, &progress, sizeof progress, 0) == sizeof progress);
}

/// Returns the value that a rank has stored, which is 0 if it has stored none.
int receive(MPI_Comm comm, int source, int tag) {
  std::vector<unsigned char> data(2000);
  const Progress progress = progress_of(source);
  const auto tag_index = static_cast<std::size_t>(tag);
  MPI_Status status;
  const int code = MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, source, tag, comm, &status);
  if (code == MPI_ERR_OTHER && std::strstr(Fenix_Error_message(), "nothing has been stored") != nullptr) {
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
  MPI_Barrier(MPI_COMM_WORLD);
  const int progress_file = file_of(rank);
  Progress progress = before;
  while (value < last) {
    store(comm, rank, kToSelf, value + 1, progress_file, progress);
    ++value;
    store(comm, (rank + 1) % size, kToNext, value, progress_file, progress);
    if (!is_quick) usleep(200);
  }
  close(progress_file);
  MPI_Comm_free(&comm);
  Fenix_Finalize();
  MPI_Finalize();
  check::ok(rank);
  return 0;
}
