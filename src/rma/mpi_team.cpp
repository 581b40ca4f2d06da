// SPDX-License-Identifier: BSD-3-Clause
#include "rma/mpi_team.hpp"

#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "rma/freeing.hpp"
#include "rma/processes.hpp"
#include "rma/quiet_comm.hpp"

namespace fenix_impl {
namespace {

// MPI counts are ints: larger messages go in pieces.
constexpr std::size_t kMessagePiece = std::size_t{1} << 30;

constexpr int kTeamTag = 2;

// Says that its sender has withdrawn; never received. A probe that finds no message makes progress for everything else.
constexpr int kWithdrawalTag = 3;

// How long a request may take to end after a failure: MPI has to give our buffers back before they go away.
constexpr std::chrono::seconds kGrace{10};

constexpr std::chrono::milliseconds kTimeBetweenLooks{1};

// Returns whether Open MPI can make a communicator. It says only that there is an internal error if it has no number for one.
bool has_number_left() {
  const QuietComm quiet(MPI_COMM_SELF);
  MPI_Comm made = MPI_COMM_NULL;
  if (MPI_Comm_dup(MPI_COMM_SELF, &made) != MPI_SUCCESS) return false;
  free_unseen([](MPI_Comm* comm) { return MPI_Comm_free(comm); }, &made);
  return true;
}

void check_length(std::uint64_t bytes) {
  if (bytes > Team::kMostBytes) throw Error(FENIX_ERROR_INTERN, "what a rank says is longer than can be");
}

}  // namespace

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

MpiTeam::MpiTeam(MPI_Comm comm, MPI_Comm resilient, SilenceWatch& watch, std::vector<bool> near,
                 MPI_Errhandler meanwhile)
    : resilient_(resilient), watch_(&watch), owns_comm_(true), near_(std::move(near)) {
  {
    const SilenceWatch::Wait wait(watch, SilenceWatch::Wait::Kind::any);
    // The duplicate must not inherit a handler by which a repair finds communicators to revoke: if it fails, it may be
    // half made then, and Open MPI crashes. (MPI_Comm_idup could have a deadline, but a death during it ends the job.)
    const QuietComm quiet(comm, meanwhile);
    const int result = MPI_Comm_dup(comm, &comm_);
    if (result != MPI_SUCCESS && !is_failure(result) && !has_number_left()) {
      throw Error(FENIX_ERROR_NO_MEMORY,
                  "MPI has no number for another communicator (Open MPI: 65,535 in each process)");
    }
    check_mpi(result, "MPI_Comm_dup");
  }
  MPI_Comm_set_errhandler(comm_, library_errors_return());
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

MpiTeam::MpiTeam(MPI_Comm comm, int size, MPI_Comm resilient) : comm_(comm), resilient_(resilient), size_(size) {
  MPI_Comm_rank(comm_, &rank_);
}

MpiTeam::~MpiTeam() {
  int finalized = 0;
  int revoked = 0;
  MPI_Finalized(&finalized);
  if (!owns_comm_ || finalized != 0) return;
  // A damaged communicator is abandoned: Open MPI would give its number to the next one, and messages of the old one that
  // are still on their way would be taken for messages of the new one.
  if (!sound_ || MPIX_Comm_is_revoked(resilient_, &revoked) != MPI_SUCCESS || revoked != 0) return;
  free_unseen([](MPI_Comm* comm) { return MPI_Comm_free(comm); }, &comm_);
}

void MpiTeam::check() {
  // An earlier caller that got this failure may have gone on without the peer.
  if (failure_ != MPI_SUCCESS) throw PeerFailure(failure_);
  try {
    look_for_failures();
  } catch (const PeerFailure& peer) {
    sound_ = false;
    failure_ = peer.mpi_error();
    throw;
  } catch (...) {
    sound_ = false;
    throw;
  }
}

Location MpiTeam::location() const { return this_location(); }

void MpiTeam::look_for_failures() {
  look_for_withdrawals();
  int revoked = 0;
  check_mpi(MPIX_Comm_is_revoked(resilient_, &revoked), "MPIX_Comm_is_revoked");
  if (revoked != 0) throw PeerFailure(MPIX_ERR_REVOKED);
  // A probe does not tell of deaths in Open MPI 5. Asking for them takes a lock and compares groups: not at every turn.
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + kTimeBetweenLooks;
  MPI_Group failed = MPI_GROUP_NULL;
  int count = 0;
  check_mpi(MPIX_Comm_get_failed(resilient_, &failed), "MPIX_Comm_get_failed");
  MPI_Group_size(failed, &count);
  MPI_Group_free(&failed);
  if (count > 0) throw PeerFailure(MPIX_ERR_PROC_FAILED);
}

// Lets MPI make progress, too, which is how it learns of deaths and revocations.
void MpiTeam::look_for_withdrawals() {
  if (withdrawn_) throw Error(out_of_memory());
  int found = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, kWithdrawalTag, comm_, &found, &status), "MPI_Iprobe");
  if (found == 0) return;
  throw Error(FENIX_ERROR_NO_MEMORY, "rank " + std::to_string(status.MPI_SOURCE) + " has no memory to go on with");
}

