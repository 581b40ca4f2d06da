/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Data storage: groups, members, subsets, stores, commits, restores. The conventions of <fenix.h> hold.
 *
 * The following codes are not listed with each function:
 *  - FENIX_ERROR_INVALID_GROUPID: the group does not exist on this rank.
 *  - FENIX_ERROR_INVALID_MEMBERID: the member is not in the group.
 *  - FENIX_ERROR_INVALID_ARGUMENT: a pointer is NULL that must not be NULL.
 *  - FENIX_ERROR_MEMBER_STAGING, FENIX_ERROR_MEMBER_LOADING: the application has a file open on the member.
 *  - FENIX_ERROR_MISMATCH: arguments differ that must be the same on all ranks, in a function that compares them.
 */
#ifndef FENIX_DATA_H
#define FENIX_DATA_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include "codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Set of elements of a member: one of the constants below, or made by Fenix_Data_subset_create or
 *  Fenix_Data_subset_createv, or written to found_data. May be copied; a subset that was created is deleted once. */
typedef struct {
  const void* impl; /**< internal */
} Fenix_Data_subset;

/** All elements of the member. Not valid for a member that is FENIX_RESIZEABLE, unless it has a serializer: then they are
 *  what the serializer writes, and in a store also what is staged. */
extern const Fenix_Data_subset FENIX_DATA_SUBSET_FULL;
/** No element. */
extern const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY;
/** The elements of the member that have been staged, and not stored since. For stores only. */
extern const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED;
/** Value of a deleted subset. Not valid as an argument of any function. */
extern const Fenix_Data_subset FENIX_SUBSET_NULL;
/** As found_data: the caller does not need to know which elements were found. */
#ifdef __cplusplus
#define FENIX_DATA_SUBSET_IGNORE (static_cast<Fenix_Data_subset*>(nullptr))
#else
#define FENIX_DATA_SUBSET_IGNORE ((Fenix_Data_subset*)0)
#endif

/** Handle of an asynchronous store. May be copied; nothing has to be freed. */
typedef struct {
  uint64_t impl; /**< internal */
} Fenix_Request;

/** No request: Fenix_Data_wait and Fenix_Data_test treat it as complete. */
extern const Fenix_Request FENIX_REQUEST_NULL;

/**
 * Writes elements of a member to a file or reads them from it, in the place of a plain copy. The application provides
 * this function; stores and loads call it on the calling thread. It must not call Fenix, close the file or leave by
 * longjmp. If it is C++ and throws anything, the call that runs it returns FENIX_ERROR_INVALID_ARGUMENT with the text of
 * the exception. Where other ranks wait for this one in that call, they get the same code: in the store of a member that
 * is FENIX_RESIZEABLE, and in a collective restore. The file has a fixed layout: element i is at byte i × (bytes of the
 * datatype). When the function is called, the file is positioned at element offset.
 * @param[in] file      file to be written or read sequentially; owned by the library, not to be closed
 * @param[in] direction FENIX_SERIALIZE: from buffer to file; FENIX_DESERIALIZE: from file to buffer
 * @param[in] buffer    source buffer of the member, or target of a restore: its start, not the address of element
 *                      offset
 * @param[in] offset    first element
 * @param[in] count     number of elements; 0 for a store of FENIX_DATA_SUBSET_FULL of a member that is
 *                      FENIX_RESIZEABLE: the function then writes as many elements as it wants
 * @param[in] ctx       context that was given together with the function
 */
typedef void (*Fenix_Serialize_file_fn)(FILE* file, int direction, void* buffer, int offset, int count, void* ctx);

/* ----------------------------------------------------------------------------------------------------------- groups */

/**
 * Creates a data group, or re-creates an existing one after a failure. Collective over comm, synchronising.
 * (Specification 3.2.1; API reference.) All arguments except flag are the same on all ranks. Call it after each failure
 * on all ranks.
 *
 * If some ranks know the group, because they survived, the arguments other than comm are ignored. Recovered ranks learn
 * everything from their peers: parameters, members, snapshots. On return all ranks have the same snapshots: those that
 * every rank had committed, the dead ranks included, as far as their data can be rebuilt. Later commits of single ranks
 * are dropped. Requests are dropped as well, and so is data that was staged or stored and not committed. The data that
 * the dead ranks held is rebuilt, so that the group tolerates the next failure.
 *
 * If comm has another size or order than before (it has shrunk), the snapshots stay as they are and are not protected
 * anew. Fenix_Data_member_restore_from_rank reads them, by the old rank numbers, until the first commit on the new
 * communicator has completed on all ranks. Members keep the counts that they have on the survivors. If there is a
 * replacement among the ranks, its counts are not known, and the members are dropped: create them again.
 *
 * FENIX_DATA_GROUP_WORLD_ID need not be created. It exists on every rank from Fenix_Init on. Its first collective call
 * forms it. If it has been formed before a failure, the repair takes it up again, before control resumes.
 *
 * @param[in]  group_id         any number, also a negative one; unique among all active ranks, not only those of comm
 * @param[in]  comm             a resilient communicator, not from before the latest repair. It is duplicated; the
 *                              caller keeps its own.
 * @param[in]  start_time_stamp time stamp of the first commit, in [0, FENIX_TIME_STAMP_MAX)
 * @param[in]  depth            snapshots kept in addition to the newest, in [0, 4096); or −1: all are kept until they
 *                              are deleted. With −1, every store and commit synchronises, because the space for
 *                              snapshots may have to grow.
 * @param[in]  policy_name      FENIX_DATA_POLICY_IN_MEMORY_RAID, _PEER_RANK_SEPARATION, _REED_SOLOMON or _LOCAL
 * @param[in]  policy_value     values of the policy, see Fenix_Data_group_set_redundancy_policy; NULL for its default
 * @param[out] flag             may be NULL. FENIX_ERROR_NODATA_FOUND if snapshots existed and were lost. Otherwise
 *                              FENIX_WARNING_SHARED_FATE if the death of one node or failure domain would lose
 *                              snapshots. Otherwise FENIX_SUCCESS. The warning needs several nodes, or failure domains
 *                              with different names, of which one has more ranks that protect each other than the
 *                              policy covers.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_TIMESTART, _DEPTH, _POLICY_NAME, _POLICY_VALUE;
 *         FENIX_ERROR_INVALID_ARGUMENT (comm); FENIX_ERROR_MISMATCH; FENIX_ERROR_GROUP_CREATE (the path that FENIX_PATH
 *         names does not exist, or cannot reach all ranks); FENIX_ERROR_NO_MEMORY; FENIX_ERROR_TIMEOUT (a rank has not
 *         arrived). After an error an existing group has to be created again before it can be used.
 */
int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name,
                            void* policy_value, int* flag);

/**
 * Tells whether a group exists on this rank. Local.
 * @param[in] group_id any number
 * @return 1 if it does, otherwise 0; FENIX_ERROR_UNINITIALIZED before Fenix_Init and after Fenix_Finalize.
 */
int Fenix_Data_group_created(int group_id);

