// SPDX-License-Identifier: BSD-3-Clause
// The interface between libfenix and libfenix_mpi. libfenix_mpi replaces functions of MPI in a program that is linked with it, or
// has it preloaded. libfenix works without it.
#pragma once

#include <fenix_mpi/functions.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interposition/collective.hpp"
#include "interposition/determinant_kind.hpp"
#include "interposition/message_calls.hpp"
#include "interposition/message_counters.hpp"
#include "interposition/partner.hpp"

namespace fenix_impl {

/// Functions of libfenix for persistent communicators. A communicator is the handle that the program has. They return MPI_SUCCESS or an
/// error of MPI, whose text Fenix_Error_message() has. After a failure they repair, and return only in resume mode "return". They are
/// local, except where they say otherwise.
struct PersistServices {
  /// Makes comm persistent, a duplicate that the program is about to get. delivers: whether messages are delivered, too. The first call
  /// is collective over the resilient communicator.
  int (*open)(MPI_Comm comm, const char* key, MPI_Info info, int* delivers);
  /// Forgets it.
  void (*close)(MPI_Comm comm);
  int (*store)(const SendCall& message);
  /// Receives a message. waits: until there is one, or with an error if the communicator is not to wait; else flag says whether there is
  /// one.
  int (*receive)(const ReceiveCall& receive, bool waits, int* flag, MPI_Status* status);
  /// Does a collective operation: contributions are stored, or restored in a process that has failed. Waits as receive does. delivers: of
  /// the communicator. executes: whether MPI has to execute it as well.
  int (*collective)(const Collective& call, bool delivers, int* executes);
  int (*probe)(const ProbeCall& call, int* flag, MPI_Status* status);
  /// Looks at failures while the program waits for several messages, and at the time: since is the result of MPI_Wtime when it began.
  int (*check_wait)(double since);
  /// Says whether this process has taken the place of a dead one, and has stored nothing yet.
  bool (*has_failed)();

  /// Changes when what the next two functions have allowed must not be done any more.
  const std::atomic<unsigned>* fast_path_generation;
  /// Say what libfenix_mpi may do by itself with messages on an ordinary communicator. Not to be called where calls of several threads may
  /// overlap.
  void (*allow_send)(const Partner& to, FastSend* fast);
  void (*allow_receive)(const Partner& from, FastReceive* fast);
  /// Logs a message on an ordinary communicator before it is sent. comm_id: number of the communicator. packed says before whether the message is
  /// synchronous, and has its bytes afterwards; its number is for look_whether_taken.
  int (*log_send)(const SendCall& message, std::uint64_t comm_id, Packed* packed);
  /// Does the same for a partner whose messages allow_send has allowed. Returns false if log_send has to do it.
  bool (*log_fast)(const FastSend& partner, const SendCall& message, Packed* packed);
  /// Says whether the receive of a synchronous message has begun. The receiver takes it from the log: MPI does not send it.
  int (*look_whether_taken)(const Partner& to, std::uint64_t number, int* flag);
  /// Says whether a message may be sent before it is logged: no state that a receiver stores by itself can depend on it.
  bool (*may_send_first)();
  /// Says whether the next message that would be logged has to be sent. Outcomes on which it may depend are stored.
  int (*prepare_send)(const Partner& to, int* is_sent);
  /// Says whether this process still repeats its predecessor: outcomes of later calls are known.
  int (*look_whether_repeating)(int* is_repeating);
  /// Returns the number of the message that a receive on an ordinary communicator gets. is_logged: 0 if it is in no log, as long as there is
  /// no repair.
  int (*begin_receive)(const Partner& from, std::uint64_t* number, int* is_logged);
  /// Receives the message with this number from the log of its sender, if it is to come from there (flag 1). comm_id: number of the
  /// communicator.
  int (*receive_logged)(const ReceiveCall& receive, std::uint64_t comm_id, std::uint64_t number, int* flag,
                        MPI_Status* status);
  /// Whether end_receive is of any use now.
  const std::atomic<bool>* notes_ends;
  /// Notes that a receive with a number has its message, in a buffer. status: null if it counts something else than messages.
  void (*end_receive)(const ReceiveCall& receive, std::uint64_t comm_id, std::uint64_t number,
                      const MPI_Status* status);
  /// Takes back the latest number of a message: its receive is cancelled, or the call that sent or received it will be made again.
  void (*take_back)(bool is_sent, const Partner& peer);
  /// Looks for a message in a log that no receive has got. The rank may be MPI_ANY_SOURCE, the tag MPI_ANY_TAG.
  int (*find_logged)(const Partner& from, int* flag, MPI_Status* status);

  /// Says which outcome a call must have, because its predecessor has had it. count: numbers of the outcome; 0: nothing was found;
  /// kFree: any outcome. may_be_negative: the call may find nothing. Ends the job if the program does something else.
  int (*next_determinant)(DeterminantKind call, bool may_be_negative, int room, int* count, int* outcome);
  static constexpr int kFree = -1;
  /// Notes that a message is there, before the outcome that comes from it is noted. number: of its receive; 0: it has none yet.
  void (*note_found)(const Partner& from, std::uint64_t number);
  /// Notes the outcome of a call that was free.
  int (*note_determinant)(DeterminantKind call, int count, const int* outcome);
  /// Gives a receive its number among those that have begun. flag: whether it must get the message from this source with this tag, or none
  /// (kTagOfCancelled). The source and the tag that the program wants are there before.
  int (*next_match)(std::uint64_t* receive, int* source, int* tag, int* flag);
  /// Notes the message of a receive whose match was free.
  int (*note_match)(std::uint64_t receive, int source, int tag);

