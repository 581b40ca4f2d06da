// SPDX-License-Identifier: BSD-3-Clause
// Two processes of one session call sched_yield in a loop, each beside a thread of lower priority that sleeps for 20 µs at a time. Shows how long a
// process outside of the session cannot run: Linux 6.18. Knows nothing of Fenix, nor of MPI. README.md has what was seen.
//
// usage:
//   build:  g++ -std=c++20 -O2 -pthread -o yielding tests/open_mpi/yielding.cpp
//   run:    ./yielding
// Prints the longest sleep of 1 ms: some 10 ms on a kernel that shares fairly.
#include <cstdio>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void nap(long us) {
  const struct timespec t = {0, us * 1000};
  nanosleep(&t, nullptr);
}

static void* sleeper(void* unused) {
  setpriority(PRIO_PROCESS, gettid(), 10);
  while (1) nap(20);
  return unused;
}

int main(void) {
  for (int process = 0; process < 2; ++process) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_t thread;
    pthread_create(&thread, nullptr, sleeper, nullptr);
    while (1) sched_yield();
  }
  if (fork() != 0) {
    wait(nullptr);
    return 0;
  }
  setsid();  // out of their group
  double worst = 0;
  for (const double start = now(); now() - start < 10;) {
    const double before = now();
    nap(1000);
    if (now() - before > worst) worst = now() - before;
  }
  std::printf("the longest sleep of 1 ms took %.3f s\n", worst);
}