/**
 * Deletes the group on this rank, with all members and snapshots. Local. Other ranks lose the copies that this rank
 * keeps for them. (Specification 3.2.1.) The id can be used again when all ranks have deleted the group, or after
 * Fenix_Data_barrier. Until then the group keeps a communicator and some memory on this rank: they go back in
 * Fenix_Data_barrier, or when the id is created again. If some rank has more than eight such groups,
 * Fenix_Data_group_create gives back those that all of their ranks have deleted, if its communicator has all these ranks
 * (not under MPI_THREAD_MULTIPLE). Pending requests of this rank end. Under a policy with parity, those of other ranks
 * that need this one end as well, and a commit there returns FENIX_ERROR_INVALID_LOGIC_CALL.
 * A later Fenix_Data_barrier on such an id returns FENIX_ERROR_INVALID_GROUPID.
 * @param[in] group_id id of the group
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID, also for FENIX_DATA_GROUP_WORLD_ID.
 */
int Fenix_Data_group_delete(int group_id);

/**
 * Gets the policy of a group. Local. (API reference; specification 3.2.3.)
 * @param[in]  group_id     id of the group
 * @param[out] policy_name  FENIX_DATA_POLICY_…
 * @param[out] policy_value room for int[3]: the values as in Fenix_Data_group_set_redundancy_policy, with defaults
 *                          filled in. Up to three are written, none for FENIX_DATA_POLICY_LOCAL.
 * @param[out] flag         may be NULL: FENIX_SUCCESS, which is 0, as in the current Fenix: every group has a policy
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_group_get_redundancy_policy(int group_id, int* policy_name, void* policy_value, int* flag);

/**
 * Changes the policy of a group. Collective over the group, synchronising; before anything is staged, stored or
 * committed. Data that is gone with its member, or by a repair, does not count. (Specification 3.2.3.) Same arguments on all ranks.
 *
 *   FENIX_DATA_POLICY_IN_MEMORY_RAID        int[2] {1, separation}: buddies. Rank N and rank N + separation keep a copy
 *                                           of each other's data. For an odd number of ranks, the first, middle and
 *                                           last rank form a chain of three. Default: FENIX_DATA_SEPARATION_AUTO.
 *                                           int[3] {5, separation, size}: XOR parity in cohorts of size ranks, 2 to
 *                                           128, or of all ranks if they are fewer. One rank of each cohort may be
 *                                           lost.
 *   FENIX_DATA_POLICY_PEER_RANK_SEPARATION  int {separation}: rank (N + separation) mod size keeps a copy of the data
 *                                           of rank N. Default: FENIX_DATA_SEPARATION_AUTO.
 *   FENIX_DATA_POLICY_REED_SOLOMON          int[3] {separation, size, losses} (new): Reed-Solomon codes in cohorts of
 *                                           size ranks. Each cohort may lose any `losses` ranks, 1 to 4. Default:
 *                                           {AUTO, 4, 2}.
 *   FENIX_DATA_POLICY_LOCAL                 no values: no redundancy. Survivors keep their snapshots. A rank that
 *                                           replaces a dead one has no members before it creates them: its restores
 *                                           return FENIX_ERROR_INVALID_MEMBERID. Then it has the dead rank's data, if
 *                                           it could take over its memory: on the same node, where the ranks reach
 *                                           each other by map. Otherwise its restores return
 *                                           FENIX_ERROR_NODATA_FOUND. Restores of the other ranks work.
 *
 * separation is in [1, size of the communicator), or FENIX_DATA_SEPARATION_AUTO (new): the library then chooses, when
 * the group is created, which ranks protect each other. These ranks share no node, as far as there are enough nodes.
 * They share no failure domain either, where FENIX_FAILURE_DOMAIN names the domains and there are enough of them. If
 * the ranks are in the order of their nodes, the result is a separation of half of the ranks for copies, and of the
 * number of cohorts for codes. A communicator of one rank has no other rank to protect it: the group works and
 * tolerates no failure.
 *
 * A cohort has the ranks N, N + separation, N + 2 × separation, …. Its size is in [losses + 1, size of the
 * communicator], and at most 128. Cohorts fill blocks of separation × size ranks. The remaining ranks form cohorts of
 * the same size, with the largest separation that their number allows. If fewer than size ranks remain, each of them
 * joins one of the last cohorts, which are then larger. If there are fewer than size ranks in all, they form one
 * cohort. A default that does not fit the communicator is treated in the same way.
 *
 * With parity a store is local. The commit waits until the cohort has come to the same commit, and encodes; this holds
 * for Fenix_Data_commit too. Therefore a member that is stored on one rank of a cohort has to be stored on all of them,
 * if only with FENIX_DATA_SUBSET_EMPTY. Otherwise the commit of the cohort returns FENIX_ERROR_MISMATCH. If the commit
 * of one rank is refused, the commits of the other ranks in its cohort return FENIX_ERROR_INVALID_LOGIC_CALL. The
 * stored data remains, and can be committed when the cause has been removed.
 *
 * @param[in]  group_id     id of the group
 * @param[in]  policy_name  FENIX_DATA_POLICY_…
 * @param[in]  policy_value see above; NULL for the default
 * @param[out] flag         may be NULL: 1 if the policy was set, otherwise 0; same on all ranks
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_POLICY_NAME, _POLICY_VALUE; FENIX_ERROR_INVALID_LOGIC_CALL if data has
 *         been staged, stored or committed, and the policy is another one; FENIX_ERROR_NO_MEMORY; FENIX_ERROR_MISMATCH. After an error the old policy
 *         holds.
 */
int Fenix_Data_group_set_redundancy_policy(int group_id, int policy_name, void* policy_value, int* flag);

/**
 * Gets the ranks that protect each other's data together with this rank: its cohort with parity, itself and the ranks
 * that it exchanges copies with otherwise, itself alone without redundancy. Local.
 * @param[in]  group_id id of the group
 * @param[out] cohort   group of these processes, in the order of the group's communicator; owned by the caller, who frees
 *                      it with MPI_Group_free
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_group_get_cohort(int group_id, MPI_Group* cohort);

/**
 * Sets whether stored data is hashed (new). Collective over the group, synchronising; before anything is staged, stored
 * or committed. Without hashes stores and commits are faster, but a change of memory that no program made is not
 * noticed. Such data is restored as it is. Where data and its parity differ, Fenix_Data_verify then assumes that the
 * data is right. Recovered ranks learn the setting from their peers.
 * @param[in] group_id id of the group; same on all ranks
 * @param[in] hashing  0: no hashes; any other value: hashes, as in every new group. Same on all ranks.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if data has been staged, stored or committed, and
 *         the setting is another one; FENIX_ERROR_MISMATCH. After an error the old setting holds.
 */
int Fenix_Data_group_set_hashing(int group_id, int hashing);

