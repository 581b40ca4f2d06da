/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Common parts of the programs of this folder. They are legal MPI programs that know nothing of Fenix.
 *
 *   program CASE... [--rounds N]
 *
 * Each case is done N times. With PLAIN_DIES=RANK:STEP[:MICROSECONDS],... in the environment, a rank kills itself at one of its steps, or so long after
 * it. The file that it makes in the folder PLAIN_MARKS keeps its replacement from doing the same.
 */
#ifndef PLAIN_H
#define PLAIN_H

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Case {
  const char* name;
  void (*run)(int round);
};

extern int rank, size; /* in MPI_COMM_WORLD */
extern int rounds;

/* Ends the job if a condition does not hold. */
#define CHECK(holds) check_that((holds) != 0, __FILE__, __LINE__, #holds)
void check_that(int holds, const char* file, int line, const char* text);

/* Marks a step of the program, at which this rank may be told to die. */
void step(void);

/* Fills memory with bytes that depend on a rank and a number. */
void fill(void* memory, size_t bytes, int from, int number);
/* Checks that memory has these bytes. */
void expect(const void* memory, size_t bytes, int from, int number);

/* Reads the arguments, and starts MPI if it has not been started. */
void begin(int* argc, char*** argv);
/* Runs the cases that the arguments name, and ends MPI. */
int run_cases(int argc, char** argv, const struct Case* cases, size_t count);
/* Says that this rank has got all that it wanted. */
void say_well(void);

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
