/* The smallest program for SCR that uses the installed package. */
#include <scr.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int flag = -1;
  const int good = SCR_Config("SCR_FLUSH=0") == NULL && SCR_Init() == SCR_SUCCESS &&
                   SCR_Have_restart(&flag, NULL) == SCR_SUCCESS && flag == 0 &&
                   SCR_Start_output("one", SCR_FLAG_CHECKPOINT) == SCR_SUCCESS &&
                   SCR_Complete_output(1) == SCR_SUCCESS && SCR_Finalize() == SCR_SUCCESS;
  MPI_Finalize();

  printf("FENIX-TEST-%s a rank for SCR\n", good ? "OK" : "FAIL");
  return good ? 0 : 1;
}