/**
 * Gets whether stored data is hashed (new). Local.
 * @param[in]  group_id id of the group
 * @param[out] hashing  1 or 0
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_group_get_hashing(int group_id, int* hashing);

/**
 * Sets whether commits are in place (new). Collective over the group, synchronising; before anything is staged, stored or
 * committed. Each rank then has one copy of its own data instead of two, because the buffers of the application are the
 * second one while a commit is under way: docs/how-to-data.md has the figures. Recovered ranks learn the setting from their
 * peers. In such a group:
 * - A buffer must stay as it is from its store until the commit returns. Staged data, serializers, files and asynchronous
 *   stores give the buffer back earlier, and take memory for a copy of what they store until the commit.
 * - Fenix_Data_commit does the same as Fenix_Data_commit_barrier.
 * - Callbacks that run before a repair must not change buffers that have been stored and not yet committed. If a commit was
 *   cut short by a death, the repair finishes or undoes it, before control resumes.
 * - If a commit returns an error and no repair has been made, after a time-out for example, stored data is copied before the
 *   return, so the buffers can be used. Without memory for that, a warning is logged, and they must stay as they are until the
 *   group has been created again.
 * @param[in] group_id id of the group, whose depth must be 0; same on all ranks
 * @param[in] in_place 0: two copies, as in every new group unless FENIX_IN_PLACE is 1 in the environment; any other value:
 *                     one. Same on all ranks.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_DEPTH if the depth of the group is not 0; FENIX_ERROR_INVALID_LOGIC_CALL if data
 *         has been staged, stored or committed, and the setting is another one; FENIX_ERROR_NO_MEMORY; FENIX_ERROR_MISMATCH. After an error the old setting
 *         holds.
 */
int Fenix_Data_group_set_in_place(int group_id, int in_place);

/**
 * Gets whether commits are in place (new). Local.
 * @param[in]  group_id id of the group
 * @param[out] in_place 1 or 0
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_group_get_in_place(int group_id, int* in_place);

/**
 * Gets the number of members of a group. Local. (Specification 3.7.1.)
 * @param[in]  group_id          id of the group
 * @param[out] number_of_members their number on this rank
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_group_get_number_of_members(int group_id, int* number_of_members);

/**
 * Gets the id of a member. Local. (Specification 3.7.1.)
 * @param[in]  group_id  id of the group
 * @param[out] member_id id of the member
 * @param[in]  position  in [0, number of members), in the order of creation; 0 is the member created first
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_POSITION.
 */
int Fenix_Data_group_get_member_at_position(int group_id, int* member_id, int position);

/**
 * Gets the number of snapshots of this rank: the newest depth + 1 of its commits that it has not deleted. Local.
 * (API reference; specification 3.7.2, where the function is collective.) The result does not depend on what other
 * ranks are doing. A commit counts at once, though it may not be consistent yet: restores of all ranks take a snapshot
 * that every rank has committed. On a shrunk communicator the old snapshots are counted, until this rank commits.
 * @param[in]  group_id            id of the group
 * @param[out] number_of_snapshots their number
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_group_get_number_of_snapshots(int group_id, int* number_of_snapshots);

/**
 * Gets the time stamp of a snapshot of this rank. Local, as Fenix_Data_group_get_number_of_snapshots. (API reference;
 * specification 3.7.2.)
 * @param[in]  group_id   id of the group
 * @param[in]  position   in [0, number of snapshots); 0 is the newest
 * @param[out] time_stamp its time stamp
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_POSITION.
 */
int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int* time_stamp);

/* ---------------------------------------------------------------------------------------------------------- members */

/**
 * Adds a member to a group. Collective over the group, synchronising; at any time. (Specification 3.2.2.) It allocates
 * the memory for the snapshots of the member: on each rank (depth + 2) × (bytes of its own data + bytes of redundancy
 * for others). For members that are FENIX_RESIZEABLE, and at depth −1, stores allocate memory as needed.
 * Fenix_Data_member_footprint tells how much memory it is.
 *
 * Members that exist when a group is taken up again with replacements are an exception: for them the call is local. A
 * recovered rank knows these members already. The call sets the buffer there, once, and count and datatype have to be
 * those of the member. On survivors it returns FENIX_ERROR_MEMBER_EXISTS. Programs may thus call it on recovered ranks
 * only, or on all ranks.
 *
 * @param[in] group_id  id of the group; same on all ranks
 * @param[in] member_id any number except FENIX_DATA_MEMBER_ALL, not used in the group yet; same on all ranks
 * @param[in] buffer    source buffer: count elements, read by each store. Owned by the caller, and needed until another
 *                      one is set. May be NULL if Fenix_Data_member_attr_set sets it before the first store, or if no
 *                      store reads it.
 * @param[in] count     number of elements, ≥ 0; may differ between ranks. FENIX_RESIZEABLE on all ranks: each snapshot
 *                      has its own size, see Fenix_Data_member_store.
 * @param[in] datatype  type of an element; committed. It is duplicated; the caller keeps its own. Only the bytes of its
 *                      data are stored, not its holes. Same on all ranks. Recovered ranks get a type that is built
 *                      alike.
 * @return FENIX_SUCCESS; FENIX_ERROR_MEMBER_EXISTS; FENIX_ERROR_INVALID_MEMBERID; FENIX_ERROR_INVALID_ARGUMENT (count,
 *         datatype); FENIX_ERROR_MISMATCH; FENIX_ERROR_NO_MEMORY, also if the group has 13,106 members already;
 *         FENIX_ERROR_INVALID_LOGIC_CALL if count or datatype differs, on a recovered rank that knows the member. A deep
 *         group has at most some 800 members on networks that make all memory real (docs/operations.md).
 */
int Fenix_Data_member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype);

/**
 * Adds a member with a serializer to a group, otherwise as Fenix_Data_member_create. Collective over the group,
 * synchronising. Recovered ranks have to set the serializer again, with this function or Fenix_Data_member_fdefine.
 * @param[in] group_id, member_id, buffer, count, datatype as for Fenix_Data_member_create
 * @param[in] serializer                                   function that writes and reads the elements; NULL: plain
 *                                                         copies
 * @param[in] ctx                                          context passed to the serializer; may be NULL. Owned by the
 *                                                         caller, and needed as long as the member has the serializer.
 * @return as Fenix_Data_member_create.
 */
int Fenix_Data_member_fcreate(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* ctx);

/**
 * Creates the member if the group does not have it. Otherwise sets its buffer, and its count and datatype if they
 * differ, as Fenix_Data_member_attr_set does, and removes its serializer. Collective over the group, synchronising;
 * local for members that exist when the group is taken up again with replacements, so that some ranks may call it
 * alone. Where it is collective, memory suffices, and nothing of the member has been staged, all ranks know its count
 * and datatype afterwards, as after a store.
 * @param[in] group_id, member_id, buffer, count, datatype as for Fenix_Data_member_create
 * @return as Fenix_Data_member_create, without FENIX_ERROR_MEMBER_EXISTS; FENIX_ERROR_MISMATCH if some ranks have the
 *         member and others have deleted it; FENIX_ERROR_INVALID_LOGIC_CALL if count or datatype differs and the
 *         member has been stored.
 */
int Fenix_Data_member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype);

/**
 * Creates or changes a member as Fenix_Data_member_define does, and sets its serializer. Collective over the group,
 * synchronising.
 * @param[in] group_id, member_id, buffer, count, datatype as for Fenix_Data_member_create
 * @param[in] serializer                                   as for Fenix_Data_member_fcreate; NULL removes it
 * @param[in] ctx                                          as for Fenix_Data_member_fcreate
 * @return as Fenix_Data_member_define.
 */
int Fenix_Data_member_fdefine(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* ctx);

