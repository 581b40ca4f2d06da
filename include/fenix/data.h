/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Data storage: groups, members, subsets, stores, commits, restores. The conventions of <fenix.h> hold.
 *
 * Codes that are not listed with each function: FENIX_ERROR_INVALID_GROUPID for a group that does not exist on this rank,
 * FENIX_ERROR_INVALID_MEMBERID for a member that is not in it, FENIX_ERROR_INVALID_ARGUMENT for a pointer that is NULL where
 * it must not be, FENIX_ERROR_MEMBER_STAGING and FENIX_ERROR_MEMBER_LOADING for a member with a file that is open.
 */
#ifndef FENIX_DATA_H
#define FENIX_DATA_H

#include <fenix/codes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Selects elements of a member. Made by Fenix_Data_subset_create and its like, or one of the constants below. */
typedef struct {
  const void* impl; /**< internal */
} Fenix_Data_subset;

/** All elements of the member. Not valid for a member that is FENIX_RESIZEABLE, unless it has a serializer. */
extern const Fenix_Data_subset FENIX_DATA_SUBSET_FULL;
/** No element. */
extern const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY;
/** The elements that were staged since the latest store of the member. For stores only. */
extern const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED;
/** What a deleted subset is set to. Valid nowhere. */
extern const Fenix_Data_subset FENIX_SUBSET_NULL;
/** For found_data: the caller does not want to know. */
#ifdef __cplusplus
#define FENIX_DATA_SUBSET_IGNORE (static_cast<Fenix_Data_subset*>(nullptr))
#else
#define FENIX_DATA_SUBSET_IGNORE ((Fenix_Data_subset*)0)
#endif

/** An asynchronous store. May be copied; nothing has to be freed. */
typedef struct {
  uint64_t impl; /**< internal */
} Fenix_Request;

/** No request: complete in every respect. */
extern const Fenix_Request FENIX_REQUEST_NULL;

/**
 * Writes elements of a member to a file or reads them from it, instead of a plain copy. Called by stores and loads, on the
 * calling thread; must not call Fenix. What is written must be element by element: element i at byte
 * i × (bytes of the datatype) of the file, which stands at element offset when the function is called.
 * @param file      to be written or read sequentially; not to be closed
 * @param direction FENIX_SERIALIZE: from buffer to file; FENIX_DESERIALIZE: from file to buffer
 * @param buffer    source buffer of the member, or target of a restore: its start, not that of element offset
 * @param offset    first element
 * @param count     elements; 0 for a store of FENIX_DATA_SUBSET_FULL of a member that is FENIX_RESIZEABLE: as many as
 *                  the function cares to write
 * @param ctx       as given with the function
 */
typedef void (*Fenix_Serialize_file_fn)(FILE* file, int direction, void* buffer, int offset, int count, void* ctx);

/* --------------------------------------------------------------------------------------------------------------- groups */

/**
 * Creates a data group, or takes an existing one up again after a failure. Collective over comm. (Specification 3.2.1; API
 * reference.) All arguments but flag are the same on all ranks.
 *
 * If some ranks know the group (they survived), the other arguments are ignored but for comm; recovered ranks learn
 * everything from their peers: parameters, members, snapshots. On return all ranks have the same snapshots: those that
 * every rank, the dead included, had committed, as far as their data could be had; later commits of single ranks are
 * dropped, so are requests and what was staged or stored and not committed. What the dead held is rebuilt: the group
 * tolerates the next failure. Call it after each failure on all ranks.
 *
 * If comm has another size than before (it has shrunk), the snapshots stay as they are: Fenix_Data_member_restore_from_rank
 * fetches from them, by the old rank numbers, until the first commit on the new communicator is on all ranks. They are not
 * protected anew. Members stay with the counts of the survivors; if there is a replacement among the ranks, nobody knows
 * its counts, and the members are dropped: create them again.
 *
 * FENIX_DATA_GROUP_WORLD_ID need not be created: its first collective call, and the first one after each failure, does it.
 *
 * @param[in]  group_id         in [0, FENIX_GROUP_ID_MAX), or FENIX_DATA_GROUP_WORLD_ID; unique among all active ranks, not
 *                              only those of comm
 * @param[in]  comm             a resilient communicator, not from before the latest repair; it is duplicated, not kept
 * @param[in]  start_time_stamp time stamp of the first commit, in [0, FENIX_TIME_STAMP_MAX)
 * @param[in]  depth            snapshots kept besides the newest, in [0, 4096); or −1: all are kept until they are deleted.
 *                              Then every store and commit synchronises: the space for snapshots may have to grow.
 * @param[in]  policy_name      FENIX_DATA_POLICY_IN_MEMORY_RAID, _PEER_RANK_SEPARATION, _REED_SOLOMON or _LOCAL
 * @param[in]  policy_value     values of the policy, see Fenix_Data_group_set_redundancy_policy; NULL for its default
 * @param[out] flag             or NULL: FENIX_SUCCESS; FENIX_ERROR_NODATA_FOUND if snapshots existed and were lost; else
 *                              FENIX_WARNING_SHARED_FATE if there are several nodes, or failure domains with different names, and
 *                              more ranks that protect each other are in one of them than the policy covers: its death would
 *                              lose snapshots
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID, _TIMESTART, _DEPTH, _POLICY_NAME, _POLICY_VALUE;
 *         FENIX_ERROR_INVALID_ARGUMENT (comm); FENIX_ERROR_MISMATCH; FENIX_ERROR_GROUP_CREATE (FENIX_PATH does not fit);
 *         FENIX_ERROR_NO_MEMORY; FENIX_ERROR_TIMEOUT (a rank has not come). After an error an existing group has to be created
 *         again before it can be used.
 */
