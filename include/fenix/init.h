/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The macro Fenix_Init and the two functions behind it. The contract of the macro is in <fenix/process.h>.
 */
#ifndef FENIX_INIT_H
#define FENIX_INIT_H

#include <mpi.h>
#include <setjmp.h>
#include "codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Does the work of Fenix_Init before setjmp. Internal: programs call Fenix_Init. Blocks in spare ranks. Survivors jump
   to resume_point. Returns the code that it has written to error, or FENIX_SUCCESS. */
int fenix_detail_preinit(int* role, MPI_Comm comm, MPI_Comm* newcomm, int* argc, char*** argv, int spare_ranks,
                         int spawn, MPI_Info info, int* error, jmp_buf* resume_point);
/* Writes role, newcomm and error, at the first exit from Fenix_Init and after each jump back to it. Internal. */
void fenix_detail_postinit(void);

/* For <fenix/spec.h>: lets MPI errors that are no failures be returned, unless FENIX_UNHANDLED_MODE was set. Internal. */
void fenix_detail_return_unhandled(void);

#ifdef __cplusplus
}
#endif

#define FENIX_DETAIL_INIT_9(role, comm, newcomm, argc, argv, spare_ranks, spawn, info, error)                    \
  {                                                                                                              \
    static jmp_buf fenix_detail_resume_point;                                                                    \
    if (fenix_detail_preinit((role), (comm), (newcomm), (argc), (argv), (spare_ranks), (spawn), (info), (error), \
                             &fenix_detail_resume_point) == FENIX_SUCCESS) {                                     \
      (void)setjmp(fenix_detail_resume_point);                                                                   \
      fenix_detail_postinit();                                                                                   \
    }                                                                                                            \
  }

#define FENIX_DETAIL_INIT_7(role, comm, newcomm, argc, argv, spare_ranks, error) \
  FENIX_DETAIL_INIT_9(role, comm, newcomm, argc, argv, spare_ranks, 0, MPI_INFO_NULL, error)

#define FENIX_DETAIL_INIT_8(...) fenix_init_takes_7_or_9_arguments
#define FENIX_DETAIL_PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, name, ...) name

#define Fenix_Init(...)                                                                                              \
  FENIX_DETAIL_PICK(__VA_ARGS__, FENIX_DETAIL_INIT_9, FENIX_DETAIL_INIT_8, FENIX_DETAIL_INIT_7, FENIX_DETAIL_INIT_8, \
                    FENIX_DETAIL_INIT_8, FENIX_DETAIL_INIT_8, FENIX_DETAIL_INIT_8, FENIX_DETAIL_INIT_8,              \
                    FENIX_DETAIL_INIT_8, 0)                                                                          \
  (__VA_ARGS__)

#endif
