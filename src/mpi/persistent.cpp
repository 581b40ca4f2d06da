// SPDX-License-Identifier: BSD-3-Clause
// No function here has an object with a destructor: control may leave by longjmp.
#include "mpi/persistent.hpp"

#include <mpi-ext.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/constructors.hpp"
#include "mpi/derived.hpp"
#include "mpi/error_handlers.hpp"
#include "mpi/quick_messages.hpp"
#include "mpi/real.hpp"
#include "mpi/stand_ins.hpp"

namespace fenix_impl {

constinit std::atomic<const HandleTable<Persistent>*> persistent_comms{nullptr};

namespace {

// Functions of libfenix for checkpoints, in place of those for logs. They stay until a log is there.
constinit std::atomic<const PersistServices*> counting_services{nullptr};

struct All {
  std::mutex mutex;
  std::vector<std::pair<MPI_Comm, Persistent>> comms;
};

All& all_comms() {
  static auto* instance = new All;
  return *instance;
}

// The old tables stay: threads may be reading them.
void publish(const std::vector<std::pair<MPI_Comm, Persistent>>& comms) {
  persistent_comms.store(comms.empty() ? nullptr : new HandleTable<Persistent>(comms), std::memory_order_release);
}

void note_persistent(MPI_Comm comm, Persistent kind) {
  All& all = all_comms();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.comms, [comm](const auto& each) { return each.first == comm; });
  all.comms.emplace_back(comm, kind);
  publish(all.comms);
}

/// Whether a receive on a communicator that delivers looks at what was stored first.
bool looks_at_store(MPI_Comm comm) { return !delivers(comm) || persist_services()->has_failed(); }

int store(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return raise_on(comm, call_libfenix([&](const PersistServices& libfenix) {
                    return libfenix.store(buf, count, datatype, dest, tag, comm);
                  }));
}

using SendFunction = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
using StartFunction = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

int send(SendFunction real_send, const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  const int error = store(buf, count, datatype, dest, tag, comm);
  if (error != MPI_SUCCESS || !delivers(comm)) return error;
  return real_send(buf, count, datatype, dest, tag, now(comm));
}

int start_send(StartFunction real_start, const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm, MPI_Request* request) {
  const int error = store(buf, count, datatype, dest, tag, comm);
  if (error != MPI_SUCCESS) return error;
  if (delivers(comm)) return real_start(buf, count, datatype, dest, tag, now(comm), request);
  return real.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

int init_send(StartFunction real_init, const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
              MPI_Comm comm, MPI_Request* request) {
  const int error = delivers(comm) ? real_init(buf, count, datatype, dest, tag, now(comm), request)
                                   : real.Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  if (error == MPI_SUCCESS) add_send_stand_in(*request, {buf, count, datatype, dest, tag, comm});
  return error;
}

}  // namespace

const PersistServices* persist_services() {
  if (const PersistServices* counting = counting_services.load(std::memory_order_acquire)) return counting;
  const InterposerServices* services = registry().services;
  return services != nullptr ? services->persist : nullptr;
}

// Calls that a failure cuts short use the functions to their end.
void count_messages(const PersistServices* services) {
  forget_quick_messages();
  if (services != nullptr) counting_services.store(services, std::memory_order_release);
  logs_messages.store(services != nullptr, std::memory_order_release);
}

void use_services_of_logs() { counting_services.store(nullptr, std::memory_order_release); }

bool tells_of_failure(int error) {
  int error_class = MPI_SUCCESS;
  if (error == MPI_SUCCESS) return false;
  PMPI_Error_class(error, &error_class);
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_REVOKED ||
         error_class == MPIX_ERR_PROC_FAILED_PENDING;
}

int raise_on(MPI_Comm comm, int error) {
  if (error == MPI_SUCCESS || tells_of_failure(error)) return error;
  // libfenix has looked whether a death is behind it.
  const InterposerServices* services = registry().services;
  if (services != nullptr) services->announce_error(error);
  real.Comm_call_errhandler(now(comm), error);
  if (services != nullptr) services->announce_error(MPI_SUCCESS);
  return error;
}

void forget_persistent(MPI_Comm comm) {
  if (!is_persistent(comm)) return;
  if (const PersistServices* services = persist_services()) services->close(comm);
  All& all = all_comms();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.comms, [comm](const auto& each) { return each.first == comm; });
  publish(all.comms);
}