void MpiTeam::wait(MPI_Request request, const char* waited_for) {
  const Deadline deadline;
  for (int done = 0; done == 0;) {
    check_access(MPI_Test(&request, &done, MPI_STATUS_IGNORE), waited_for);
    if (done != 0) return;
    check();
    if (!deadline.passed()) continue;
    sound_ = false;  // it is still under way
    deadline.check(waited_for);
  }
}

void MpiTeam::check_access(int mpi_error, const char* call) {
  if (mpi_error == MPI_SUCCESS) return;
  sound_ = false;
  if (is_failure(mpi_error)) failure_ = mpi_error;
  check_mpi(mpi_error, call);
}

MpiTeam::Message MpiTeam::incoming(std::span<std::byte> data, int from) {
  return {data.data(), data.size(), from, false};
}

MpiTeam::Message MpiTeam::outgoing(std::span<const std::byte> data, int to) {
  return {const_cast<std::byte*>(data.data()), data.size(), to, true};
}

void MpiTeam::carry(std::span<const Message> messages, std::span<MPI_Request> requests) {
  if (withdrawn_) throw Error(out_of_memory());
  std::fill(requests.begin(), requests.end(), MPI_REQUEST_NULL);
  try {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto& [data, bytes, peer, is_sent] = messages[i];
      const int count = static_cast<int>(bytes);
      check_mpi(is_sent ? MPI_Isend(data, count, MPI_BYTE, peer, kTeamTag, comm_, &requests[i])
                        : MPI_Irecv(data, count, MPI_BYTE, peer, kTeamTag, comm_, &requests[i]),
                is_sent ? "MPI_Isend" : "MPI_Irecv");
    }
    const Deadline deadline;
    while (true) {
      bool all_done = true;
      for (std::size_t i = 0; i < messages.size(); ++i) {
        int done = 0;
        check_mpi(MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE),
                  messages[i].is_sent ? "a message to a peer" : "a message from a peer");
        all_done = all_done && done != 0;
      }
      if (all_done) return;
      check();
      deadline.check("a message from or to a peer");
    }
  } catch (const PeerFailure& peer) {
    sound_ = false;
    failure_ = peer.mpi_error();
    // All leave for the repair: end what is under way at once.
    if (owns_comm_) dissolve();
    finish(messages, requests);
    throw;
  } catch (...) {
    sound_ = false;
    finish(messages, requests);
    throw;
  }
}

void MpiTeam::finish(std::span<const Message> messages, std::span<MPI_Request> requests) noexcept {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].is_sent && requests[i] != MPI_REQUEST_NULL) MPI_Cancel(&requests[i]);
  }
  const Deadline grace(kGrace);
  const Deadline patience(kGrace / 2);
  for (MPI_Request& request : requests) {
    int done = 0;
    while (request != MPI_REQUEST_NULL && done == 0 && !grace.passed()) {
      if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) request = MPI_REQUEST_NULL;
      if (patience.passed()) dissolve();
    }
  }
}