/**
 * Creates a member as Fenix_Data_member_define does, with a buffer whose memory the library has, as MPI_Win_allocate
 * gives memory for a window (new). If the group has the member already, gets its buffer. Collective over the group,
 * synchronising; local for members that exist when the group is taken up again with replacements. A program calls it
 * at its start and after each Fenix_Data_group_create, on all ranks, and uses the address that it gets.
 *
 * The buffer is the source buffer of the member. It may be used as any memory, also in calls of MPI, until the member
 * or the group is deleted, or until Fenix_Finalize. Its contents are zero at first. On survivors of a failure, address
 * and contents stay as they are. If the call asks for more bytes than before, because nothing has been stored yet or the
 * communicator has shrunk, it copies the contents to a new address, and the address before becomes invalid. On recovered
 * ranks the contents are not defined: restore the member. Where a rank takes the place of one that died on the same node,
 * it may get the same memory again, and need not touch it anew.
 *
 * In a group that commits in place with parity, the ranks of a cohort read each other's data in these buffers. This saves
 * a copy in each commit of a member that all of them have stored as a whole, with a datatype without holes.
 *
 * @param[in]  group_id  id of the group; same on all ranks
 * @param[in]  member_id as for Fenix_Data_member_define
 * @param[in]  count     number of elements, ≥ 0, and not 0 on all ranks (FENIX_RESIZEABLE); may differ between ranks
 * @param[in]  datatype  as for Fenix_Data_member_define. Elements must not begin before the address of the buffer.
 * @param[out] baseptr   address of a pointer, which gets the address of the buffer, aligned to a page; not NULL, also for
 *                       count 0. Owned by the library. Fenix_Data_member_footprint does not count its bytes.
 * @return as Fenix_Data_member_define; FENIX_ERROR_MEMBER_EXISTS if the member has a buffer of the application;
 *         FENIX_ERROR_INVALID_ARGUMENT (count, datatype, baseptr); FENIX_ERROR_MISMATCH also if other ranks define the
 *         member at the same time.
 */
int Fenix_Data_member_allocate(int group_id, int member_id, int count, MPI_Datatype datatype, void* baseptr);

/**
 * Tells whether a member exists on this rank. Local.
 * @param[in] group_id  any number
 * @param[in] member_id any number
 * @return 1 if it does, otherwise 0; FENIX_ERROR_UNINITIALIZED before Fenix_Init and after Fenix_Finalize.
 */
int Fenix_Data_member_created(int group_id, int member_id);

/**
 * Deletes the member on this rank, with its data in all snapshots. Local; at any time. On the other ranks it is removed
 * by Fenix_Data_barrier or the next recovery. If this rank dies before that, the member may be there again.
 * (Specification 3.2.2.) Waits for pending requests on it.
 * @param[in] group_id  id of the group
 * @param[in] member_id id of the member
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_member_delete(int group_id, int member_id);

/**
 * Gets the size of the shared memory that a member uses on this rank (new). Local; known from the creation on. It
 * includes all slots, also the slot of the snapshot under construction, and in each slot the redundancy that this rank
 * keeps for others. The size changes with the redundancy policy, with COUNT and DATATYPE in the first store or in
 * Fenix_Data_member_define, and at depth −1. It also changes with the size of a member that is FENIX_RESIZEABLE, which
 * uses one page before its first store.
 * @param[in]  group_id  id of the group
 * @param[in]  member_id id of the member
 * @param[out] bytes     size in bytes
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_member_footprint(int group_id, int member_id, MPI_Count* bytes);

/**
 * Gets an attribute of a member. Collective over the group, synchronising. (Specification 3.7.3.)
 *
 *   FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER    void**: source buffer of this rank. For another source_rank, flag is 0.
 *   FENIX_DATA_MEMBER_ATTRIBUTE_COUNT     int*: elements on source_rank. If the member is FENIX_RESIZEABLE, its size in
 *                                         the latest snapshot, or 0 without a snapshot.
 *   FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE  MPI_Datatype*: a duplicate, which the caller frees with MPI_Type_free.
 *   FENIX_DATA_MEMBER_ATTRIBUTE_SIZE      size_t*: bytes of these elements in a buffer: COUNT × extent of the datatype.
 *
 * @param[in]  group_id        id of the group; same on all ranks
 * @param[in]  member_id       id of the member; same on all ranks
 * @param[in]  attribute_name  FENIX_DATA_MEMBER_ATTRIBUTE_…; same on all ranks
 * @param[out] attribute_value pointer of the type named above
 * @param[out] flag            may be NULL: 1 if there is a value, otherwise 0
 * @param[in]  source_rank     rank in the group's communicator; may differ between ranks
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ATTRIBUTE_NAME; FENIX_ERROR_INVALID_ARGUMENT (source_rank);
 *         FENIX_ERROR_INVALID_ATTRIBUTE_VALUE if the count does not fit an int; FENIX_ERROR_MISMATCH.
 */
int Fenix_Data_member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                               int source_rank);

/**
 * Sets an attribute of a member. Local. (Specification 3.7.3.)
 *
 *   FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER    the new source buffer itself, not its address; allowed at any time. NULL: none.
 *   FENIX_DATA_MEMBER_ATTRIBUTE_COUNT     int*: elements; only before the first store of the member. FENIX_RESIZEABLE on
 *                                         all ranks makes the member resizeable, other counts make it fixed. Until the
 *                                         next store, a rank that has set 0 may stage as with either. If its member then
 *                                         has no elements, and some were staged, they are dropped, and the store returns
 *                                         FENIX_ERROR_SUBSET_END_OFFSET on all ranks. Until the next store, or the next
 *                                         Fenix_Data_member_define of all ranks, the others do not know the count: a rank
 *                                         that replaces a dead one has to set it again. After a repair, a member that is
 *                                         in no snapshot may count as not stored.
 *   FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE  MPI_Datatype*; only before the first store of the member. Same on all ranks.
 *
 * Recovered ranks must set the buffer before they store. The buffer stays owned by the caller, as with
 * Fenix_Data_member_create. COUNT and DATATYPE take effect in the next store; that store reports an error if memory is
 * insufficient or ranks differ. SIZE is read-only.
 * @param[in]  group_id        id of the group
 * @param[in]  member_id       id of the member
 * @param[in]  attribute_name  FENIX_DATA_MEMBER_ATTRIBUTE_…
 * @param[in]  attribute_value value as described above
 * @param[out] flag            may be NULL: 1 if the attribute was set, otherwise 0
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ATTRIBUTE_NAME; FENIX_ERROR_INVALID_ATTRIBUTE_VALUE;
 *         FENIX_ERROR_INVALID_LOGIC_CALL if the member has been stored, so that the attribute is fixed.
 */
int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag);

/* ---------------------------------------------------------------------------------------------------------- subsets */

/* Subsets are values of the process and belong to no group. These functions may be called at any time, also before
   Fenix_Init and after Fenix_Finalize. */

