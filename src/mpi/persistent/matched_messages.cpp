// SPDX-License-Identifier: BSD-3-Clause
// No function here that calls libfenix has an object with a destructor meanwhile: control may leave by longjmp.
#include "mpi/persistent/matched_messages.hpp"

#include <fenix_mpi/persistent.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/of_thread.hpp"
#include "mpi/base/derived.hpp"
#include "mpi/base/error_handlers.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/probes.hpp"

namespace fenix_impl {
namespace {

/// A message that was stored, on its way from this process to itself.
struct Matched {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Status status{};
  std::vector<char> bytes;
  MPI_Request sent = MPI_REQUEST_NULL;
};

std::map<MPI_Message, Matched>& matched_messages() {
  static auto* instance = new std::map<MPI_Message, Matched>;
  return *instance;
}

void count_matched() {
  stand_in_table().messages = matched_messages().size();
  count_stand_ins();
}

/// The communicator on which matched messages are, each in a message of this process to itself.
MPI_Comm comm_of_messages() {
  static MPI_Comm comm = [] {
    MPI_Comm made = MPI_COMM_NULL;
    real.Comm_dup(MPI_COMM_SELF, &made);
    return made;
  }();
  return comm;
}

bool has_room(int count, MPI_Datatype type, std::size_t bytes) {
  MPI_Count size = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS) return true;
  return static_cast<MPI_Count>(bytes) <= count * size;
}

}  // namespace

int match_stored(const ProbeCall& call, int* flag, MPI_Message* message, MPI_Status* status) {
  auto& bytes = of_thread<std::vector<char>>();
  MPI_Status found{};
  int error = call_libfenix([&](const PersistServices& libfenix) { return libfenix.probe(call, flag, &found); });
  if (error != MPI_SUCCESS || *flag == 0) return error;
  if (found.MPI_SOURCE == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    if (status != MPI_STATUS_IGNORE) *status = found;
    return MPI_SUCCESS;
  }
  int count = 0;
  PMPI_Get_count(&found, MPI_BYTE, &count);
  bytes.resize(static_cast<std::size_t>(count));
  error = call_libfenix([&](const PersistServices& libfenix) {
    return libfenix.receive({bytes.data(), count, MPI_BYTE, found.MPI_SOURCE, found.MPI_TAG, call.comm}, false, flag,
                            &found);
  });
  if (error != MPI_SUCCESS || *flag == 0) return error;
  PMPI_Get_count(&found, MPI_BYTE, &count);
  if (status != MPI_STATUS_IGNORE) *status = found;
  const auto lock = lock_stand_ins();
  Matched matched;
  matched.comm = call.comm;
  matched.status = found;
  matched.bytes = std::move(bytes);
  const MPI_Comm self = comm_of_messages();
  error = real.Isend(matched.bytes.data(), count, MPI_BYTE, 0, 0, self, &matched.sent);
  if (error == MPI_SUCCESS) error = real.Mprobe(0, 0, self, message, MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS) matched_messages()[*message] = std::move(matched);
  count_matched();
  return error;
}

int with_stand_ins_Mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  if (is_logged_message(*message)) return receive_logged_message(buf, count, type, message, status);
  int error = MPI_SUCCESS;
  MPI_Comm comm = MPI_COMM_NULL;
  bool fits = true;
  {
    Matched matched;
    {
      const auto lock = lock_stand_ins();
      const auto found = matched_messages().find(*message);
      if (found == matched_messages().end()) return real.Mrecv(buf, count, type, message, status);
      matched = std::move(found->second);
      matched_messages().erase(found);
      count_matched();
    }
    comm = matched.comm;
    fits = has_room(count, type, matched.bytes.size());
    if (fits) {
      error = real.Mrecv(buf, count, type, message, status);
    } else {
      std::vector<char> unused(matched.bytes.size());
      (void)real.Mrecv(unused.data(), static_cast<int>(unused.size()), MPI_BYTE, message, MPI_STATUS_IGNORE);
    }
    (void)real.Wait(&matched.sent, MPI_STATUS_IGNORE);
    if (status != MPI_STATUS_IGNORE) {
      status->MPI_SOURCE = matched.status.MPI_SOURCE;
      status->MPI_TAG = matched.status.MPI_TAG;
    }
  }
  // MPI would call the handler of a communicator that the program does not know.
  return fits ? error : refuse_call(comm, MPI_ERR_TRUNCATE, "the message has more bytes than the buffer");
}

int with_stand_ins_Imrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  if (is_logged_message(*message)) return start_logged_message(buf, count, type, message, request);
  bool is_stored = false;
  {
    const auto lock = lock_stand_ins();
    is_stored = matched_messages().count(*message) > 0;
  }
  if (!is_stored) return real.Imrecv(buf, count, type, message, request);
  MPI_Status status{};
  const int error = with_stand_ins_Mrecv(buf, count, type, message, &status);
  return error != MPI_SUCCESS ? error : add_done_stand_in(status, request);
}

}  // namespace fenix_impl
