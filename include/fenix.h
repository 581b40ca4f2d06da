/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fenix: process recovery and in-memory, redundant, versioned data storage for MPI programs that must survive the death
 * of ranks. This is the C interface. Under C++ it brings the C++ interface of <fenix.hpp> as well, as in the current Fenix.
 *
 * Conventions, valid for every declaration below unless it says otherwise:
 *
 *  1. Return value. A function returns FENIX_SUCCESS (0), a negative FENIX_ERROR_… or a positive FENIX_WARNING_… of
 *     Fenix_Return_codes. After an error, Fenix_Error_message() gives a text that names the argument or the rank at
 *     fault. The following codes are possible in many functions and are not listed with each of them:
 *     - FENIX_ERROR_UNINITIALIZED: the call came before Fenix_Init or after Fenix_Finalize, and the function is not
 *       declared as callable at any time.
 *     - FENIX_ERROR_INVALID_LOGIC_CALL: the group has not been created again since the latest repair or time-out.
 *     - FENIX_ERROR_TIMEOUT, _NO_MEMORY, _NOCATEGORY and _INTERN: the function waits, allocates memory or calls MPI.
 *  2. Errors change nothing. Data that was stored before the call stays as it was.
 *  3. Failures. When a rank dies, the calls of the survivors that need it end. The resilient communicator is repaired,
 *     and control resumes as FENIX_RESUME_MODE says. A Fenix_ function that is interrupted in this way returns
 *     FENIX_ERROR_CANCELLED in resume mode "return". In the modes "jump" and "throw" it does not return.
 *  4. Terms. "Collective": all ranks of the communicator named, or of the group's communicator, must call the function,
 *     in the same order on all of them. Arguments that are said to be the same on all ranks must be. "Synchronising":
 *     the function returns when all ranks have called it. "Local": the function does not communicate.
 *     Where a collective function synchronises and finds an error in the arguments of one rank, all ranks return an
 *     error, and the text names that rank. A communicator or group that is not valid on one rank cannot be checked in
 *     this way: the other ranks wait for that rank until FENIX_TIMEOUT.
 *  5. Waiting. No function waits for ever. A wait ends when a rank that is waited for has died, or with
 *     FENIX_ERROR_TIMEOUT after FENIX_TIMEOUT seconds (environment variable, default 600). Time in which this process
 *     was stopped does not count (docs/operations.md).
 *  6. Ownership. The library keeps no pointer into memory of the caller, with three exceptions. These are the source
 *     buffer of a member, read by each store; the context of its serializer; and the addresses given to Fenix_Init,
 *     written after each repair.
 *  7. NULL. A pointer may be NULL only where the description of the function says so.
 *  8. Threads. Without MPI_THREAD_MULTIPLE, calls of one process must not overlap. With it, calls on different groups
 *     may overlap, but calls on one group must not. Fenix_Init and Fenix_Finalize belong to one thread; any thread
 *     may change settings and callbacks. A failure is repaired once. In resume mode "jump", only the thread that called Fenix_Init jumps; in the
 *     other threads the call returns FENIX_ERROR_CANCELLED, as in mode "return". Fenix_Error_message is per thread.
 *  9. Units. Sizes and counts are in elements of the member's datatype, unless bytes are named.
 * 10. Large counts. A function with an int count or offset has a twin with the suffix _c in <fenix/large.h>. The twin
 *     has MPI_Count in its place; the rest of the contract is the same. Members may have more than 2³¹ elements or
 *     bytes.
 */
#ifndef FENIX_H
#define FENIX_H

#include "fenix/c.h"

#ifdef __cplusplus
/* A program may include this file inside of extern "C". */
extern "C++" {
#include "fenix.hpp"
}
#endif

#endif