/**
 * Creates a subset of num_blocks blocks, each from its first to its last element: {start_offset, end_offset},
 * {start_offset + stride, end_offset + stride}, … Local; may be called at any time. (API reference.) Blocks may
 * overlap.
 * @param[in]  num_blocks       number of blocks, ≥ 1
 * @param[in]  start_offset     first element of the first block, ≥ 0
 * @param[in]  end_offset       last element of the first block, ≥ start_offset
 * @param[in]  stride           elements from the start of one block to the next, ≥ 1; ignored if num_blocks is 1
 * @param[out] subset_specifier the new subset; owned by the caller, which deletes it with Fenix_Data_subset_delete
 * @return FENIX_SUCCESS; FENIX_ERROR_SUBSET_NUM_BLOCKS, _START_OFFSET, _END_OFFSET, _STRIDE.
 */
int Fenix_Data_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                             Fenix_Data_subset* subset_specifier);

/**
 * Creates a subset of num_blocks blocks, each with its own first and last element. Local; may be called at any time.
 * (API reference; specification 3.6.) Blocks may overlap and may be in any order.
 * @param[in]  num_blocks          number of blocks, ≥ 1
 * @param[in]  array_start_offsets num_blocks numbers: first element of each block, ≥ 0. Not kept.
 * @param[in]  array_end_offsets   num_blocks numbers: last element of each block, ≥ its first element. Not kept.
 * @param[out] subset_specifier    the new subset; owned by the caller, which deletes it with Fenix_Data_subset_delete
 * @return FENIX_SUCCESS; FENIX_ERROR_SUBSET_NUM_BLOCKS, _START_OFFSET, _END_OFFSET.
 */
int Fenix_Data_subset_createv(int num_blocks, int* array_start_offsets, int* array_end_offsets,
                              Fenix_Data_subset* subset_specifier);

/**
 * Deletes a subset and sets it to FENIX_SUBSET_NULL. Local; may be called at any time. (Specification 3.6.)
 * @param[in,out] subset_specifier a subset that was created, or given as found_data
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if it was not created, or has been deleted.
 */
int Fenix_Data_subset_delete(Fenix_Data_subset* subset_specifier);

/**
 * Gets the number of blocks of a subset in its shortest form: ascending, disjoint, not adjacent (new). Local; may be
 * called at any time.
 * @param[in]  subset           any subset except FENIX_DATA_SUBSET_PRESTAGED and FENIX_SUBSET_NULL
 * @param[out] number_of_blocks their number: 1 for FENIX_DATA_SUBSET_FULL, 0 for FENIX_DATA_SUBSET_EMPTY
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT.
 */
int Fenix_Data_subset_get_number_of_blocks(Fenix_Data_subset subset, MPI_Count* number_of_blocks);

/**
 * Gets the first and the last element of a block of a subset (new). Local; may be called at any time.
 * @param[in]  subset       any subset except FENIX_DATA_SUBSET_PRESTAGED and FENIX_SUBSET_NULL
 * @param[in]  position     in [0, number of blocks)
 * @param[out] start_offset first element
 * @param[out] end_offset   last element; INT64_MAX for FENIX_DATA_SUBSET_FULL
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_POSITION; FENIX_ERROR_INVALID_ARGUMENT.
 */
int Fenix_Data_subset_get_block(Fenix_Data_subset subset, MPI_Count position, MPI_Count* start_offset,
                                MPI_Count* end_offset);

/* ---------------------------------------------------------------------------------------------------------- storing */

/**
 * Copies elements of a member into the snapshot under construction on this rank, and not yet to others. (API
 * reference.) Local. It blocks only if no slot is free, until all ranks have committed a snapshot that allows one to be
 * reused. The buffer may be changed on return. A store of FENIX_DATA_SUBSET_PRESTAGED has to follow; a commit before
 * that store is an error. Elements may be staged repeatedly; the newest value counts.
 * @param[in] group_id         id of the group
 * @param[in] member_id        id of the member
 * @param[in] subset_specifier any subset except FENIX_DATA_SUBSET_PRESTAGED; within the member. A subset without an end
 *                             (INT64_MAX as its last element) ends with the member.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT (no buffer, subset); FENIX_ERROR_SUBSET_END_OFFSET (beyond the
 *         member); FENIX_ERROR_NO_MEMORY.
 */
int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier);

/**
 * Stages elements as Fenix_Data_member_stage does, from another buffer, which the library takes over. Local. It does
 * not use a serializer.
 * @param[in] group_id         id of the group
 * @param[in] member_id        id of the member
 * @param[in] buf              elements from 0 up to the last of the subset, in memory from malloc; the library frees it
 *                             if the call succeeds. Or the memory that Fenix_Data_member_stage_memory gave for this
 *                             snapshot: its elements are staged without a copy, and nothing is freed.
 * @param[in] subset_specifier any subset except FENIX_DATA_SUBSET_PRESTAGED; within the member
 * @return as Fenix_Data_member_stage; FENIX_ERROR_INVALID_ARGUMENT (buf: NULL, or memory of the library that
 *         Fenix_Data_member_stage_memory has not given for this member and snapshot).
 */
int Fenix_Data_member_stage_inplace(int group_id, int member_id, void* buf, const Fenix_Data_subset subset_specifier);

/**
 * Gives access to the memory of a member in the snapshot under construction, so that the application computes or reads
 * data directly into it (new). Local; may wait for space as Fenix_Data_member_stage does. The initial content is
 * unspecified, except for elements that have been staged or stored for this snapshot. Elements that are not staged are
 * not a part of the snapshot; Fenix_Data_member_stage_inplace with this memory stages them.
 *
 * The memory is valid until the commit. Before the first store of a member, and at depth −1, it is valid only until the
 * store, which may move it. After a store nothing may be written to it until this function is called again. Elements
 * that were stored and are then changed have to be staged and stored again. COUNT and DATATYPE may not be set while the
 * memory is in use.
 *
 * @param[in]  group_id  id of the group
 * @param[in]  member_id id of the member
 * @param[out] memory    all elements of the member, packed: element i is at byte i × (bytes of the datatype). Owned by
 *                       the library.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT (memory; the datatype has holes or another order than memory; the
 *         member is FENIX_RESIZEABLE); FENIX_ERROR_NO_MEMORY.
 */
int Fenix_Data_member_stage_memory(int group_id, int member_id, void** memory);

/**
 * Opens a file whose bytes are the elements of a member in the snapshot under construction, without their holes. Local.
 * At first the file has what was stored or staged for this snapshot, up to the last of these elements. Elements before it
 * that were neither stored nor staged are zeros, and so are gaps that a seek leaves. The bytes from the start to the
 * furthest byte written are staged when Fenix_Data_member_stage_end is called: elements that were not written are staged
 * as the file shows them. Until then, no other call may name the member.
 *
 * The repair of a failure ends the file, and so does a deletion of the member by Fenix_Data_barrier. From then on the
 * member counts as closed, whether the application closes the file or not. The file itself stays valid, also for other
 * threads: reads, writes and seeks fail with EIO. It is closed by Fenix_Data_member_stage_end, by the next file that is
 * opened on the member, when the group is deleted, or by Fenix_Finalize.
 * @param[in]  group_id  id of the group
 * @param[in]  member_id id of the member
 * @param[out] file      file to write, seek and read; owned by the library. Writing beyond a member that is not
 *                       FENIX_RESIZEABLE fails with ENOSPC.
 * @return FENIX_SUCCESS; FENIX_ERROR_NO_MEMORY.
 */
