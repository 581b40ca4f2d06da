// SPDX-License-Identifier: BSD-3-Clause
// A rank dies while the others have files open, to stage a member and to load another one. The files have ended then: the
// application still has them, another thread goes on writing to one, and all that it gets are errors. Recovery does not depend
// on whether the application closes them.
//
// open_files <jump|return|throw> <files|streams> [--shrink]
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;
namespace data = fenix::data;

constexpr int kGroup = 3;
constexpr int kStaged = 1;
constexpr int kLoaded = 2;
constexpr int kCount = 1000;
constexpr int kVictim = 1;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
bool shrinks = false;
bool uses_streams = false;
bool closes_ended = false;  // instead of opening anew at once
std::vector<int> staged(kCount);
std::vector<int> loaded(kCount);

std::FILE* out = nullptr;
std::FILE* in = nullptr;
std::iostream* out_stream = nullptr;
std::iostream* in_stream = nullptr;

std::thread writer;
std::atomic<bool> stop{false};
std::atomic<int> writes{0};
std::atomic<int> refused{0};

int value(int member, int i, int turn) { return member * 100'000 + turn * 10'000 + rank * 1'000 + i; }

void fill(std::vector<int>& buffer, int member, int turn) {
  for (int i = 0; i < kCount; ++i) buffer[static_cast<std::size_t>(i)] = value(member, i, turn);
}

void expect_values(const std::vector<int>& buffer, int member, int turn, const std::string& what) {
  for (int i = 0; i < kCount; ++i) {
    require(buffer[static_cast<std::size_t>(i)] == value(member, i, turn), [&] {
      return what + ": element " + std::to_string(i) + " is " + std::to_string(buffer[static_cast<std::size_t>(i)]);
    });
  }
}

void take_up() {
  MPI_Comm_rank(comm, &rank);
  int flag = 0;
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, &flag),
          "group_create");
  success(Fenix_Data_member_define(kGroup, kStaged, staged.data(), kCount, MPI_INT), "member_define");
  success(Fenix_Data_member_define(kGroup, kLoaded, loaded.data(), kCount, MPI_INT), "member_define");
}

// Writes the same bytes again and again, as a thread does that knows nothing of failures.
void keep_writing() {
  constexpr char kBytes[64] = {};
  while (!stop) {
    if (uses_streams) {
      if (!out_stream->seekp(0).write(kBytes, sizeof kBytes)) ++refused;
      out_stream->clear();
    } else {
      if (std::fseek(out, 0, SEEK_SET) != 0 || std::fwrite(kBytes, 1, sizeof kBytes, out) != sizeof kBytes) ++refused;
      std::clearerr(out);
    }
    ++writes;
    std::this_thread::yield();
  }
}

void open_files() {
  if (uses_streams) {
    success(data::member_stage_begin(kGroup, kStaged, &out_stream), "member_stage_begin");
    success(data::member_load_begin(kGroup, kLoaded, &in_stream), "member_load_begin");
  } else {
    success(Fenix_Data_member_stage_begin(kGroup, kStaged, &out), "member_stage_begin");
    success(Fenix_Data_member_load_begin(kGroup, kLoaded, &in, FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE),
            "member_load_begin");
  }
}

void write_file(const std::vector<int>& values) {
  const std::size_t bytes = values.size() * sizeof(int);
  if (uses_streams) {
    const auto* from = reinterpret_cast<const char*>(values.data());
    require(out_stream->write(from, static_cast<std::streamsize>(bytes)).good(), "a write failed");
  } else {
    expect_equal(static_cast<long>(std::fwrite(values.data(), 1, bytes, out)), static_cast<long>(bytes),
                 "bytes written");
  }
}

void read_file(std::vector<int>& values) {
  const std::size_t bytes = values.size() * sizeof(int);
  if (uses_streams) {
    in_stream->read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
    expect_equal(in_stream->gcount(), static_cast<long>(bytes), "bytes read");
  } else {
    expect_equal(static_cast<long>(std::fread(values.data(), 1, bytes, in)), static_cast<long>(bytes), "bytes read");
  }
}

void meet_failure() {
  take_up();
  fill(staged, kStaged, 0);
  fill(loaded, kLoaded, 0);
  success(Fenix_Data_checkpoint(kGroup, FENIX_DATA_SUBSET_FULL, 0, nullptr, nullptr), "checkpoint");
  MPI_Barrier(comm);
  open_files();
  std::vector<int> half(kCount / 2);
  read_file(half);
  expect_equal(half[7], value(kLoaded, 7, 0), "what the file has");
  write_file(half);
  writer = std::thread(keep_writing);
  while (writes == 0) std::this_thread::yield();
  MPI_Barrier(comm);
  if (rank == kVictim) std::raise(SIGKILL);
  while (MPI_Barrier(comm) == MPI_SUCCESS) {
  }
}

void expect_refusals() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (refused == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  stop = true;
  writer.join();
  require(refused > 0, "a thread can still write to a file that has ended");
}

