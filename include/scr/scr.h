/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface of SCR 3.1, the scalable checkpoint/restart library, over Fenix: a program that was written for SCR compiles and restarts
 * with it. docs/scr.md tells how. Source of names, arguments and meanings: the user manual of SCR 3.1.
 *
 * All functions return SCR_SUCCESS or SCR_FAILURE, except those for configuration and version. None of them ends the program, unless
 * SCR_HALT_EXIT is set. A function that is called at the wrong time returns SCR_FAILURE, and changes nothing. One line on standard error
 * tells why. All functions are collective over MPI_COMM_WORLD, unless they are called local. No function may be called by two threads at a time.
 */
#ifndef SCR_H
#define SCR_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the interface. */
#define SCR_MAJOR_VERSION "3"
#define SCR_MINOR_VERSION "1"
#define SCR_PATCH_VERSION "0"
#define SCR_VERSION "v3.1.0"

/** Codes. */
#define SCR_SUCCESS (0)
#define SCR_FAILURE (1)

/** Bytes of a buffer for a path or the name of a dataset, with the zero at its end. */
#define SCR_MAX_FILENAME 1024

/** Flags of SCR_Start_output, to be combined by |. */
#define SCR_FLAG_NONE (0)
#define SCR_FLAG_CHECKPOINT (1) /**< the program can go on from it */
#define SCR_FLAG_OUTPUT (2)     /**< its files go to the folders of the program */

/**
 * Begins the use of SCR: starts Fenix on MPI_COMM_WORLD without spare ranks. After MPI_Init; again after SCR_Finalize. Parameters are those
 * of rank 0. If a rank dies later, the program has to end, and to be started again.
 * @return SCR_SUCCESS; SCR_FAILURE on all ranks if Fenix is in use already, if the prefix folder cannot be made, or if its store does not
 *         answer. It is also returned if a parameter has no meaning, if SCR_Config was given others on other ranks, and if SCR_ENABLE is 0.
 */
int SCR_Init(void);

/**
 * Begins the use of SCR as SCR_Init does, for programs that repair themselves (new). The last FENIX_SPARES ranks of MPI_COMM_WORLD wait in
 * this call until they take the place of a dead rank. After a death, calls of MPI and SCR return errors. Then *repaired is a new
 * communicator on all ranks, and the program goes on with SCR_Have_restart. All collective calls of SCR are over *repaired.
 * @param[out] repaired the resilient communicator, written again after each repair: the address must stay valid until SCR_Finalize. After
 *                      SCR_Finalize the caller owns it.
 * @return as SCR_Init; SCR_FAILURE if repaired is NULL.
 */
int SCR_Init_comm(MPI_Comm* repaired);

/**
 * Ends the use of SCR. The latest checkpoint is flushed first, if it has not been, unless SCR_CACHE_BYPASS and SCR_FLUSH are 0. Before
 * MPI_Finalize; not between a start and its completion.
 * @return SCR_SUCCESS; SCR_FAILURE if the checkpoint could not be flushed. The use of SCR has ended then as well.
 */
int SCR_Finalize(void);

/**
 * Tells the version. Local; may be called at any time.
 * @return SCR_VERSION, owned by the library. Never NULL.
 */
char* SCR_Get_version(void);

/**
 * Sets, unsets or gets a parameter. Same argument on all ranks. "KEY=VALUE" sets, and "KEY=" unsets, before SCR_Init. "KEY" gets, at any
 * time; before SCR_Init what this rank would find. "CKPT=0 TYPE=XOR" sets, and "CKPT=0 TYPE" gets, one item of several. The environment
 * comes before the user's file, that before the values that are set here, and they before the file of the system. SCR_Finalize forgets them.
 * @param[in] config zero-terminated
 * @return the value of a parameter that is asked for, to be freed with free; NULL if it has none, and in all other cases.
 */
const char* SCR_Config(const char* config);

/**
 * Formats a text as printf does, and calls SCR_Config with it.
 * @param[in] format of printf
 * @return as SCR_Config.
 */