void MpiTeam::exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from) {
  while (!out.empty() || !in.empty()) {
    const auto out_piece = out.first(std::min(out.size(), kMessagePiece));
    const auto in_piece = in.first(std::min(in.size(), kMessagePiece));
    const std::array<Message, 2> messages{incoming(in_piece, from), outgoing(out_piece, to)};
    std::array<MPI_Request, messages.size()> requests{};
    carry(messages, requests);
    out = out.subspan(out_piece.size());
    in = in.subspan(in_piece.size());
  }
}

// Bruck's algorithm: after each round a rank has the pieces of twice as many ranks, its own and those that follow. self: its place
// among them. rank_at: the rank at a place.
template <class RankAt>
void MpiTeam::spread(std::size_t ranks, std::size_t self, std::span<const std::byte> mine, std::span<std::byte> all,
                     RankAt&& rank_at) {
  const std::size_t bytes = mine.size();
  std::vector<std::byte> pieces(bytes * ranks);
  std::copy(mine.begin(), mine.end(), pieces.begin());
  for (std::size_t have = 1; have < ranks; have *= 2) {
    const std::size_t amount = std::min(have, ranks - have) * bytes;
    const int to = rank_at((self + ranks - have) % ranks);
    const int from = rank_at((self + have) % ranks);
    exchange(std::span(pieces).first(amount), to, std::span(pieces).subspan(have * bytes, amount), from);
  }
  for (std::size_t i = 0; i < ranks; ++i) {
    const auto piece = std::span(pieces).subspan(i * bytes, bytes);
    std::copy(piece.begin(), piece.end(), all.begin() + static_cast<std::ptrdiff_t>((self + i) % ranks * bytes));
  }
}

void MpiTeam::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  spread(static_cast<std::size_t>(size_), static_cast<std::size_t>(rank_), mine, all,
         [](std::size_t place) { return static_cast<int>(place); });
}

void MpiTeam::allgather_among(std::span<const int> ranks, std::span<const std::byte> mine, std::span<std::byte> all) {
  const auto self = static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank_) - ranks.begin());
  spread(ranks.size(), self, mine, all, [&](std::size_t place) { return ranks[place]; });
}

// A binomial tree: in each round every rank that has the data passes it on to the rank that is that far away.
void MpiTeam::broadcast(std::span<std::byte> data, int root) {
  const int position = (rank_ - root + size_) % size_;
  for (int distance = 1; distance < size_; distance *= 2) {
    if (position < distance) {
      if (position + distance < size_) exchange(data, (rank_ + distance) % size_, {}, MPI_PROC_NULL);
    } else if (position < 2 * distance) {
      exchange({}, MPI_PROC_NULL, data, (rank_ - distance + size_) % size_);
    }
  }
}

// Dissemination: after each round a rank has what the 1, 2, 4, … ranks before it and itself have said; of some, more than once.
void MpiTeam::allreduce(std::span<std::byte> mine, const Merge& merge) {
  const auto said = std::span(reduced_).first(mine.size());
  for (int distance = 1; distance < size_; distance *= 2) {
    exchange(mine, (rank_ + distance) % size_, said, (rank_ - distance + size_) % size_);
    merge(mine, said);
  }
}

// As above. An empty list is not sent: the receiver has been told.
void MpiTeam::allreduce_lists(std::vector<std::byte>& mine, const MergeLists& merge) {
  std::vector<std::byte> said;
  for (int distance = 1; distance < size_; distance *= 2) {
    const int to = (rank_ + distance) % size_;
    const int from = (rank_ - distance + size_) % size_;
    const std::uint64_t length = mine.size();
    std::uint64_t length_of_said = 0;
    exchange(std::as_bytes(std::span(&length, 1)), to, std::as_writable_bytes(std::span(&length_of_said, 1)), from);
    check_length(length_of_said);
    said.resize(length_of_said);
    exchange(mine, mine.empty() ? MPI_PROC_NULL : to, said, said.empty() ? MPI_PROC_NULL : from);
    merge(mine, said);
  }
}

