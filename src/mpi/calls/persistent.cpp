// SPDX-License-Identifier: BSD-3-Clause
// Sends, receives and probes of the program on persistent communicators: a send stores, and a receive gets what was stored. libfenix does the work.
// No function here has an object with a destructor: control may leave by longjmp.
#include <fenix_mpi/persistent.h>
#include <mpi.h>

#include "mpi/base/handles.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/persistent_table.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/persistent/matched_messages.hpp"
#include "mpi/persistent/requests.hpp"

namespace fenix_impl {

namespace {

/// Whether a receive on a communicator that delivers looks at what was stored first.
bool looks_at_store(MPI_Comm comm) { return !delivers(comm) || persist_services()->has_failed(); }

int store(const SendCall& message) {
  return raise_on(message.comm,
                  call_libfenix([&](const PersistServices& libfenix) { return libfenix.store(message); }));
}

using SendFunction = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);

int send(SendFunction real_send, const SendCall& message) {
  const auto [buf, count, type, dest, tag, comm] = message;
  const int error = store(message);
  if (error != MPI_SUCCESS || !delivers(comm)) return error;
  return real_send(buf, count, type, dest, tag, now(comm));
}

int start_send(StartFunction real_start, const SendCall& message, MPI_Request* request) {
  const auto [buf, count, type, dest, tag, comm] = message;
  const int error = store(message);
  if (error != MPI_SUCCESS) return error;
  if (delivers(comm)) return real_start(buf, count, type, dest, tag, now(comm), request);
  return real.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

int init_send(StartFunction real_init, const SendCall& message, MPI_Request* request) {
  const auto [buf, count, type, dest, tag, comm] = message;
  const int error = delivers(comm) ? real_init(buf, count, type, dest, tag, now(comm), request)
                                   : real.Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  if (error == MPI_SUCCESS) add_send_stand_in(*request, message);
  return error;
}

}  // namespace

// ----------------------------------------------------------------------------------------------------------------------- sends

int persistent_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Send, {buf, count, datatype, dest, tag, comm});
}
int persistent_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Bsend, {buf, count, datatype, dest, tag, comm});
}
int persistent_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Ssend, {buf, count, datatype, dest, tag, comm});
}
int persistent_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Rsend, {buf, count, datatype, dest, tag, comm});
}

int persistent_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  return start_send(real.Isend, {buf, count, datatype, dest, tag, comm}, request);
}
int persistent_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return start_send(real.Ibsend, {buf, count, datatype, dest, tag, comm}, request);
}
int persistent_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return start_send(real.Issend, {buf, count, datatype, dest, tag, comm}, request);
}
int persistent_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return start_send(real.Irsend, {buf, count, datatype, dest, tag, comm}, request);
}

int persistent_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  return init_send(real.Send_init, {buf, count, datatype, dest, tag, comm}, request);
}
int persistent_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  return init_send(real.Bsend_init, {buf, count, datatype, dest, tag, comm}, request);
}
int persistent_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  return init_send(real.Ssend_init, {buf, count, datatype, dest, tag, comm}, request);
}
int persistent_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  return init_send(real.Rsend_init, {buf, count, datatype, dest, tag, comm}, request);
}

// -------------------------------------------------------------------------------------------------------------------- receives

int persistent_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Status* status) {
  const bool waits = !delivers(comm);
  int flag = 0;
  if (looks_at_store(comm)) {
    const int error = call_libfenix([&](const PersistServices& libfenix) {
      return libfenix.receive({buf, count, datatype, source, tag, comm}, waits, &flag, status);
    });
    if (error != MPI_SUCCESS) return raise_on(comm, error);
    if (flag != 0) return MPI_SUCCESS;
  }
  return real.Recv(buf, count, datatype, source, tag, now(comm), status);
}

int persistent_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  const ReceiveCall receive{buf, count, datatype, source, tag, comm};
  if (!delivers(comm)) return start_receive(receive, request);
  if (looks_at_store(comm)) {
    int flag = 0;
    MPI_Status status;
    const int error = call_libfenix(
        [&](const PersistServices& libfenix) { return libfenix.receive(receive, false, &flag, &status); });
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
    const int error = store({sendbuf, sendcount, sendtype, dest, sendtag, comm});
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
  const int error = store({buf, count, datatype, dest, sendtag, comm});
  if (error != MPI_SUCCESS) return error;
  if (!delivers(comm)) return persistent_Recv(buf, count, datatype, source, recvtag, comm, status);
  return real.Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, now(comm), status);
}

int persistent_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                         void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                         MPI_Request* request) {
  const int error = store({sendbuf, sendcount, sendtype, dest, sendtag, comm});
  if (error != MPI_SUCCESS) return error;
  if (delivers(comm)) {
    return real.Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                          now(comm), request);
  }
  return persistent_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, request);
}

int persistent_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                 int recvtag, MPI_Comm comm, MPI_Request* request) {
  const int error = store({buf, count, datatype, dest, sendtag, comm});
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
      return libfenix.probe({source, tag, comm, !delivers(comm)}, &flag, status);
    });
    if (error != MPI_SUCCESS) return raise_on(comm, error);
    if (flag != 0) return MPI_SUCCESS;
  }
  return real.Probe(source, tag, now(comm), status);
}

int persistent_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  *flag = 0;
  if (looks_at_store(comm)) {
    const int error = call_libfenix([&](const PersistServices& libfenix) {
      return libfenix.probe({source, tag, comm, false}, flag, status);
    });
    if (error != MPI_SUCCESS) return raise_on(comm, error);
    if (*flag != 0) return MPI_SUCCESS;
  }
  return delivers(comm) ? real.Iprobe(source, tag, now(comm), flag, status) : MPI_SUCCESS;
}

int persistent_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (delivers(comm) && !looks_at_store(comm)) return real.Mprobe(source, tag, now(comm), message, status);
  int flag = 0;
  const int error = match_stored({source, tag, comm, !delivers(comm)}, &flag, message, status);
  if (error != MPI_SUCCESS) return raise_on(comm, error);
  if (flag != 0) return MPI_SUCCESS;
  return real.Mprobe(source, tag, now(comm), message, status);
}

int persistent_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  *flag = 0;
  if (looks_at_store(comm)) {
    const int error = match_stored({source, tag, comm, false}, flag, message, status);
    if (error != MPI_SUCCESS) return raise_on(comm, error);
    if (*flag != 0) return MPI_SUCCESS;
  }
  return delivers(comm) ? real.Improbe(source, tag, now(comm), flag, message, status) : MPI_SUCCESS;
}

}  // namespace fenix_impl