int Fenix_Data_member_stage_begin(int group_id, int member_id, FILE** file);

/**
 * Closes the file of Fenix_Data_member_stage_begin and stages its elements. Local.
 * @param[in] group_id  id of the group
 * @param[in] member_id id of the member
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL without a Fenix_Data_member_stage_begin;
 *         FENIX_ERROR_INVALID_ARGUMENT if the last element is incomplete, or a write failed: then nothing is staged;
 *         FENIX_ERROR_CANCELLED if a failure has ended the file: it is closed, and nothing is staged.
 */
int Fenix_Data_member_stage_end(int group_id, int member_id);

/**
 * Copies elements of a member into the snapshot under construction, on this rank and, where the policy keeps copies, on
 * the rank that protects it. With parity, the commit makes the redundancy. Collective over the group. (Specification
 * 3.4.1.)
 *
 * It synchronises in the first store of a member after its creation or a recovery. It synchronises in each store if the
 * member is FENIX_RESIZEABLE or the depth is −1. Otherwise it blocks only if no slot is free, until all ranks have
 * committed a snapshot that allows one to be reused. Stores until the commit accumulate; a later one replaces the
 * elements that it names. The buffer may be changed on return. Stored data is not recoverable before it is committed.
 *
 * A member that is FENIX_RESIZEABLE has a size of its own in each snapshot: up to the last element that was stored for
 * the snapshot, 0 if only empty subsets were stored. Without a store, the size is that of the snapshot before. If it
 * grows again, elements that are not stored have their latest values, also those from before it shrank. Space grows as
 * needed.
 *
 * @param[in] group_id         id of the group; same on all ranks
 * @param[in] member_id        id of the member, or FENIX_DATA_MEMBER_ALL: all members, in the order of their creation.
 *                             Same on all ranks.
 * @param[in] subset_specifier elements within the member; may differ between ranks, as with Fenix_Data_member_storev. A
 *                             subset without an end (INT64_MAX as its last element) ends with the member.
 *                             FENIX_DATA_SUBSET_PRESTAGED: the staged elements are protected, and the buffer is not
 *                             read.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT (no buffer, subset); FENIX_ERROR_SUBSET_END_OFFSET (beyond the
 *         member). FENIX_ERROR_SUBSET_NUM_BLOCKS if all members together would be in more pieces than a record can
 *         describe (some 65 000, counted over all stores). In deep groups these are some 4 000 on networks that make all
 *         memory real (docs/operations.md). FENIX_ERROR_NO_MEMORY and FENIX_ERROR_MISMATCH where it synchronises.
 */
int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier);

/**
 * Does the same as Fenix_Data_member_store. In the specification, only this function allows subsets that differ from
 * rank to rank. (Specification 3.4.1.)
 * @param[in] group_id, member_id, subset_specifier as for Fenix_Data_member_store
 * @return as Fenix_Data_member_store.
 */
int Fenix_Data_member_storev(int group_id, int member_id, const Fenix_Data_subset subset_specifier);

/**
 * Stores as Fenix_Data_member_store does, but returns when the data is staged. Collective over the group.
 * (Specification 3.4.1.) The buffer may be changed on return. The protection continues without calls of the
 * application, until Fenix_Data_wait or Fenix_Data_test report its end. With MPI windows, this needs
 * MPI_THREAD_MULTIPLE or a network that makes progress by itself.
 * Requests of a group are processed in their order. Another store of a member waits for its pending requests. Under a
 * policy with parity all ranks of a cohort make the same requests in the same order.
 * @param[in]  group_id, member_id, subset_specifier as for Fenix_Data_member_store
 * @param[out] request                               handle for Fenix_Data_wait or Fenix_Data_test, which has to report
 *                                                   the end before the next commit
 * @return as Fenix_Data_member_store.
 */
int Fenix_Data_member_istore(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                             Fenix_Request* request);

/**
 * Does the same as Fenix_Data_member_istore. In the specification, only this function allows subsets that differ from
 * rank to rank. (Specification 3.4.1.)
 * @param[in]  group_id, member_id, subset_specifier as for Fenix_Data_member_store
 * @param[out] request                               as for Fenix_Data_member_istore
 * @return as Fenix_Data_member_istore.
 */
int Fenix_Data_member_istorev(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                              Fenix_Request* request);

/**
 * Waits until a request is complete. Local. (Specification 3.3.)
 * @param[in] request FENIX_REQUEST_NULL and requests that are complete return at once
 * @return FENIX_SUCCESS; FENIX_ERROR_CANCELLED if a failure cancelled the request (reported once, after the repair);
 *         the error that the protection met; FENIX_ERROR_DATA_WAIT if this process was never given the request.
 */
int Fenix_Data_wait(Fenix_Request request);

/**
 * Tests whether a request is complete. Local, does not wait. (Specification 3.3.)
 * @param[in]  request as for Fenix_Data_wait
 * @param[out] flag    1 if the request is complete, also after one of the codes of Fenix_Data_wait; otherwise 0
 * @return as Fenix_Data_wait.
 */
int Fenix_Data_test(Fenix_Request request, int* flag);

/* ------------------------------------------------------------------------------------------------------- committing */

/**
 * Makes the data that was stored since the last commit a snapshot with the next time stamp. Collective over the group.
 * (Specification 3.4.2.) Once all ranks have returned from it, the snapshot survives the failures that the policy
 * tolerates. Elements that were not stored since the last commit have in this snapshot the values of the snapshot
 * before.
 *
 * It completes locally, with these exceptions. Under a policy with parity it waits until the cohort has come to the
 * same commit. At depth −1 it synchronises. If this rank is far ahead of another one, it waits for that rank. Snapshots
 * older than depth are recycled when this snapshot is known to be committed on every rank, not earlier.
 * @param[in]  group_id   id of the group
 * @param[out] time_stamp time stamp of the new snapshot, or FENIX_TIME_STAMP_IGNORE
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_TIMESTAMP if all time stamps have been used.
 *         FENIX_ERROR_INVALID_LOGIC_CALL if a request is pending or staged elements were not stored (the text names the
 *         member), or if a rank of the same cohort cannot commit. FENIX_ERROR_MISMATCH if the ranks of a cohort have
 *         stored different members. FENIX_ERROR_SUBSET_NUM_BLOCKS if the members are in more pieces than a record can
 *         describe, because a snapshot was deleted that had them whole. FENIX_ERROR_MISMATCH also if they would carry on
 *         different snapshots of a member that was not stored, because one of them has deleted its latest snapshot.
 *         FENIX_ERROR_NODATA_FOUND if elements that were not stored are damaged beyond repair in the latest snapshot, in a block of
 *         which a part was stored: nothing was committed on this rank, nor in its cohort. Store the whole member, and commit again.
 *         FENIX_ERROR_TIMEOUT if the cohort does not arrive: nothing was committed, and the group has to be created
 *         again.
 */
int Fenix_Data_commit(int group_id, int* time_stamp);