const char* SCR_Configf(const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;

/**
 * Says whether the program should end: the same on all ranks. (Fenix_Process_should_halt.)
 * @param[out] flag 1: it should end, after a checkpoint; 0: it should go on
 * @return SCR_SUCCESS; SCR_FAILURE.
 */
int SCR_Should_exit(int* flag);

/**
 * Gives the path by which the program has to open a file. Local. Between a start of output and its completion, the file becomes part of the
 * dataset. Between SCR_Start_restart and SCR_Complete_restart, it is a file of the dataset that this rank has written. At other times the
 * path is a copy of the name.
 * @param[in]  name path of the file below the prefix folder: absolute, or relative to the working folder. In a restart the name of a file
 *                  without folders does as well.
 * @param[out] file SCR_MAX_FILENAME bytes. The folder of the path exists.
 * @return SCR_SUCCESS; SCR_FAILURE for a name outside the prefix folder, for a path that is too long, and in a restart for a file that the
 *         dataset does not have.
 */
int SCR_Route_file(const char* name, char* file);

/**
 * Says whether there is a checkpoint to go on from: the same on all ranks. SCR_Current or SCR_CURRENT may have
 * named it. Otherwise it is the newest one that has not failed, was written by as many ranks as there are now, and has its files as they were.
 * @param[out] flag 1: there is; 0: there is none
 * @param[out] name SCR_MAX_FILENAME bytes: the name that it was given, if flag is 1; or NULL
 * @return SCR_SUCCESS; SCR_FAILURE, also if the store does not answer: whether there is a checkpoint is not known then. The next call asks
 *         again.
 */
int SCR_Have_restart(int* flag, char* name);

/**
 * Begins to read the checkpoint that SCR_Have_restart has told of.
 * @param[out] name as for SCR_Have_restart
 * @return SCR_SUCCESS; SCR_FAILURE if there is none, or some rank cannot unpack its files. SCR_Have_restart may then tell of an older one.
 */
int SCR_Start_restart(char* name);

/**
 * Ends the reading of a checkpoint.
 * @param[in] valid 0: this rank could not use it; anything else: it could
 * @return SCR_SUCCESS if all ranks could; SCR_FAILURE otherwise: the checkpoint has failed, for later jobs as well, and SCR_Have_restart
 *         tells of the next older one in the store.
 */
int SCR_Complete_restart(int valid);

/**
 * Says whether the program should write a checkpoint now: the same on all ranks. SCR_CHECKPOINT_INTERVAL, _SECONDS and _OVERHEAD say how
 * often; without any of them the answer is 1, and if the job should end as well. (Fenix_Data_need_commit.)
 * @param[out] flag 1: it should; 0: not yet
 * @return SCR_SUCCESS; SCR_FAILURE.
 */
int SCR_Need_checkpoint(int* flag);

/**
 * Begins a dataset.
 * @param[in] name  shorter than SCR_MAX_FILENAME, zero-terminated; NULL or empty: "scr.dataset." and a number; same on all ranks.
 *                  A dataset of the same name that is there already is replaced
 * @param[in] flags SCR_FLAG_CHECKPOINT, SCR_FLAG_OUTPUT, both or SCR_FLAG_NONE; same on all ranks
 * @return SCR_SUCCESS; SCR_FAILURE for other names and flags.
 */
int SCR_Start_output(const char* name, int flags);

/**
 * Ends a dataset, whose files are closed. They are in their own places, on disk, when the call returns, and the store has the list of a
 * checkpoint. With SCR_CACHE_BYPASS=0 that holds for outputs; the files of a checkpoint go to memory of Fenix, and to its store when a
 * flush is due. The paths of SCR_Route_file are not valid any more.
 * @param[in] valid 0: this rank could not write its files; anything else: it could, or had none
 * @return SCR_SUCCESS if all ranks could, and the dataset is complete; SCR_FAILURE on all ranks otherwise: the dataset is no checkpoint to
 *         go on from. If only its flush has failed, it is one as long as its memory is there, and SCR_Finalize flushes the latest one again.
 *         With SCR_CACHE_BYPASS=0, SCR_FAILURE as well if several ranks have written one file.
 */
int SCR_Complete_output(int valid);

/**
 * Begins a checkpoint without a name.
 * @return as SCR_Start_output.
 */
int SCR_Start_checkpoint(void);

/**
 * Ends a checkpoint that SCR_Start_checkpoint has begun.
 * @param[in] valid as for SCR_Complete_output
 * @return as SCR_Complete_output.
 */
int SCR_Complete_checkpoint(int valid);

/**
 * Chooses a checkpoint: the next SCR_Have_restart tells of it, in this job and in later ones, until a newer one is flushed. Without
 * SCR_Have_restart it says what the program has gone on from by itself: numbers of datasets go on from there.
 * @param[in] name name of a checkpoint in the store; same on all ranks. With another name the call has no effect
 * @return SCR_SUCCESS; SCR_FAILURE.
 */
int SCR_Current(const char* name);

/**
 * Forgets a dataset, and leaves its files below the prefix folder where they are. Its data in the store is removed.
 * @param[in] name name of the dataset; same on all ranks. With another name the call has no effect
 * @return SCR_SUCCESS; SCR_FAILURE if it cannot be removed.
 */
int SCR_Drop(const char* name);

/**
 * Removes a dataset, with its files below the prefix folder, and with the folders that become empty. Files that another dataset lists stay.
 * @param[in] name name of the dataset; same on all ranks. With another name the call has no effect
 * @return SCR_SUCCESS; SCR_FAILURE if it cannot be removed.
 */
int SCR_Delete(const char* name);

#ifdef __cplusplus
}
#endif

#endif