int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name,
                            void* policy_value, int* flag);

/** 1 if the group exists on this rank, else 0. Local. FENIX_ERROR_UNINITIALIZED before Fenix_Init. */
int Fenix_Data_group_created(int group_id);

/**
 * Deletes the group on this rank, with all members and snapshots. Local; the others lose the copies that they have here.
 * (Specification 3.2.1.) The id can be used again when all ranks have deleted the group, or after Fenix_Data_barrier.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID, also for FENIX_DATA_GROUP_WORLD_ID.
 */
int Fenix_Data_group_delete(int group_id);

/**
 * Gets the policy of a group. Local. (API reference; specification 3.2.3.)
 * @param[out] policy_name  FENIX_DATA_POLICY_…
 * @param[out] policy_value room for int[3]: the values as in Fenix_Data_group_set_redundancy_policy, defaults filled in;
 *                          up to three are written, none for FENIX_DATA_POLICY_LOCAL
 * @param[out] flag         or NULL: 1, since every group has a policy
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_group_get_redundancy_policy(int group_id, int* policy_name, void* policy_value, int* flag);

/**
 * Changes the policy of a group. Collective over the group, before anything is staged, stored or committed; synchronising.
 * (Specification 3.2.3.) Same arguments on all ranks.
 *
 *   FENIX_DATA_POLICY_IN_MEMORY_RAID        int[2] {1, separation}: buddies. Rank N and rank N + separation keep a copy of
 *                                           each other's data; for an odd number of ranks, the first, middle and last rank
 *                                           form a chain of three. Default: FENIX_DATA_SEPARATION_AUTO.
 *                                           int[3] {5, separation, size}: XOR parity in cohorts of size ranks. One rank of
 *                                           each cohort may be lost.
 *   FENIX_DATA_POLICY_PEER_RANK_SEPARATION  int {separation}: rank (N + separation) mod size keeps a copy of rank N's data.
 *                                           Default: FENIX_DATA_SEPARATION_AUTO.
 *   FENIX_DATA_POLICY_REED_SOLOMON          int[3] {separation, size, losses} (new): Reed-Solomon codes in cohorts of size
 *                                           ranks, of which any losses, 1 to 4, may be lost. Default: {AUTO, 4, 2}.
 *   FENIX_DATA_POLICY_LOCAL                 no values: no redundancy (new). Survivors keep their snapshots; restores of the rank
 *                                           that took a dead one's place return FENIX_ERROR_NODATA_FOUND.
 *
 * separation is in [1, size of the communicator), or FENIX_DATA_SEPARATION_AUTO (new): the library chooses who protects whom, when
 * the group is created. Ranks that protect each other then share no node, and no failure domain where FENIX_FAILURE_DOMAIN
 * names them, as far as there are enough of these. Where ranks are in the order of their nodes it is half of the ranks for
 * copies, and the number of cohorts for codes. A communicator of one rank has nobody to protect it: the group works and tolerates
 * nothing.
 *
 * A cohort has the ranks N, N + separation, N + 2 × separation, …; its size is in [losses + 1, size of the communicator], and at
 * most 128. Cohorts fill blocks of separation × size ranks. Ranks that are left over form cohorts of the same size, with
 * the largest separation that they allow; if fewer than size are left, each joins one of the last cohorts, which so get
 * larger. If all ranks are fewer than size, they are one cohort. A default that does not fit the communicator is treated alike.
 *
 * With parity a store is local, and the commit, plain or not, waits for the cohort to commit and encodes. So a member that is
 * stored on one rank of a cohort has to be stored on all of them, if only FENIX_DATA_SUBSET_EMPTY: else the commit of the
 * cohort returns FENIX_ERROR_MISMATCH. If the commit of one rank is refused, those of its cohort return
 * FENIX_ERROR_INVALID_LOGIC_CALL. What was stored stays, and can be committed when the cause is gone.
 *
 * @param[in]  policy_value see above; NULL for the default
 * @param[out] flag         or NULL: 1 if the policy was set, else 0; same on all ranks
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_POLICY_NAME, _POLICY_VALUE; FENIX_ERROR_INVALID_LOGIC_CALL if something has been
 *         staged, stored or committed; FENIX_ERROR_NO_MEMORY; FENIX_ERROR_MISMATCH. After an error the old policy holds.
 */