/**
 * Commits as Fenix_Data_commit does, and returns only when all ranks have committed: the snapshot is then consistent.
 * Collective over the group, synchronising. (Specification 3.4.2.) If a rank dies before its commit, the snapshot is
 * dropped on all ranks, and the failure is repaired.
 * @param[in]  group_id   id of the group
 * @param[out] time_stamp as for Fenix_Data_commit. If it has been written, the commit of this rank remains valid even
 *                        after FENIX_ERROR_TIMEOUT; the state of the other ranks is then not known.
 * @return as Fenix_Data_commit; FENIX_ERROR_TIMEOUT if a rank does not arrive.
 */
int Fenix_Data_commit_barrier(int group_id, int* time_stamp);

/**
 * Calls Fenix_Data_commit and then Fenix_Data_cleanup. Collective over the group. (Specification 3.4.2.)
 * @param[in]  group_id   id of the group
 * @param[out] time_stamp as for Fenix_Data_commit
 * @return as Fenix_Data_commit.
 */
int Fenix_Data_commit_cleanup(int group_id, int* time_stamp);

/**
 * Recycles the snapshots older than depth, as far as all ranks have newer ones. Collective over the group, completes
 * locally: it reads the memory of ranks that have not told this one. Does nothing at depth −1. Commits and stores
 * recycle by themselves the snapshots of which they know without asking. (Specification 3.4.3.)
 * @param[in] group_id id of the group
 * @return FENIX_SUCCESS.
 */
int Fenix_Data_cleanup(int group_id);

/**
 * Makes the group the same on all ranks. Collective over the group, including ranks that have deleted it;
 * synchronising. (Specification 3.4.3.) Removes snapshots that some ranks do not have, and snapshots older than depth.
 * Removes members that some ranks do not have, from all snapshots. If a rank has deleted the group, it is deleted on
 * all ranks, and the call returns FENIX_SUCCESS.
 * @param[in] group_id id of the group; same on all ranks
 * @return FENIX_SUCCESS; FENIX_ERROR_MISMATCH; FENIX_ERROR_TIMEOUT.
 */
int Fenix_Data_barrier(int group_id);

/**
 * Stores all members in the order of their creation and commits. Collective over the group. (API reference.) If a message log is active and
 * FENIX_MLOG_RECOVERY_MODE is not FENIX_MLOG_RECOVERY_MANUAL, it waits for the commit of all ranks. It goes on after a failure if a callback
 * calls Fenix_Data_group_create for the group.
 * @param[in]  group_id   id of the group
 * @param[in]  subset     as for Fenix_Data_member_store, applied to each member
 * @param[in]  num_storev number of storev_ids, or FENIX_STOREV_ALL
 * @param[in]  storev_ids ids of the members whose subsets may differ from rank to rank; NULL if num_storev is 0 or
 *                        FENIX_STOREV_ALL. Not kept.
 * @param[out] time_stamp time stamp of the new snapshot, or FENIX_TIME_STAMP_IGNORE
 * @return as Fenix_Data_member_store and Fenix_Data_commit; FENIX_ERROR_INVALID_ARGUMENT (num_storev, storev_ids). If
 *         the store fails on this rank alone, ranks that would wait for its commit get an error: at depth −1 the same
 *         code, under a policy with parity FENIX_ERROR_INVALID_LOGIC_CALL.
 */
int Fenix_Data_checkpoint(int group_id, const Fenix_Data_subset subset, int num_storev, int* storev_ids,
                          int* time_stamp);

/**
 * Calls Fenix_Data_checkpoint with FENIX_STOREV_ALL. Collective over the group.
 * @param[in]  group_id   id of the group
 * @param[in]  subset     as for Fenix_Data_checkpoint
 * @param[out] time_stamp as for Fenix_Data_checkpoint
 * @return as Fenix_Data_checkpoint.
 */
int Fenix_Data_checkpointv(int group_id, const Fenix_Data_subset subset, int* time_stamp);

/**
 * Deletes a snapshot on this rank, permanently. Local; reads the memory of other ranks. With MPI windows, these reads
 * may make progress only while the other ranks are inside MPI. (Specification 3.8.) The snapshot is not consistent any
 * more. Later snapshots keep the values that they have from it. The next commit goes on from the newest snapshot that
 * this rank still has. Until all ranks are known to have the deleted one, this may be a snapshot older than depth, which
 * is still kept for a failure; after Fenix_Data_barrier there is none.
 * @param[in] group_id   id of the group
 * @param[in] time_stamp time stamp of a snapshot of this rank, or FENIX_DATA_SNAPSHOT_ALL. FENIX_DATA_SNAPSHOT_LATEST
 *                       is refused, as in the current Fenix: −1 may come about by mistake.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_TIMESTAMP; FENIX_ERROR_NODATA_FOUND if there is no snapshot at all.
 */
int Fenix_Data_snapshot_delete(int group_id, int time_stamp);

/* -------------------------------------------------------------------------------------------------------- restoring */

/**
 * Copies a member's data from a snapshot into a buffer. Collective over the group, synchronising. (Specification 3.5.)
 * Each rank gets the data that the rank of this number stored, with the newest value of each element up to that
 * snapshot. Some ranks may call Fenix_Data_member_repair instead: they take part without data. All ranks get data of the
 * same snapshot, or all get an error, with two exceptions. Under FENIX_DATA_POLICY_LOCAL, ranks that have lost their data
 * get FENIX_ERROR_NODATA_FOUND, and the others get data. If a rank dies at the end of the call, some ranks may have their
 * data and FENIX_SUCCESS, and meet the failure in a later call. The buffers of the others are as before, and they meet it
 * at once.
 * Hashes are verified, and a damaged copy is replaced by a good one.
 * @param[in]  group_id      id of the group; same on all ranks
 * @param[in]  member_id     id of the member; same on all ranks
 * @param[out] target_buffer room for max_count elements of the datatype. FENIX_DATA_RESTORE_INPLACE: the source buffer.
 *                           NULL: this rank takes part but does not need the data. If the member has a source buffer,
 *                           NULL is refused unless max_count is 0, because in the current Fenix it is the source
 *                           buffer. Elements that are not found, and the holes of the datatype, stay as they are. After
 *                           an error the whole buffer stays as it is, unless a serializer has failed. On a rank that
 *                           has taken a dead one's place it becomes the source buffer, if the member has none, the
 *                           program has not created or defined the member, and all its elements have room.
 * @param[in]  max_count     the first max_count elements are restored; the rest is left out. Or
 *                           FENIX_DATA_RESTORE_FULL: all elements that the snapshot has.
 * @param[in]  time_stamp    the newest consistent snapshot with this time stamp or an earlier one is taken, so
 *                           FENIX_TIME_STAMP_MAX is the latest. FENIX_DATA_SNAPSHOT_LATEST: the latest.
 *                           FENIX_DATA_SNAPSHOT_ALL: the latest, and for a member that is FENIX_RESIZEABLE also older
 *                           elements beyond its size. Same on all ranks.
 * @param[out] found_data    the elements that the snapshot has, beyond max_count too; owned by the caller, which deletes
 *                           it. Or FENIX_DATA_SUBSET_IGNORE.
 * @return FENIX_SUCCESS. FENIX_WARNING_PARTIAL_RESTORE if some of the first max_count elements are in no snapshot; with
 *         FENIX_DATA_RESTORE_FULL, if elements before the last one found are in none. FENIX_ERROR_INVALID_ARGUMENT;
 *         FENIX_ERROR_INVALID_TIMESTAMP if time_stamp is negative and no constant; FENIX_ERROR_MISMATCH.
 *         FENIX_ERROR_NODATA_FOUND if there is no such snapshot, if the member is not in it, or if its data is lost or
 *         damaged. FENIX_ERROR_BUFFER_TOO_SMALL if the source buffer has no room for what another rank has stored.
 */
