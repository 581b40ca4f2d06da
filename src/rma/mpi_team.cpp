// SPDX-License-Identifier: BSD-3-Clause
#include "rma/mpi_team.hpp"

#include <unistd.h>
#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstring>
#include <fstream>
#include <string>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

// MPI counts are ints: larger messages go in pieces.
constexpr std::size_t kPiece = std::size_t{1} << 30;

// How long a request of a dissolved team may take to end: MPI has to let go of our buffers before they go away.
constexpr std::chrono::seconds kGrace{10};

// Two processes share a node if they see the same kernel and the same process ids.
std::uint64_t node_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  std::array<char, 128> space{};
  const ssize_t length = readlink("/proc/self/ns/pid", space.data(), space.size());
  id.append(space.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return hash_bytes(std::as_bytes(std::span(id)));
}

}  // namespace

bool is_failure(int mpi_error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(mpi_error, &error_class);
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_PROC_FAILED_PENDING ||
         error_class == MPIX_ERR_REVOKED;
}

void check_mpi(int mpi_error, const char* call) {
  if (mpi_error == MPI_SUCCESS) return;
  if (is_failure(mpi_error)) throw PeerFailure(mpi_error);
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(mpi_error, text.data(), &length);
  throw Error(FENIX_ERROR_NOCATEGORY, std::string(call) + ": " + text.data());
}

MpiTeam::MpiTeam(MPI_Comm comm, MPI_Comm resilient) : resilient_(resilient) {
  check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  try {
    find_node();
  } catch (...) {
    dissolve();
    MPI_Comm_free(&comm_);
    throw;
  }
}

MpiTeam::~MpiTeam() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (comm_ != MPI_COMM_NULL && finalized == 0) MPI_Comm_free(&comm_);
}

void MpiTeam::find_node() {
  const std::uint64_t mine = node_id();
  const auto nodes = gather(mine);
  on_one_node_ = std::all_of(nodes.begin(), nodes.end(), [&](std::uint64_t node) { return node == mine; });
}

void MpiTeam::check() {
  int found = 0;
  // Looks at the failures known in this process, at revocation, and lets MPI make progress, all in one call.
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
  int revoked = 0;
  check_mpi(MPIX_Comm_is_revoked(resilient_, &revoked), "MPIX_Comm_is_revoked");
  if (revoked != 0) throw PeerFailure(MPIX_ERR_REVOKED);
}

void MpiTeam::wait(MPI_Request request, const char* waited_for, bool settle) {
  const Deadline deadline;
  int done = 0;
  try {
    while (true) {
      // The team's own failure first: a request that has ended well counts, whatever else has happened.
      const int error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (error != MPI_SUCCESS) request = MPI_REQUEST_NULL;
      check_mpi(error, waited_for);
      if (done != 0) return;
      check();
      deadline.check(waited_for);
    }
  } catch (...) {
    dissolve();
    const Deadline grace(kGrace);
    while (settle && request != MPI_REQUEST_NULL && !grace.passed()) {
      if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0) request = MPI_REQUEST_NULL;
    }
    throw;
  }
}

void MpiTeam::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (mine.size() > INT_MAX) throw Error(FENIX_ERROR_INTERN, "an exchange of more than 2 GiB per rank");
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(mine.size());
  check_mpi(MPI_Iallgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, comm_, &request),
            "MPI_Iallgather");
  wait(request, "MPI_Iallgather", true);
}

void MpiTeam::broadcast(std::span<std::byte> data, int root) {
  while (!data.empty()) {
    const auto piece = data.first(std::min(data.size(), kPiece));
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, comm_, &request), "MPI_Ibcast");
    wait(request, "MPI_Ibcast", true);
    data = data.subspan(piece.size());
  }
}

void MpiTeam::dissolve() noexcept {
  if (comm_ == MPI_COMM_NULL) return;
  int revoked = 0;
  MPIX_Comm_is_revoked(comm_, &revoked);
  if (revoked == 0) MPIX_Comm_revoke(comm_);
}

}  // namespace fenix_impl