int Fenix_Data_group_set_redundancy_policy(int group_id, int policy_name, void* policy_value, int* flag);

/**
 * Whether stored data is hashed (new). Collective over the group, before anything is staged, stored or committed;
 * synchronising. Without hashes stores and commits are faster, but memory that has changed by itself is restored as it is: the
 * damage is not noticed, and Fenix_Data_verify takes the data to be right where it and its parity differ. Ranks that take a dead one's place learn of it from their peers.
 * @param[in] hashing 0: no hashes; any other value: hashes, as in every new group. Both same on all ranks.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if something has been staged, stored or committed;
 *         FENIX_ERROR_MISMATCH. After an error all is as before.
 */
int Fenix_Data_group_set_hashing(int group_id, int hashing);

/** Gets whether stored data is hashed: 1 or 0 (new). Local. @return FENIX_SUCCESS. */
int Fenix_Data_group_get_hashing(int group_id, int* hashing);

/** Number of members. Local. (Specification 3.7.1.) @return FENIX_SUCCESS. */
int Fenix_Data_group_get_number_of_members(int group_id, int* number_of_members);

/** Id of a member; position 0 is the one created first. Local. (Specification 3.7.1.)
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_POSITION outside [0, number of members). */
int Fenix_Data_group_get_member_at_position(int group_id, int* member_id, int position);

/**
 * Number of consistent snapshots: those that every rank has committed and that can be restored. Local: looks
 * into the memory of other ranks, over windows perhaps only when these call MPI. After a plain commit the newest may not be
 * counted until the other ranks have committed as well, and what another rank has deleted is counted until
 * Fenix_Data_barrier. (Specification 3.7.2, which has it collective.)
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_group_get_number_of_snapshots(int group_id, int* number_of_snapshots);

/** Time stamp of a consistent snapshot; position 0 is the newest. Local. (Specification 3.7.2.)
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_POSITION outside [0, number of snapshots). */
int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int* time_stamp);

/* -------------------------------------------------------------------------------------------------------------- members */

/**
 * Adds a member to a group. Collective over the group; at any time. (Specification 3.2.2.) The memory for its snapshots is
 * taken here, per rank (depth + 2) × (bytes of the own data + bytes of redundancy for others); for members that
 * are FENIX_RESIZEABLE, and at depth −1, in stores as need arises. Fenix_Data_member_footprint tells how much it is.
 *
 * @param[in] group_id  the group; same on all ranks
 * @param[in] member_id in [0, FENIX_MEMBER_ID_MAX), not taken in the group; same on all ranks
 * @param[in] buffer    count elements, read by each store; owned by the caller, to be kept until another is set. May be
 *                      NULL if it is set with Fenix_Data_member_attr_set before the first store, or not read.
 * @param[in] count     elements, ≥ 0; may differ between ranks. FENIX_RESIZEABLE on all ranks: the size is that of each
 *                      snapshot, see Fenix_Data_member_store.
 * @param[in] datatype  type of an element, committed; duplicated, not kept. Only its bytes are stored, not its holes.
 *                      Same on all ranks. Recovered ranks get one that is built alike.
 * @return FENIX_SUCCESS; FENIX_ERROR_MEMBER_EXISTS; FENIX_ERROR_INVALID_MEMBERID; FENIX_ERROR_INVALID_ARGUMENT (count,
 *         datatype); FENIX_ERROR_MISMATCH; FENIX_ERROR_NO_MEMORY.
 */
