/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Persistent communicators: a send stores a message, and a receive gets what was stored. The conventions of <fenix.h> hold. Source:
 * Gracia et al., "Data Persistency for Fault-Tolerance Using MPI Semantics" (2016), section III.
 */
#ifndef FENIX_PERSIST_H
#define FENIX_PERSIST_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a persistent communicator: a duplicate of comm, with the same ranks. It is a function of libfenix_mpi, which has to be linked
 * before MPI, or preloaded (docs/message-logging.md). (Source: III.B.)
 *
 * A send on it stores the message for its destination, and returns when the message survives the death of the sender. It is not
 * delivered, and no other rank takes part. A receive gets the message that was stored last with the same source, destination and tag,
 * and takes nothing away. A message that is being overwritten is the old one or the new one, wherever a rank dies. All modes of sends,
 * receives, probes and requests of point-to-point communication work on it. The buffer of a send may be used again at once.
 *
 * Collective functions do not communicate on it either, in any of their forms. A rank that gives data stores it, and no receive buffer is
 * touched. In a process for which Fenix_Failure() holds, they store nothing, and give what MPI would give of the latest data of all
 * ranks; a rank that gets nothing does nothing. Reductions are done in rank order. Missing data is waited for, as in receives.
 * MPI_Barrier does nothing. Functions of windows, MPI_Psend_init and MPI_Precv_init return MPI_ERR_UNSUPPORTED_OPERATION.
 *
 * Collective over comm. The first call of a program is collective over the resilient communicator.
 * @param[in]  comm           the resilient communicator, one with ranks of it, or MPI_COMM_SELF
 * @param[in]  key            name of the session, zero-terminated; same on all ranks. Messages of different keys do not mix. Of
 *                            communicators with the same key and ranks, the n-th one has the messages of the n-th one before.
 * @param[in]  info           MPI_INFO_NULL, or hints, the same on all ranks. Unknown keys are ignored.
 *                            "persist_volume": bytes of the messages that one rank keeps at once, in [1, 2^36] (default 2^26); the value of
 *                            the first call counts.
 *                            "persist_copies": copies on other ranks, in [0, 3] (default 1); the value of the first call counts.
 *                            "persist_depth": messages that are kept of each source, destination and tag, in [1, 2^20] (default 1).
 *                            "persist_order": "fifo" (default) or "lifo", the order in which several are received.
 *                            "persist_missing": "wait" (default) or "error", for a receive of which nothing has been stored.
 *                            "persist_transparent": "true" to have messages delivered, and collective functions executed, as well
 *                            (default "false"). A process that has failed gets what is stored, if all of it is.
 *                            "persist_dir": a folder that exists. Each rank has a file in it, from which a later job goes on that calls
 *                            with the same key and as many ranks. The file has a message when its send returns.
 * @param[out] persistentcomm the communicator, to be freed with MPI_Comm_free; MPI_COMM_NULL after an error. Messages stay until
 *                            Fenix_Finalize.
 * @return MPI_SUCCESS, or an error class of MPI, after the error handler of comm, with a text in Fenix_Error_message(): MPI_ERR_ARG,
 *         MPI_ERR_INFO_VALUE, MPI_ERR_COMM for MPI_COMM_NULL and an intercommunicator, MPI_ERR_IO for persist_dir, MPI_ERR_NO_MEM, or
 *         MPI_ERR_OTHER without Fenix_Init and for a time-out.
 */
int MPI_Comm_persist(MPI_Comm comm, const char* key, MPI_Info info, MPI_Comm* persistentcomm);
/** The same under the name for tools. */
int PMPI_Comm_persist(MPI_Comm comm, const char* key, MPI_Info info, MPI_Comm* persistentcomm);

/**
 * Tells whether this process has the place of a rank that has died, and has not sent on a persistent communicator since. Then it can
 * receive what that rank had stored, and collective functions restore. Local. (Source: III.B, failure().)
 * @param[out] flag 1 if it has, otherwise 0
 * @return FENIX_SUCCESS; FENIX_ERROR_UNINITIALIZED; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL.
 */
int Fenix_Failure(int* flag);

#ifdef __cplusplus
}
#endif

#endif