// ----------------------------------------------------------------------------------------------------------------------- sends

int persistent_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Send, buf, count, datatype, dest, tag, comm);
}
int persistent_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Bsend, buf, count, datatype, dest, tag, comm);
}
int persistent_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Ssend, buf, count, datatype, dest, tag, comm);
}
int persistent_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Rsend, buf, count, datatype, dest, tag, comm);
}

int persistent_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  return start_send(real.Isend, buf, count, datatype, dest, tag, comm, request);
}
int persistent_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return start_send(real.Ibsend, buf, count, datatype, dest, tag, comm, request);
}
int persistent_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return start_send(real.Issend, buf, count, datatype, dest, tag, comm, request);
}
int persistent_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return start_send(real.Irsend, buf, count, datatype, dest, tag, comm, request);
}

int persistent_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  return init_send(real.Send_init, buf, count, datatype, dest, tag, comm, request);
}
int persistent_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  return init_send(real.Bsend_init, buf, count, datatype, dest, tag, comm, request);
}
int persistent_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  return init_send(real.Ssend_init, buf, count, datatype, dest, tag, comm, request);
}
int persistent_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  return init_send(real.Rsend_init, buf, count, datatype, dest, tag, comm, request);
}

// -------------------------------------------------------------------------------------------------------------------- receives

int persistent_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Status* status) {
  const bool waits = !delivers(comm);
  int flag = 0;
  if (looks_at_store(comm)) {
    const int error = call_libfenix([&](const PersistServices& libfenix) {
      return libfenix.receive(buf, count, datatype, source, tag, comm, waits, &flag, status);
    });
    if (error != MPI_SUCCESS) return raise_on(comm, error);
    if (flag != 0) return MPI_SUCCESS;
  }
  return real.Recv(buf, count, datatype, source, tag, now(comm), status);
}

int persistent_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  const Receive receive{buf, count, datatype, source, tag, comm};
  if (!delivers(comm)) return start_receive(receive, request);
  if (looks_at_store(comm)) {
    int flag = 0;
    MPI_Status status;
    const int error = call_libfenix([&](const PersistServices& libfenix) {
      return libfenix.receive(buf, count, datatype, source, tag, comm, false, &flag, &status);
    });
    if (error != MPI_SUCCESS) return raise_on(comm, error);
    if (flag != 0) return add_done_stand_in(status, request);
  }
  return real.Irecv(buf, count, datatype, source, tag, now(comm), request);
}

int persistent_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  if (delivers(comm)) return real.Recv_init(buf, count, datatype, source, tag, now(comm), request);
  return init_receive({buf, count, datatype, source, tag, comm}, request);
}

int persistent_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                        MPI_Status* status) {
  if (delivers(comm) && !looks_at_store(comm)) {
    const int error = store(sendbuf, sendcount, sendtype, dest, sendtag, comm);
    if (error != MPI_SUCCESS) return error;
    return real.Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                         now(comm), status);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  int error = persistent_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &request);
  if (error == MPI_SUCCESS) error = persistent_Recv(recvbuf, recvcount, recvtype, source, recvtag, comm, status);
  const int end = PMPI_Wait(&request, MPI_STATUS_IGNORE);
  return error != MPI_SUCCESS ? error : end;
}

int persistent_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                int recvtag, MPI_Comm comm, MPI_Status* status) {
  const int error = store(buf, count, datatype, dest, sendtag, comm);
  if (error != MPI_SUCCESS) return error;
  if (!delivers(comm)) return persistent_Recv(buf, count, datatype, source, recvtag, comm, status);
  return real.Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, now(comm), status);
}

int persistent_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                         void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                         MPI_Request* request) {
  const int error = store(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  if (error != MPI_SUCCESS) return error;
  if (delivers(comm)) {
    return real.Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                          now(comm), request);
  }
  return persistent_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, request);
}