int Fenix_Data_member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype);

/** Fenix_Data_member_create with a serializer, which recovered ranks have to give again (Fenix_Data_member_fdefine).
 *  @param[in] serializer or NULL: plain copies  @param[in] ctx handed to it; owned by the caller */
int Fenix_Data_member_fcreate(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* ctx);

/**
 * Creates the member if the group does not have it; else sets its buffer, and its count and datatype if they differ, as
 * Fenix_Data_member_attr_set does. Collective over the group.
 * @return as Fenix_Data_member_create but for FENIX_ERROR_MEMBER_EXISTS; FENIX_ERROR_MISMATCH if some ranks have the member
 *         and others have deleted it; FENIX_ERROR_INVALID_ATTRIBUTE_VALUE if count or datatype differ and something was
 *         stored.
 */
int Fenix_Data_member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype);

/** Fenix_Data_member_define that sets or, with NULL, removes the serializer too. */
int Fenix_Data_member_fdefine(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* ctx);

/** 1 if the member exists on this rank, else 0. Local. FENIX_ERROR_UNINITIALIZED before Fenix_Init. */
int Fenix_Data_member_created(int group_id, int member_id);

/**
 * Deletes the member on this rank, with its data in all snapshots. Local; at any time. On the other ranks it is removed by
 * Fenix_Data_barrier or the next recovery. (Specification 3.2.2.) Waits for pending requests on it.
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_member_delete(int group_id, int member_id);

/**
 * Gets the bytes of shared memory that a member takes up on this rank: all its slots, the one of the snapshot under
 * construction included, each with what this rank keeps for others (new). Local; known from the creation on. It changes with the
 * redundancy policy, with COUNT and DATATYPE in the first store, at depth −1, and with the size of a member that is
 * FENIX_RESIZEABLE, which takes up a page before its first store.
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_member_footprint(int group_id, int member_id, MPI_Count* bytes);

/**
 * Gets an attribute of a member. Collective over the group. (Specification 3.7.3.) Same arguments on all ranks but
 * source_rank, attribute_value and flag.
 *
 *   FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER    void**: source buffer, of this rank only: flag is 0 for another source_rank
 *   FENIX_DATA_MEMBER_ATTRIBUTE_COUNT     int*: elements; for FENIX_RESIZEABLE the size in the latest snapshot, 0 without one
 *   FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE  MPI_Datatype*: a type of this rank; owned by the library, valid while the member is
 *   FENIX_DATA_MEMBER_ATTRIBUTE_SIZE      int*: bytes of an element as it is stored: those of the datatype without holes
 *
 * @param[out] flag        or NULL: 1 if there is a value, else 0
 * @param[in]  source_rank rank in the group's communicator
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ATTRIBUTE_NAME; FENIX_ERROR_INVALID_ARGUMENT (source_rank);
 *         FENIX_ERROR_INVALID_ATTRIBUTE_VALUE if the count does not fit an int; FENIX_ERROR_MISMATCH.
 */
int Fenix_Data_member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                               int source_rank);

/**
 * Sets an attribute of a member. Local. (Specification 3.7.3.)
 *
 *   FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER    attribute_value is the new source buffer itself; allowed at any time
 *   FENIX_DATA_MEMBER_ATTRIBUTE_COUNT     int*: elements; before the first store of the member only
 *   FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE  MPI_Datatype*; before the first store of the member only, on all ranks alike
 *
 * COUNT and DATATYPE take effect in the next store, which is the one that reports if memory is short or ranks differ.
 * SIZE is read-only.
 * @param[out] flag or NULL: 1 if the attribute was set, else 0
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ATTRIBUTE_NAME; FENIX_ERROR_INVALID_ATTRIBUTE_VALUE;
 *         FENIX_ERROR_INVALID_LOGIC_CALL (the attribute is frozen: the member has been stored).
 */
int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag);

/* -------------------------------------------------------------------------------------------------------------- subsets */

/* Subsets are values of the process, and belong to no group: these functions may be called at any time, before Fenix_Init
   and after Fenix_Finalize too. */

