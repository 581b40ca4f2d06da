/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fenix: process recovery and in-memory, redundant, versioned data storage for MPI programs that must survive the death
 * of ranks. This is the C interface; C++ programs include <fenix.hpp>, which adds to it.
 *
 * Conventions, valid for every declaration below unless it says otherwise:
 *
 *  1. Return value. FENIX_SUCCESS (0), a negative FENIX_ERROR_… or a positive FENIX_WARNING_… of Fenix_Return_codes. After
 *     an error, Fenix_Error_message() gives a text that names the argument or the rank at fault. Two errors are
 *     not listed with each function: FENIX_ERROR_UNINITIALIZED before Fenix_Init and after Fenix_Finalize, and
 *     FENIX_ERROR_INVALID_LOGIC_CALL for work with a group that has not been created again since the latest repair.
 *  2. Errors change nothing: what was stored before the call is as it was.
 *  3. Failures. When a rank dies, the calls of the survivors that need it end; the resilient communicator is repaired, and
 *     control resumes as FENIX_RESUME_MODE says. A Fenix_ function that is cut short so returns FENIX_ERROR_CANCELLED in
 *     resume mode "return", and does not return in the modes "jump" and "throw".
 *  4. Collective functions must be called by all ranks of the group's communicator, in the same order on all of them, with
 *     the same values for the arguments that are said to be the same on all ranks. Where a collective function checks them
 *     and finds an error on one rank, all ranks return an error and the text names that rank. A communicator or group that is
 *     not valid on one rank cannot be checked so: the other ranks wait for it until FENIX_TIMEOUT.
 *  5. Waiting. No function waits for ever: a wait ends when a rank it waits for has died, or with FENIX_ERROR_TIMEOUT after
 *     FENIX_TIMEOUT seconds (environment variable, default 600).
 *  6. Ownership. The library keeps no pointer into memory of the caller, with these exceptions: the source buffer of a
 *     member, read by each store; its serializer's context; the addresses given to Fenix_Init, written after each repair.
 *  7. NULL is valid for a pointer only where it is said.
 *  8. Threads. Without MPI_THREAD_MULTIPLE, calls of one process must not overlap. With it, calls on different groups may
 *     overlap, calls on one group must not; Fenix_Init, Fenix_Finalize, settings and callbacks belong to one thread. A
 *     failure is repaired once; in resume mode "jump", only the thread that called Fenix_Init jumps: in the others the call
 *     returns FENIX_ERROR_CANCELLED, as in mode "return". Fenix_Error_message is per thread.
 *  9. Sizes and counts are in elements of the member's datatype, where bytes are not named.
 * 10. Large counts. A function with an int count or offset has a twin with the suffix _c in <fenix/large.h>, with MPI_Count
 *     in its place and else the same contract. Members may have more than 2³¹ elements or bytes.
 */
#ifndef FENIX_H
#define FENIX_H

#include <fenix/codes.h>
#include <fenix/data.h>
#include <fenix/init.h>
#include <fenix/large.h>
#include <fenix/process.h>

#endif
