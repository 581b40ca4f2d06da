/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls in the wrong order, wrong arguments, and parameters. Each wrong call fails, on all ranks, and changes nothing.
 */
#include <scr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char* why) {
  if (holds) return;
  printf("FENIX-TEST-FAIL %s\n", why);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define GOOD(call) require((call) == SCR_SUCCESS, #call)
#define BAD(call) require((call) == SCR_FAILURE, "not refused: " #call)

static int flag;
static char text[SCR_MAX_FILENAME];

static void expect_value(const char* question, const char* wanted) {
  const char* const value = SCR_Config(question);
  require(wanted == NULL ? value == NULL : value != NULL && strcmp(value, wanted) == 0, question);
  free((void*)value);
}

static void refuse_outside_of_dataset(void) {
  BAD(SCR_Complete_output(1));
  BAD(SCR_Complete_checkpoint(1));
  BAD(SCR_Complete_restart(1));
}

static void refuse_within_dataset(void) {
  BAD(SCR_Start_output("second", SCR_FLAG_CHECKPOINT));
  BAD(SCR_Start_checkpoint());
  BAD(SCR_Start_restart(text));
  BAD(SCR_Have_restart(&flag, text));
  BAD(SCR_Complete_restart(1));
  BAD(SCR_Need_checkpoint(&flag));
  BAD(SCR_Should_exit(&flag));
  BAD(SCR_Current("first"));
  BAD(SCR_Delete("first"));
  BAD(SCR_Drop("first"));
  BAD(SCR_Finalize());
}

static void refuse_all(void) {
  refuse_outside_of_dataset();
  refuse_within_dataset();
  GOOD(SCR_Route_file("first", text));
  require(strcmp(text, "first") == 0, "a path before SCR_Init");
}

static void check_parameters(void) {
  expect_value("SCR_FLUSH", NULL);
  require(SCR_Config("SCR_FLUSH=7") == NULL, "a value of a set");
  expect_value("SCR_FLUSH", "7");
  require(SCR_Configf("SCR_FLUSH=%d", 3) == NULL, "a value of a formatted set");
  expect_value("SCR_FLUSH", "3");
  SCR_Config("SCR_FLUSH=");
  expect_value("SCR_FLUSH", NULL);
  SCR_Config("SCR_NOTE=\"with = and space\"");
  expect_value("SCR_NOTE", "with = and space");
  SCR_Config("CKPT=0 TYPE=XOR SET_SIZE=16");
  expect_value("CKPT=0 TYPE", "XOR");
  expect_value("CKPT=0 SET_SIZE", "16");
  expect_value("CKPT=1 TYPE", NULL);
  /* The environment comes first, and the user's file before the program. */
  SCR_Config("SCR_CACHE_SIZE=9");
  expect_value("SCR_CACHE_SIZE", "2");
  SCR_Config("SCR_FLUSH_ASYNC=0");
  expect_value("SCR_FLUSH_ASYNC", "1");
  require(SCR_Config(NULL) == NULL, "SCR_Config without a text");
}

int main(int argc, char** argv) {
  BAD(SCR_Init());
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  refuse_all();
  check_parameters();
  require(strcmp(SCR_Get_version(), "v3.1.0") == 0 && strcmp(SCR_VERSION, SCR_Get_version()) == 0, "version");
  BAD(SCR_Init_comm(NULL));
  GOOD(SCR_Init());
  BAD(SCR_Init());
  SCR_Config("SCR_FLUSH=5");
  expect_value("SCR_FLUSH", NULL);
  refuse_outside_of_dataset();
  GOOD(SCR_Have_restart(&flag, NULL));
  require(flag == 0, "a checkpoint from nowhere");
  BAD(SCR_Start_restart(NULL));
  BAD(SCR_Have_restart(NULL, NULL));
  BAD(SCR_Need_checkpoint(NULL));
  BAD(SCR_Should_exit(NULL));
  BAD(SCR_Current(NULL));
  BAD(SCR_Delete(NULL));
  BAD(SCR_Drop(NULL));
  /* Names and flags. */
  static char long_name[SCR_MAX_FILENAME + 1];
  memset(long_name, 'x', SCR_MAX_FILENAME);
  BAD(SCR_Start_output(long_name, SCR_FLAG_CHECKPOINT));
  BAD(SCR_Start_output("first", -1));
  BAD(SCR_Start_output("first", 4));
  BAD(SCR_Start_output(rank == 0 ? "first" : "second", SCR_FLAG_CHECKPOINT));
  BAD(SCR_Start_output("first", rank == 0 ? SCR_FLAG_CHECKPOINT : SCR_FLAG_OUTPUT));
  GOOD(SCR_Route_file("a/../b", text));
  require(strcmp(text, "a/../b") == 0, "a path outside of datasets is not the name");
  /* An output and a checkpoint have ends of their own. */
  GOOD(SCR_Start_checkpoint());
  refuse_within_dataset();
  BAD(SCR_Complete_output(1));
  GOOD(SCR_Complete_checkpoint(1));
  GOOD(SCR_Start_output("first", SCR_FLAG_CHECKPOINT));
  refuse_within_dataset();
  BAD(SCR_Complete_checkpoint(1));
  BAD(SCR_Route_file("../outside", text));
  BAD(SCR_Route_file("/outside", text));
  BAD(SCR_Route_file("below/.first.scr-fenix.tmp", text));
  BAD(SCR_Route_file(".scr/datasets/first", text));
  BAD(SCR_Route_file("below/../.scr/first", text));
  BAD(SCR_Route_file("", text));
  BAD(SCR_Route_file(NULL, text));
  BAD(SCR_Route_file("first", NULL));
  GOOD(SCR_Complete_output(1));
  /* A file that was asked for and not written. */
  GOOD(SCR_Start_output("second", SCR_FLAG_CHECKPOINT));
  if (rank == 0) GOOD(SCR_Route_file("missing", text));
  BAD(SCR_Complete_output(1));
  refuse_outside_of_dataset();
  /* A dataset that is neither checkpoint nor output. */
  GOOD(SCR_Start_output("third", SCR_FLAG_NONE));
  GOOD(SCR_Complete_output(1));
  GOOD(SCR_Finalize());
  refuse_all();
  /* Values that were set before count no more. */
  SCR_Config("SCR_NOTE=2");
  GOOD(SCR_Init());
  expect_value("SCR_NOTE", "2");
  expect_value("CKPT=0 TYPE", NULL);
  GOOD(SCR_Have_restart(&flag, text));
  require(flag == 1 && strcmp(text, "first") == 0, "the checkpoint of before");
  GOOD(SCR_Finalize());
  printf("FENIX-TEST-OK\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