/**
 * Creates a subset of num_blocks blocks, first to last element each: {start_offset, end_offset},
 * {start_offset + stride, end_offset + stride}, … Local. (API reference.) Blocks may overlap.
 * @param[in]  num_blocks       ≥ 1
 * @param[in]  start_offset     first element of the first block, ≥ 0
 * @param[in]  end_offset       last element of the first block, ≥ start_offset
 * @param[in]  stride           ≥ 1; ignored if num_blocks is 1
 * @param[out] subset_specifier owned by the caller, who deletes it with Fenix_Data_subset_delete
 * @return FENIX_SUCCESS; FENIX_ERROR_SUBSET_NUM_BLOCKS, _START_OFFSET, _END_OFFSET, _STRIDE.
 */
int Fenix_Data_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                             Fenix_Data_subset* subset_specifier);

/** Creates a subset of num_blocks blocks, each with its own first and last element. Local. (API reference; specification 3.6.)
 *  Blocks may overlap and stand in any order. Codes as for Fenix_Data_subset_create. */
int Fenix_Data_subset_createv(int num_blocks, int* array_start_offsets, int* array_end_offsets,
                              Fenix_Data_subset* subset_specifier);

/** Deletes a subset and sets it to FENIX_SUBSET_NULL. Local. (Specification 3.6.)
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if it is not a created one. */
int Fenix_Data_subset_delete(Fenix_Data_subset* subset_specifier);

/** Number of blocks of a subset in its shortest form: ascending, disjoint, not adjacent (new). Local. 1 for _FULL, 0 for _EMPTY.
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT (subset, _PRESTAGED included). */
int Fenix_Data_subset_get_number_of_blocks(Fenix_Data_subset subset, MPI_Count* number_of_blocks);

/** First and last element of a block of a subset (new). Local. The last element of _FULL is INT64_MAX.
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_POSITION; FENIX_ERROR_INVALID_ARGUMENT. */
int Fenix_Data_subset_get_block(Fenix_Data_subset subset, MPI_Count position, MPI_Count* start_offset,
                                MPI_Count* end_offset);

/* -------------------------------------------------------------------------------------------------------------- storing */

/**
 * Copies elements of a member into the snapshot under construction on this rank, and not yet to others. Local: no
 * communication; waits only when the space can be reused no earlier than when all ranks have committed an earlier snapshot.
 * The buffer may be changed on return. Follow it with a store of FENIX_DATA_SUBSET_PRESTAGED; a commit before that is an
 * error. Elements may be staged repeatedly; the newest counts. (API reference.)
 * @param subset_specifier any but _PRESTAGED; within the member
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT (no buffer, subset); FENIX_ERROR_SUBSET_END_OFFSET (beyond the
 *         member); FENIX_ERROR_NO_MEMORY.
 */
int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier);

/**
 * Fenix_Data_member_stage from another buffer, which the library takes over.
 * @param buf element 0 up to the last of the subset, from malloc; freed by the library if the call succeeds. Or what
 *            Fenix_Data_member_stage_memory gave for this snapshot: the elements are staged as they stand there, without a copy,
 *            and nothing is freed. A serializer is not used.
 * @return as Fenix_Data_member_stage; FENIX_ERROR_INVALID_ARGUMENT (buf: NULL, or memory of another snapshot).
 */
int Fenix_Data_member_stage_inplace(int group_id, int member_id, void* buf, const Fenix_Data_subset subset_specifier);

/**
 * Gives the memory of a member in the snapshot under construction itself, to compute or read data straight into it (new).
 * Local: no communication; may wait for space as Fenix_Data_member_stage does. What is there at first is unspecified, unless
 * it has been staged or stored for this snapshot; what is not staged is not a part of the snapshot. Fenix_Data_member_stage_inplace
 * with this memory stages elements of it.
 *
 * It is valid until the commit; in the first store of a member, and at depth −1, until the store, which may move it. After
 * a store nothing may be written to it; called again, this function gives it anew: elements that were stored and are written
 * to then have to be staged and stored again. Nor may COUNT and DATATYPE be set meanwhile.
 *
 * @param[out] memory all elements of the member, packed: element i at byte i × (bytes of the datatype). Owned by the library.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT (memory; the datatype has holes or another order than memory; the member
 *         is FENIX_RESIZEABLE); FENIX_ERROR_NO_MEMORY.
 */
int Fenix_Data_member_stage_memory(int group_id, int member_id, void** memory);

/**
 * Opens a file whose bytes are the elements of a member in the snapshot under construction, without their holes. Local. What
 * has been written when Fenix_Data_member_stage_end is called, from the start to the furthest byte, is staged.
 * No other call may name the member until then.
 * @param[out] file to write, seek and read; owned by the library. Writing beyond a member that is not FENIX_RESIZEABLE
 *                  fails with ENOSPC.
 * @return FENIX_SUCCESS; FENIX_ERROR_NO_MEMORY.
 */