int persistent_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                 int recvtag, MPI_Comm comm, MPI_Request* request) {
  const int error = store(buf, count, datatype, dest, sendtag, comm);
  if (error != MPI_SUCCESS) return error;
  if (delivers(comm)) {
    return real.Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, now(comm), request);
  }
  return persistent_Irecv(buf, count, datatype, source, recvtag, comm, request);
}

// ---------------------------------------------------------------------------------------------------------------------- probes

int persistent_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  int flag = 0;
  if (looks_at_store(comm)) {
    const int error = call_libfenix([&](const PersistServices& libfenix) {
      return libfenix.probe(source, tag, comm, !delivers(comm), &flag, status);
    });
    if (error != MPI_SUCCESS) return raise_on(comm, error);
    if (flag != 0) return MPI_SUCCESS;
  }
  return real.Probe(source, tag, now(comm), status);
}

int persistent_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  *flag = 0;
  if (looks_at_store(comm)) {
    const int error = call_libfenix(
        [&](const PersistServices& libfenix) { return libfenix.probe(source, tag, comm, false, flag, status); });
    if (error != MPI_SUCCESS) return raise_on(comm, error);
    if (*flag != 0) return MPI_SUCCESS;
  }
  return delivers(comm) ? real.Iprobe(source, tag, now(comm), flag, status) : MPI_SUCCESS;
}

int persistent_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (delivers(comm) && !looks_at_store(comm)) return real.Mprobe(source, tag, now(comm), message, status);
  int flag = 0;
  const int error = match_stored(source, tag, comm, !delivers(comm), &flag, message, status);
  if (error != MPI_SUCCESS) return raise_on(comm, error);
  if (flag != 0) return MPI_SUCCESS;
  return real.Mprobe(source, tag, now(comm), message, status);
}

int persistent_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  *flag = 0;
  if (looks_at_store(comm)) {
    const int error = match_stored(source, tag, comm, false, flag, message, status);
    if (error != MPI_SUCCESS) return raise_on(comm, error);
    if (*flag != 0) return MPI_SUCCESS;
  }
  return delivers(comm) ? real.Improbe(source, tag, now(comm), flag, message, status) : MPI_SUCCESS;
}

}  // namespace fenix_impl

using namespace fenix_impl;

extern "C" {

int PMPI_Comm_persist(MPI_Comm comm, const char* key, MPI_Info info, MPI_Comm* persistentcomm) {
  if (persistentcomm == nullptr) return refuse_call(comm, MPI_ERR_ARG, "persistentcomm is NULL");
  *persistentcomm = MPI_COMM_NULL;
  if (comm == MPI_COMM_NULL) return refuse_call(comm, MPI_ERR_COMM, "comm is MPI_COMM_NULL");
  const PersistServices* services = persist_services();
  if (services == nullptr) return refuse_call(comm, MPI_ERR_OTHER, "called before Fenix_Init");
  int is_inter = 0;
  int error = real.Comm_test_inter(now(comm), &is_inter);
  if (error != MPI_SUCCESS) return error;
  if (is_inter != 0) return refuse_call(comm, MPI_ERR_COMM, "comm is an intercommunicator");
  error = duplicate(comm, __builtin_return_address(0), persistentcomm);
  if (error != MPI_SUCCESS) return error;
  int is_delivered = 0;
  // The communicator is there on all ranks. After a death meanwhile, some may have come out of the call, and will not come back.
  do {
    error = services->open(*persistentcomm, key, info, &is_delivered);
  } while (error != MPI_SUCCESS && tells_of_failure(error));
  if (error != MPI_SUCCESS) {
    PMPI_Comm_free(persistentcomm);
    return raise_on(comm, error);
  }
  note_persistent(*persistentcomm, is_delivered != 0 ? Persistent::delivers : Persistent::stores);
  return MPI_SUCCESS;
}

decltype(PMPI_Comm_persist) MPI_Comm_persist __attribute__((weak, alias("PMPI_Comm_persist")));
}