int Fenix_Data_member_restore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset* found_data);

/**
 * Restores a member as Fenix_Data_member_restore does, from this rank's own copy. Local. (API reference.) It does not
 * check whether other ranks have the snapshot. The target does not become the source buffer.
 * @param[in]  group_id, member_id       as for Fenix_Data_member_restore
 * @param[out] target_buffer, found_data as for Fenix_Data_member_restore
 * @param[in]  max_count                 as for Fenix_Data_member_restore
 * @param[in]  time_stamp                as for Fenix_Data_member_restore, but of the snapshots of this rank
 * @return as Fenix_Data_member_restore.
 */
int Fenix_Data_member_lrestore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                               Fenix_Data_subset* found_data);

/**
 * Restores a member as Fenix_Data_member_restore does, with the data that source_rank stored. Collective over the
 * group, synchronising. (Specification 3.5.) The target does not become the source buffer. After the communicator has
 * shrunk, the data of dead ranks is available as far as the policy tolerates their loss, until the first commit on the
 * new communicator has completed on all ranks.
 * @param[in]  group_id, member_id, max_count, time_stamp as for Fenix_Data_member_restore
 * @param[out] target_buffer, found_data                  as for Fenix_Data_member_restore
 * @param[in]  source_rank                                rank in the communicator that stored; may differ between
 *                                                        ranks. After the communicator has shrunk, this is the old
 *                                                        communicator.
 * @return as Fenix_Data_member_restore; FENIX_ERROR_INVALID_ARGUMENT if source_rank is not in the communicator that
 *         stored.
 */
int Fenix_Data_member_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                                        Fenix_Data_subset* found_data, int source_rank);

/**
 * Restores a member as Fenix_Data_member_lrestore does, into the source buffer, with as many elements as there are.
 * Local. It uses the serializer, if there is one.
 * @param[in]  group_id, member_id, time_stamp as for Fenix_Data_member_lrestore
 * @param[out] found_data                      as for Fenix_Data_member_restore
 * @return as Fenix_Data_member_lrestore.
 */
int Fenix_Data_member_load(int group_id, int member_id, int time_stamp, Fenix_Data_subset* found_data);

/**
 * Does the same as Fenix_Data_member_lrestore, under the name of the current Fenix. Local. It uses the serializer, if
 * there is one.
 * @param[in]  group_id, member_id, max_count, time_stamp as for Fenix_Data_member_lrestore
 * @param[out] target_buffer, found_data                  as for Fenix_Data_member_restore
 * @return as Fenix_Data_member_lrestore.
 */
int Fenix_Data_member_load_to(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset* found_data);

/**
 * Opens a file whose bytes are a member's elements in a snapshot of this rank, without their holes. Local. Until
 * Fenix_Data_member_load_end, no other call may name the member. A failure ends the file as it ends that of
 * Fenix_Data_member_stage_begin.
 * @param[in]  group_id, member_id, time_stamp as for Fenix_Data_member_lrestore
 * @param[out] file                            file to read and seek; owned by the library
 * @param[out] found_data                      as for Fenix_Data_member_restore
 * @return as Fenix_Data_member_lrestore; with FENIX_WARNING_PARTIAL_RESTORE, the bytes of elements that are not in
 *         found_data are undefined.
 */
int Fenix_Data_member_load_begin(int group_id, int member_id, FILE** file, int time_stamp,
                                 Fenix_Data_subset* found_data);

/**
 * Does the same as Fenix_Data_member_load_begin, under the name that the current Fenix's header has for it. Local.
 * @param[in]  group_id, member_id, time_stamp as for Fenix_Data_member_load_begin
 * @param[out] file, found_data                as for Fenix_Data_member_load_begin
 * @return as Fenix_Data_member_load_begin.
 */
int Fenix_data_member_load_begin(int group_id, int member_id, FILE** file, int time_stamp,
                                 Fenix_Data_subset* found_data);

/**
 * Closes the file of Fenix_Data_member_load_begin. Local.
 * @param[in] group_id  id of the group
 * @param[in] member_id id of the member
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL without a Fenix_Data_member_load_begin; FENIX_ERROR_CANCELLED
 *         if a failure has ended the file: it is closed.
 */
int Fenix_Data_member_load_end(int group_id, int member_id);

/**
 * Verifies all copies of a member in all consistent snapshots, and the records of the group's commits. Repairs damaged
 * copies from good ones. Collective over the group, synchronising; other ranks may call Fenix_Data_member_restore for the
 * same member instead, and then get their data. It is not needed after a failure: Fenix_Data_group_create rebuilds the
 * data of dead ranks.
 * @param[in] group_id  id of the group; same on all ranks
 * @param[in] member_id id of the member; same on all ranks
 * @return FENIX_SUCCESS: all copies are good now; FENIX_ERROR_NODATA_FOUND if data is damaged in all copies.
 */
int Fenix_Data_member_repair(int group_id, int member_id);

/**
 * Verifies and repairs all members as Fenix_Data_member_repair does, and counts the damage (new). Collective over the
 * group, synchronising. Versions are counted over all ranks: a member in a snapshot counts once for the data of each
 * rank, and once for each part of its redundancy. If data is lost, its redundancy is not checked, because it may be all
 * that remains of the data. Each record of a commit, and each copy of it on another rank, counts as well. Damaged
 * records are rebuilt from the knowledge of the rank that committed.
 * @param[in]  group_id   id of the group; same on all ranks
 * @param[out] num_mended number of versions and records that were damaged, and are good now; same on all ranks. May be
 *                        NULL.
 * @param[out] num_lost   number of versions that are damaged beyond repair; same on all ranks. May be NULL.
 * @return FENIX_SUCCESS; FENIX_ERROR_NODATA_FOUND if num_lost is not 0, with both numbers written;
 *         FENIX_ERROR_MISMATCH.
 */
int Fenix_Data_verify(int group_id, int* num_mended, int* num_lost);

/* Does the same as Fenix_Data_member_attr_get, with this rank as source_rank. Internal. */
int fenix_detail_own_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag);

#ifdef __cplusplus
}
#else
/* The current Fenix has Fenix_Data_member_attr_get without source_rank. */
#define FENIX_DETAIL_PICK_6(a1, a2, a3, a4, a5, a6, name, ...) name
#define Fenix_Data_member_attr_get(...)                                                                \
  FENIX_DETAIL_PICK_6(__VA_ARGS__, (Fenix_Data_member_attr_get), fenix_detail_own_attr_get,            \
                      fenix_attr_get_takes_5_or_6_arguments, fenix_attr_get_takes_5_or_6_arguments,    \
                      fenix_attr_get_takes_5_or_6_arguments, fenix_attr_get_takes_5_or_6_arguments, 0) \
  (__VA_ARGS__)
#endif

#endif