int Fenix_Data_member_stage_begin(int group_id, int member_id, FILE** file);

/** Closes the file of Fenix_Data_member_stage_begin. Local.
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL without a _begin; FENIX_ERROR_INVALID_ARGUMENT if not whole elements
 *          were written, or a write failed: then nothing is staged. */
int Fenix_Data_member_stage_end(int group_id, int member_id);

/**
 * Copies elements of a member into the snapshot under construction, on this rank and, where the policy keeps copies, on the
 * one that protects it: parity is made in the commit. Collective over the group; synchronising in the first store of a member after its creation or a recovery, and in each one
 * if the member is FENIX_RESIZEABLE or the depth is −1; otherwise it waits only when space can be reused no earlier than when all ranks have
 * committed an earlier snapshot. (Specification 3.4.1.) Stores until the commit accumulate; a later one replaces the elements that
 * it names. The buffer may be changed on return. What was stored is not recoverable before it is committed.
 *
 * A member that is FENIX_RESIZEABLE has in each snapshot the size given by the last element that was stored for it, 0 if only
 * empty subsets were; without a store, the size of the snapshot before. Space grows with need.
 *
 * @param member_id        a member, or FENIX_DATA_MEMBER_ALL: all, in the order of their creation
 * @param subset_specifier within the member; may differ between ranks, which Fenix_Data_member_storev states. _PRESTAGED: what
 *                         has been staged is protected, the buffer is not read.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT (no buffer, subset); FENIX_ERROR_SUBSET_END_OFFSET (beyond the
 *         member); FENIX_ERROR_SUBSET_NUM_BLOCKS if the member would be in more pieces than a record can describe (some
 *         65 000 of all members); FENIX_ERROR_NO_MEMORY and FENIX_ERROR_MISMATCH where it synchronises.
 */
int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier);

/** Fenix_Data_member_store whose subsets may differ from rank to rank. (Specification 3.4.1.) */
int Fenix_Data_member_storev(int group_id, int member_id, const Fenix_Data_subset subset_specifier);

/**
 * Fenix_Data_member_store that returns when the data is staged. The protection goes on without calls of the application, until
 * Fenix_Data_wait or Fenix_Data_test say that it is done; over MPI windows, that takes MPI_THREAD_MULTIPLE or a network that
 * needs no help. (Specification 3.4.1.) The buffer may be changed on return.
 * Requests of a group are served in their order; another store of a member waits for its pending requests. Under a policy with
 * parity all ranks of a cohort make the same requests in the same order.
 * @param[out] request for Fenix_Data_wait or _test, due before the next commit
 */
int Fenix_Data_member_istore(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                             Fenix_Request* request);

/** Fenix_Data_member_istore whose subsets may differ from rank to rank. (Specification 3.4.1.) */
int Fenix_Data_member_istorev(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                              Fenix_Request* request);

/**
 * Waits until a request is complete. Local. (Specification 3.3.)
 * @param request FENIX_REQUEST_NULL and requests that are complete return at once
 * @return FENIX_SUCCESS; FENIX_ERROR_CANCELLED if a failure cancelled it (told once, after the repair); the error that the
 *         protection met; FENIX_ERROR_DATA_WAIT if the request was never given out.
 */
int Fenix_Data_wait(Fenix_Request request);

/** Sets *flag to 1 if the request is complete, else 0. Local, does not wait. (Specification 3.3.) Codes as Fenix_Data_wait, with
 *  which flag is 1. */
int Fenix_Data_test(Fenix_Request request, int* flag);

/* ----------------------------------------------------------------------------------------------------------- committing */

/**
 * Makes what was stored since the last commit a snapshot with the next time stamp. Collective over the group; completes
 * locally, or under a policy with parity when the cohort has come to the same commit: once all ranks have returned from it,
 * the snapshot survives what the policy tolerates. Elements that were not stored since have in this snapshot the values of the
 * one before. Snapshots older than depth are recycled when this one is
 * known to be committed on every rank, not earlier. (Specification 3.4.2.)
 * @param[out] time_stamp of the new snapshot, or FENIX_TIME_STAMP_IGNORE
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_TIMESTAMP when time stamps are used up; FENIX_ERROR_INVALID_LOGIC_CALL if a
 *         request is pending or staged elements were not stored: the text names the member; also if a rank of the same cohort
 *         cannot commit. FENIX_ERROR_MISMATCH if the ranks of a cohort have stored different members, or carry on different
 *         snapshots of one that was not stored, because one of them has deleted the latest. FENIX_ERROR_TIMEOUT if the cohort does
 *         not come: nothing was committed, and the group has to be created again.
 */