std::vector<std::vector<std::byte>> MpiTeam::exchange_with(std::span<const int> peers,
                                                           std::span<const std::byte> mine) {
  const std::uint64_t length = mine.size();
  check_length(length);
  std::vector<std::uint64_t> lengths(peers.size());
  std::vector<Message> messages;
  std::vector<MPI_Request> requests(2 * peers.size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    messages.push_back(incoming(std::as_writable_bytes(std::span(&lengths[i], 1)), peers[i]));
    messages.push_back(outgoing(std::as_bytes(std::span(&length, 1)), peers[i]));
  }
  carry(messages, requests);
  std::vector<std::vector<std::byte>> said(peers.size());
  messages.clear();
  for (std::size_t i = 0; i < peers.size(); ++i) {
    check_length(lengths[i]);
    said[i].resize(lengths[i]);
    if (!said[i].empty()) messages.push_back(incoming(said[i], peers[i]));
    if (!mine.empty()) messages.push_back(outgoing(mine, peers[i]));
  }
  carry(messages, std::span(requests).first(messages.size()));
  return said;
}

// Bruck's algorithm: a number for the rank that is so far away goes there in steps of 1, 2, 4, …, together with others.
std::vector<std::uint64_t> MpiTeam::swap_numbers(std::span<const std::uint64_t> mine) {
  const auto ranks = static_cast<std::size_t>(size_);
  const auto self = static_cast<std::size_t>(rank_);
  std::vector<std::uint64_t> by_distance(ranks);
  for (std::size_t i = 0; i < ranks; ++i) by_distance[i] = mine[(self + i) % ranks];
  for (std::size_t step = 1; step < ranks; step *= 2) {
    std::vector<std::uint64_t> out;
    for (std::size_t i = 0; i < ranks; ++i) {
      if ((i & step) != 0) out.push_back(by_distance[i]);
    }
    std::vector<std::uint64_t> in(out.size());
    exchange(std::as_bytes(std::span(out)), static_cast<int>((self + step) % ranks),
             std::as_writable_bytes(std::span(in)), static_cast<int>((self + ranks - step) % ranks));
    auto next = in.begin();
    for (std::size_t i = 0; i < ranks; ++i) {
      if ((i & step) != 0) by_distance[i] = *next++;
    }
  }
  std::vector<std::uint64_t> of_ranks(ranks);
  for (std::size_t i = 0; i < ranks; ++i) of_ranks[(self + ranks - i) % ranks] = by_distance[i];
  return of_ranks;
}

// A number for each rank says what is to come. Long words go only to those whom they are for.
Team::Words MpiTeam::deliver(const Words& words) {
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size_));
  for (const auto& [to, content] : words) {
    check_length(content.size());
    lengths.at(static_cast<std::size_t>(to)) = content.size();
  }
  lengths = swap_numbers(lengths);
  Words told;
  std::vector<Message> messages;
  for (int from = 0; from < size_; ++from) {
    const std::uint64_t length = lengths[static_cast<std::size_t>(from)];
    check_length(length);
    if (length == 0) continue;
    auto& content = told[from];
    content.resize(length);
    messages.push_back(incoming(content, from));
  }
  for (const auto& [to, content] : words) {
    if (!content.empty()) messages.push_back(outgoing(content, to));
  }
  std::vector<MPI_Request> requests(messages.size());
  carry(messages, requests);
  return told;
}

void MpiTeam::withdraw() noexcept {
  withdrawn_ = true;
  if (!sound_) return;
  sound_ = false;
  for (int other = 0; other < size_; ++other) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (other == rank_) continue;
    if (MPI_Isend(nullptr, 0, MPI_BYTE, other, kWithdrawalTag, comm_, &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }
}

void MpiTeam::dissolve() noexcept {
  if (comm_ == MPI_COMM_NULL) return;
  int revoked = 0;
  MPIX_Comm_is_revoked(comm_, &revoked);
  if (revoked == 0) MPIX_Comm_revoke(comm_);
}

}  // namespace fenix_impl
