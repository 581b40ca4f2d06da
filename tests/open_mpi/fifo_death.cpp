// SPDX-License-Identifier: BSD-3-Clause
// A rank dies while it adds a message to the queue in shared memory of rank 0. Shows whether messages of others still come. The rank is followed
// instruction by instruction, and killed behind the exchange by which it has taken its place in the queue (x86-64). Knows nothing of Fenix: it tests
// Open MPI. README.md has what was seen.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o fifo_death tests/open_mpi/fifo_death.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm -n 3 ./fifo_death empty     # or "behind": others are in the queue before
// Prints "ok" on rank 0, or "no message comes".
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mpi.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

// Whether the next instruction is an exchange with memory.
bool is_exchange(pid_t process) {
  user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, process, nullptr, &registers) != 0) return false;
  errno = 0;
  const long bytes = ptrace(PTRACE_PEEKTEXT, process, registers.rip, nullptr);
  unsigned char code[sizeof bytes];
  std::memcpy(code, &bytes, sizeof bytes);
  const int at = (code[0] & 0xF0U) == 0x40 ? 1 : 0;
  return errno == 0 && code[at] == 0x87 && (code[at + 1] & 0xC0U) != 0xC0;
}

// Steps through a process, from its SIGTRAP on, until it has made an exchange, and kills it.
[[noreturn]] void kill_behind_exchange(pid_t process) {
  int status = 0;
  if (ptrace(PTRACE_ATTACH, process, nullptr, nullptr) != 0) std::perror("ptrace");
  waitpid(process, &status, 0);
  ptrace(PTRACE_CONT, process, nullptr, nullptr);
  waitpid(process, &status, 0);
  for (bool is_done = false; !is_done;) {
    is_done = is_exchange(process);
    if (ptrace(PTRACE_SINGLESTEP, process, nullptr, nullptr) != 0) break;
    waitpid(process, &status, 0);
  }
  kill(process, SIGKILL);
  _exit(0);
}

void send_to_first(int value) { MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); }

}  // namespace

int main(int argc, char** argv) {
  const bool is_empty = argc < 2 || std::strcmp(argv[1], "behind") != 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto wait = [](int seconds) { std::this_thread::sleep_for(std::chrono::seconds(seconds)); };
  if (rank == 0) {
    // What comes meanwhile stays in the queue.
    wait(4);
    std::thread([&] {
      wait(15);
      std::printf("rank 0: no message comes\n");
      std::fflush(stdout);
      _exit(1);
    }).detach();
    int value = 0;
    while (value != 9) MPI_Recv(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::printf("rank 0: ok\n");
    std::fflush(stdout);
    _exit(0);
  }
  if (rank == 1) {
    const pid_t self = getpid();
    if (fork() == 0) kill_behind_exchange(self);
    wait(2);
    raise(SIGTRAP);
    send_to_first(1);
    wait(100);
  }
  // Rank 0 has left MPI, and rank 1 lives.
  wait(1);
  if (!is_empty) send_to_first(8);
  wait(7);
  send_to_first(9);
  wait(100);
}