int Fenix_Data_commit(int group_id, int* time_stamp);

/**
 * As Fenix_Data_commit, and returns only when all ranks have committed: the snapshot is then consistent. Collective and
 * synchronising. If a rank dies before its commit, the snapshot does not come into being, and the failure is repaired.
 * If time_stamp has been written, the commit of this rank stands also after FENIX_ERROR_TIMEOUT; what the others did is not
 * known.
 * (Specification 3.4.2.)
 */
int Fenix_Data_commit_barrier(int group_id, int* time_stamp);

/** Fenix_Data_commit and then Fenix_Data_cleanup. (Specification 3.4.2.) */
int Fenix_Data_commit_cleanup(int group_id, int* time_stamp);

/** Recycles the snapshots older than depth, as far as this rank knows that all ranks have newer ones. Collective, completes
 *  locally. Nothing at depth −1. Commits and stores do the same by themselves. (Specification 3.4.3.) @return FENIX_SUCCESS. */
int Fenix_Data_cleanup(int group_id);

/**
 * Makes the group the same on all ranks: removes snapshots that not all ranks have, snapshots older than depth, and members
 * that not all ranks have, from all snapshots; if a rank has deleted the group, it is deleted on all, and the call returns
 * FENIX_SUCCESS. Collective over the group, ranks that deleted it included; synchronising. (Specification 3.4.3.)
 * @return FENIX_SUCCESS; FENIX_ERROR_MISMATCH; FENIX_ERROR_TIMEOUT.
 */
int Fenix_Data_barrier(int group_id);

/**
 * Stores all members in the order of their creation and commits. Collective over the group. (API reference.)
 * @param subset      as for Fenix_Data_member_store, applied to each member
 * @param num_storev  number of storev_ids, or FENIX_STOREV_ALL
 * @param storev_ids  members whose subsets may differ from rank to rank; NULL if num_storev is 0 or FENIX_STOREV_ALL
 * @param time_stamp  of the new snapshot, or FENIX_TIME_STAMP_IGNORE
 * @return as the store and the commit; FENIX_ERROR_INVALID_ARGUMENT (num_storev, storev_ids).
 */
int Fenix_Data_checkpoint(int group_id, const Fenix_Data_subset subset, int num_storev, int* storev_ids,
                          int* time_stamp);

/** Fenix_Data_checkpoint with FENIX_STOREV_ALL. */
int Fenix_Data_checkpointv(int group_id, const Fenix_Data_subset subset, int* time_stamp);

/**
 * Deletes a snapshot on this rank, irretrievably. Local; looks into the memory of other ranks as
 * Fenix_Data_group_get_number_of_snapshots does. (Specification 3.8.) It is not consistent any more; later snapshots keep the
 * values that they have from it.
 * @param time_stamp of a snapshot committed here; FENIX_DATA_SNAPSHOT_LATEST; FENIX_DATA_SNAPSHOT_ALL
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_TIMESTAMP; FENIX_ERROR_NODATA_FOUND if there is none at all.
 */
int Fenix_Data_snapshot_delete(int group_id, int time_stamp);

/* ------------------------------------------------------------------------------------------------------------ restoring */