void expect_errors() {
  char bytes[16] = {};
  if (uses_streams) {
    in_stream->clear();
    require(!in_stream->read(bytes, 1), "a stream that has ended can be read");
    require(!out_stream->write(bytes, 1), "a stream that has ended can be written");
    return;
  }
  errno = 0;
  expect_equal(static_cast<long>(std::fread(bytes, 1, sizeof bytes, in)), 0, "bytes read from a file that has ended");
  expect_equal(errno, EIO, "errno of the read");
  require(std::ferror(in) != 0, "a read from a file that has ended sets no error");
  errno = 0;
  expect_equal(static_cast<long>(std::fwrite(bytes, 1, sizeof bytes, out)), 0,
               "bytes written to a file that has ended");
  expect_equal(errno, EIO, "errno of the write");
  require(std::ferror(out) != 0, "a write to a file that has ended sets no error");
}

void close_ended() {
  expect_equal(Fenix_Data_member_stage_end(kGroup, kStaged), FENIX_ERROR_CANCELLED,
               "member_stage_end of a file that has ended");
  expect_equal(Fenix_Data_member_load_end(kGroup, kLoaded), FENIX_ERROR_CANCELLED,
               "member_load_end of a file that has ended");
  expect_equal(Fenix_Data_member_load_end(kGroup, kLoaded), FENIX_ERROR_INVALID_LOGIC_CALL,
               "member_load_end once more");
}

void restore_all(int turn) {
  fill(staged, kStaged, 9);
  fill(loaded, kLoaded, 9);
  for (const int member : {kStaged, kLoaded}) {
    success(Fenix_Data_member_restore(kGroup, member, FENIX_DATA_RESTORE_INPLACE, kCount, FENIX_DATA_SNAPSHOT_LATEST,
                                      FENIX_DATA_SUBSET_IGNORE),
            "member_restore");
  }
  expect_values(staged, kStaged, turn, "the member that was being staged");
  expect_values(loaded, kLoaded, 0, "the member that was being loaded");
}

void use_new_files() {
  open_files();
  fill(staged, kStaged, 1);
  write_file(staged);
  std::vector<int> all(kCount);
  read_file(all);
  expect_values(all, kLoaded, 0, "a file that was opened after the failure");
  success(data::member_stage_end(kGroup, kStaged), "member_stage_end");
  success(data::member_load_end(kGroup, kLoaded), "member_load_end");
  success(Fenix_Data_member_store(kGroup, kStaged, FENIX_DATA_SUBSET_PRESTAGED), "member_store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  restore_all(1);
}

// One rank deletes the member that the others have open: the barrier deletes it everywhere.
void delete_while_open() {
  if (rank == 0) {
    success(Fenix_Data_member_delete(kGroup, kLoaded), "member_delete");
  } else {
    open_files();
    success(data::member_stage_end(kGroup, kStaged), "member_stage_end");
  }
  success(Fenix_Data_barrier(kGroup), "barrier");
  if (rank == 0) return;
  char byte = 0;
  if (uses_streams) {
    require(!in_stream->read(&byte, 1), "a stream over a deleted member can be read");
  } else {
    expect_equal(static_cast<long>(std::fread(&byte, 1, 1, in)), 0, "bytes read from a deleted member");
  }
  expect_equal(Fenix_Data_member_load_end(kGroup, kLoaded), FENIX_ERROR_CANCELLED,
               "member_load_end of a deleted member");
  expect_equal(Fenix_Data_member_load_end(kGroup, kLoaded), FENIX_ERROR_INVALID_MEMBERID, "member_load_end once more");
}

// The memory of the files is put aside, and goes once all have committed something newer.
void outlive_the_archive() {
  take_up();
  for (int turn = 0; turn < 3; ++turn) {
    success(Fenix_Data_member_store(kGroup, kStaged, FENIX_DATA_SUBSET_FULL), "member_store");
    success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  }
  expect_errors();
  close_ended();
}

void go_on() {
  const bool survivor = role == FENIX_ROLE_SURVIVOR_RANK;
  if (survivor) expect_refusals();
  if (shrinks) {
    outlive_the_archive();
    return;
  }
  if (survivor) expect_errors();
  if (survivor && closes_ended) close_ended();
  take_up();
  if (survivor && !closes_ended) expect_errors();
  restore_all(0);
  use_new_files();
  delete_while_open();
}

}  // namespace

int main(int argc, char** argv) {
  require(argc >= 3, "arguments");
  const std::string mode = argv[1];
  uses_streams = std::string(argv[2]) == "streams";
  shrinks = argc > 3 && std::string(argv[3]) == "--shrink";
  closes_ended = mode == "return";
  MPI_Init(&argc, &argv);
  Fenix_set_option(FENIX_RESUME_MODE, mode == "jump"     ? FENIX_RESUME_JUMP
                                      : mode == "return" ? FENIX_RESUME_RETURN
                                                         : FENIX_RESUME_THROW);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, shrinks ? 0 : 1, 0, MPI_INFO_NULL, &error);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    try {
      meet_failure();
    } catch (const fenix::CommException&) {
    }
  }
  go_on();
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