  /// Says whether logged calls that a failure has cut short are repeated: FENIX_MLOG_RECOVERY_MODE.
  bool (*repeats_calls)();
  /// Goes on as FENIX_RESUME_MODE says after a logged call that a failure has cut short and that is not repeated. Returns only in
  /// mode "return".
  void (*leave_call)(int error);
};

/// Functions of libfenix that libfenix_mpi calls.
struct InterposerServices {
  void (*fault_point)(const char* name);
  /// Says whether survivors come out of Fenix_Init, or go on elsewhere, after a repair: then they call constructors of communicators again.
  bool (*survivors_start_over)();
  /// Announces an error of this thread that no failure has caused. MPI_SUCCESS: the error has been raised.
  void (*announce_error)(int mpi_error);
  /// Records for Fenix_Error_message why libfenix_mpi refuses a call.
  void (*note_refusal)(const char* why);
  /// Frees a communicator while libfenix does not look at all of them. free: MPI's own function.
  int (*free_unseen)(int (*free)(MPI_Comm*), MPI_Comm* comm);
  const PersistServices* persist;
};

/// Functions of libfenix_mpi that libfenix calls.
struct Interposer {
  /// kInterfaceVersion of the libfenix_mpi that has filled these tables. The first field, as others may lie elsewhere.
  std::uint32_t version;
  /// MPI's own functions.
  const fenix_mpi_functions* real;
  /// Says whether the calls of the program come to libfenix_mpi.
  bool (*is_in_front)();
  /// Begins: name stands for the resilient communicator from now on. MPI_COMM_NULL: its first handle is its name. resilient:
  /// MPI_COMM_NULL in spares, and in replacements that have none yet.
  void (*start)(const InterposerServices* services, MPI_Comm name, MPI_Comm resilient);
  /// Makes the derived communicators anew on a new resilient one, for adopt(). former: for each rank its number before the repair.
  /// recovered: for each rank whether its process is new. Returns the error of MPI. Collective over resilient. After an error it may
  /// be called again, with another one.
  int (*rebuild)(MPI_Comm resilient, const int* former, const bool* recovered);
  /// Lets the names stand for the communicators that rebuild() has made. They get this handler for errors. Local.
  void (*adopt)(MPI_Comm resilient, MPI_Errhandler handler);
  /// Returns what a communicator of the program stands for. Local.
  MPI_Comm (*now)(MPI_Comm name);
  /// Returns the handle that the program has for the resilient communicator, or MPI_COMM_NULL. Local.
  MPI_Comm (*name)();
  /// Says whether a communicator is from before a repair, or was replaced by it. Local.
  bool (*is_stale)(MPI_Comm comm);
  /// Says whether an error raised on a communicator may be that of a request from before a repair. Local.
  bool (*gets_stale_errors)(MPI_Comm comm);
  /// Notes that a communicator is from before a repair. Local.
  void (*note_stale)(MPI_Comm comm);
  /// Calls the handler that the program has set for a communicator. Returns false if it has set none. Local.
  bool (*call_handler)(MPI_Comm comm, int mpi_error);
  /// Says whether a failure in the present call of this thread is dealt with by libfenix_mpi, as messages are logged. Local.
  bool (*goes_on)();
  /// Says whether a failure in any other call ends the job, as the program knows nothing of Fenix. Local.
  bool (*must_go_on)();
  /// Returns the number of a communicator that all its members have for it; 0 if it is neither the resilient one nor derived from it. Local.
  std::uint64_t (*number_of)(MPI_Comm name);
  /// Logs the messages on a communicator from now on, under the number of a log. MPI_COMM_NULL: on none. Local.
  void (*set_log)(MPI_Comm name, std::uint64_t comm_id);
  /// Forgets logged calls that are under way: the program has left them behind. Local.
  void (*forget_calls)();
  /// Sends a message by send_what_waits, or with the next logged call, unless there is a repair before: then its receiver gets it from the log.
  /// bytes are copied. Local.
  void (*send_later)(MPI_Comm name, int destination, int tag, const void* content, std::size_t bytes);
  /// Begins to send messages that wait. Not to be called where a call of MPI must not be repeated. Local.
  void (*send_what_waits)();
  /// Finds the greatest of the values of all ranks by messages that are logged, as a call of the program would. Returns the error of MPI.
  /// Control may leave it. Collective.
  int (*greatest_of_all)(int value, int* greatest, MPI_Comm name);
  /// Has messages on all communicators counted by these functions from now on; null: no more. Local.
  void (*count_messages)(const PersistServices* services);
  /// Says whether the program has begun receives or collective operations, and has not completed them. Local.
  bool (*has_open_calls)();
};

/// Version of these interfaces: another number where a function has come to mean something else. A table that has grown is another one by itself.
constexpr std::uint32_t kInterfaceVersion = (3U << 24U) | (std::uint32_t{sizeof(PersistServices)} << 12U) |
                                            std::uint32_t{sizeof(Interposer) + sizeof(InterposerServices)};

/// Throws Error(FENIX_ERROR_INVALID_LOGIC_CALL) if the libfenix_mpi of this process is of another version.
void check_interposer_version();

/// Returns libfenix_mpi, or null if it is not in this process, or of another version.
[[nodiscard]] const Interposer* interposer();

/// Returns what a communicator of the program stands for: itself without libfenix_mpi.
[[nodiscard]] inline MPI_Comm present(MPI_Comm comm) {
  return interposer() != nullptr ? interposer()->now(comm) : comm;
}

}  // namespace fenix_impl