/**
 * Copies a member's data from a snapshot into a buffer: on each rank, the data that this rank of the communicator stored.
 * For each element the newest value stored up to that snapshot. Collective over the group, synchronising; all ranks get data
 * of the same snapshot or all get an error; but under FENIX_DATA_POLICY_LOCAL ranks that have lost theirs get
 * FENIX_ERROR_NODATA_FOUND, and the others data. (Specification 3.5.)
 * @param[in]  group_id, member_id, time_stamp same on all ranks; time_stamp of a consistent snapshot, or
 *                           FENIX_DATA_SNAPSHOT_LATEST, or FENIX_DATA_SNAPSHOT_ALL: the latest, and of a member that is
 *                           FENIX_RESIZEABLE also older elements beyond its size
 * @param[out] target_buffer max_count elements of the datatype; NULL: this rank takes part without wanting data;
 *                           FENIX_DATA_RESTORE_INPLACE: the source buffer. Elements that are not found, and the holes of the
 *                           datatype, stay as they are, and so does everything on error.
 * @param[in]  max_count     elements that fit: at least the last one found + 1; or FENIX_DATA_RESTORE_FULL
 * @param[out] found_data    or FENIX_DATA_SUBSET_IGNORE: the elements found; owned by the caller, who deletes it. NULL
 *                           target_buffer: what would have been found.
 * @return FENIX_SUCCESS; FENIX_WARNING_PARTIAL_RESTORE if elements of this rank's member are in no snapshot;
 *         FENIX_ERROR_INVALID_ARGUMENT; FENIX_ERROR_BUFFER_TOO_SMALL; FENIX_ERROR_INVALID_TIMESTAMP if there is no such
 *         snapshot; FENIX_ERROR_NODATA_FOUND if there is none at all, the member is not in it, or its data is lost or
 *         damaged; FENIX_ERROR_MISMATCH.
 */
int Fenix_Data_member_restore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset* found_data);

/**
 * As Fenix_Data_member_restore, from this rank's own copy: local, no communication. A time stamp is valid if this rank has
 * committed it; _LATEST is this rank's latest commit. Whether other ranks have it is not asked. (API reference.)
 */
int Fenix_Data_member_lrestore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                               Fenix_Data_subset* found_data);

/**
 * As Fenix_Data_member_restore, with the data that source_rank stored. Collective over the group. (Specification 3.5.)
 * After the communicator has shrunk, source_rank is a number in the communicator that stored, and the data of dead
 * ranks can be had as far as the policy tolerates, until the first commit on the new communicator is on all ranks.
 * @param source_rank may differ between ranks
 * @return as Fenix_Data_member_restore; FENIX_ERROR_INVALID_ARGUMENT if source_rank is not in the communicator that stored.
 */
int Fenix_Data_member_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                                        Fenix_Data_subset* found_data, int source_rank);

/** Fenix_Data_member_lrestore into the source buffer, as much as is there. Local. The serializer, if any, is used. */
int Fenix_Data_member_load(int group_id, int member_id, int time_stamp, Fenix_Data_subset* found_data);

/** Fenix_Data_member_lrestore under the current Fenix's name. Local. The serializer, if any, is used. */
int Fenix_Data_member_load_to(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset* found_data);

/**
 * Opens a file whose bytes are a member's elements in a snapshot of this rank, without their holes. Local. No other call may
 * name the member until Fenix_Data_member_load_end.
 * @param[out] file to read and seek; owned by the library
 * @return FENIX_SUCCESS; FENIX_WARNING_PARTIAL_RESTORE: bytes of elements not in found_data are undefined; codes of
 *         Fenix_Data_member_lrestore.
 */
int Fenix_Data_member_load_begin(int group_id, int member_id, FILE** file, int time_stamp,
                                 Fenix_Data_subset* found_data);

/** Closes the file of Fenix_Data_member_load_begin. Local.
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL without a _begin. */
int Fenix_Data_member_load_end(int group_id, int member_id);

/**
 * Verifies all copies of a member in all consistent snapshots, and mends what is damaged from the copies that are good; the
 * records of the group's commits as well.
 * Collective over the group, synchronising. Deaths need no call of it: Fenix_Data_group_create rebuilds what they took.
 * @return FENIX_SUCCESS: all copies are good now; FENIX_ERROR_NODATA_FOUND if something is damaged in all copies.
 */
int Fenix_Data_member_repair(int group_id, int member_id);

/**
 * Fenix_Data_member_repair for all members, telling what it found (new). Collective over the group, synchronising. Versions
 * are counted over all ranks: a member in a snapshot counts once for the data of each rank, and once for each part of its
 * redundancy. Redundancy is not looked at if data is lost, since it may be all that is left of it. Each record of a commit, and
 * each copy of it on another rank, counts as well: they are made anew from what the rank that committed knows.
 * @param[out] num_mended or NULL: versions and records that were damaged, and are good now; same on all ranks
 * @param[out] num_lost   or NULL: versions that are damaged beyond repair; same on all ranks
 * @return FENIX_SUCCESS; FENIX_ERROR_NODATA_FOUND if num_lost is not 0, with both numbers written;
 *         FENIX_ERROR_MISMATCH.
 */
int Fenix_Data_verify(int group_id, int* num_mended, int* num_lost);

#ifdef __cplusplus
}
#endif

#endif
