// SPDX-License-Identifier: BSD-3-Clause
// Messages on persistent communicators, beside all else. A file of the run says how far each sender has come: what is received must be
// the last message whose send has returned, or the one that was under way.
#include "persisting.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "journal.hpp"
#include "state.hpp"

namespace torture {
namespace {

constexpr int kMostProcesses = 16;
constexpr std::uint64_t kPersist = 105;  // purpose of numbers that are drawn
constexpr int kToSelf = 1;
constexpr int kToNext = 2;

/// How far a slot has come with its messages with a tag.
struct Progress {
  std::atomic<std::int64_t> begun;
  std::atomic<std::int64_t> stored;
};

struct Persisting {
  Progress* progress = nullptr;
  MPI_Comm alone = MPI_COMM_NULL;
  MPI_Comm everyone = MPI_COMM_NULL;
  std::int64_t number = 0;  // of this slot's latest message
  int ranks_at_first = 0;
};

Persisting persisting;

Progress& of(int slot, int tag) { return persisting.progress[slot * 2 + tag - 1]; }

bool is_whole() { return state.ranks == persisting.ranks_at_first; }

/// Makes a communicator. In resume mode "return", the call goes on after a repair: only the callback tells of it.
MPI_Comm make(MPI_Comm comm, const char* key) {
  using Persist = int (*)(MPI_Comm, const char*, MPI_Info, MPI_Comm*);
  static const auto persist = reinterpret_cast<Persist>(dlsym(RTLD_DEFAULT, "MPI_Comm_persist"));
  require(persist != nullptr, "MPI_Comm_persist is not there");
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_copies", std::to_string(state.plan.persist_copies).c_str());
  MPI_Info_set(info, "persist_volume", "4000000");
  MPI_Info_set(info, "persist_missing", "error");
  MPI_Comm made = MPI_COMM_NULL;
  const int code = persist(comm, key, info, &made);
  MPI_Info_free(&info);
  mpi(code);
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

void make_communicators() {
  const std::int64_t repairs = state.repairs;
  const bool keeps = state.plan.resume == "return";
  if (persisting.alone == MPI_COMM_NULL || !keeps) persisting.alone = make(MPI_COMM_SELF, "torture");
  // One that has come into being on some ranks only is none. A survivor may be in this call while the communicator shrinks, so a
  // rank that is new makes it too.
  if (!keeps && is_whole()) persisting.everyone = make(state.comm, "torture");
  if (keeps && !is_valid(persisting.everyone)) persisting.everyone = make(state.comm, "torture");
  if (state.repairs != repairs) throw Cut();
}

Bytes message(int slot, int tag, std::int64_t number) {
  const auto sender = static_cast<std::uint64_t>(slot);
  const std::uint64_t dice =
      draw(state.plan.seed, {kPersist, sender, static_cast<std::uint64_t>(tag), static_cast<std::uint64_t>(number)});
  const std::size_t most = dice % 8 == 0 ? 300000 : dice % 2 == 0 ? 5000 : 100;
  Bytes bytes(sizeof number + (dice >> 8U) % most);
  std::memcpy(bytes.data(), &number, sizeof number);
  for (std::size_t i = sizeof number; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(dice % 251 + i);
  return bytes;
}

void store(MPI_Comm comm, int destination, int tag) {
  const Bytes bytes = message(Fenix_get_slot(), tag, persisting.number);
  Progress& own = of(Fenix_get_slot(), tag);
  own.begun = persisting.number;
  mpi(MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, destination, tag, comm));
  own.stored = persisting.number;
}

/// Returns the number of the message that is received, or 0 if there is none.
std::int64_t receive(MPI_Comm comm, int source, int slot, int tag) {
  static Bytes room(400000);
  const std::int64_t least = of(slot, tag).stored;
  MPI_Status status;
  const int code = MPI_Recv(room.data(), static_cast<int>(room.size()), MPI_BYTE, source, tag, comm, &status);
  const bool none = code == MPI_ERR_OTHER && std::strstr(Fenix_Error_message(), "nothing has been stored") != nullptr;
  if (!none) mpi(code);
  std::int64_t number = 0;
  if (!none) {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    require(count >= static_cast<int>(sizeof number), "a message is too short");
    std::memcpy(&number, room.data(), sizeof number);
    const Bytes wanted = message(slot, tag, number);
    const Bytes got(room.begin(), room.begin() + count);
    state.bytes_checked += count;
    require(got == wanted, "the bytes of message " + std::to_string(number) + " of slot " + std::to_string(slot));
    require(number <= of(slot, tag).begun, "a message that was never sent");
  }
  if (number < least && state.plan.persist_is_covered) {
    fail("lost", "received message " + std::to_string(number) + " of slot " + std::to_string(slot) +
                     ", which had stored " + std::to_string(least));
  }
  return number;
}

int slot_of(int rank) {
  int slot = -1;
  success(Fenix_rank_to_slot(state.comm, rank, &slot), "rank_to_slot");
  return slot;
}

void check() {
  const int me = Fenix_get_slot();
  (void)receive(persisting.alone, 0, me, kToSelf);
  if (!is_whole()) return;
  const int before = (state.rank + state.ranks - 1) % state.ranks;
  (void)receive(persisting.everyone, before, slot_of(before), kToNext);
}

}  // namespace

void open_progress(const std::string& folder) {
  const std::string name = folder + "/persisting";
  const std::size_t bytes = sizeof(Progress) * 2 * kMostProcesses;
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  require(file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0, "the file of the messages");
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  require(memory != MAP_FAILED, "memory of the file of the messages");
  ::close(file);
  MPI_Comm_size(MPI_COMM_WORLD, &persisting.ranks_at_first);
  persisting.ranks_at_first -= state.plan.spares;
  persisting.progress = static_cast<Progress*>(memory);
}

void take_up_messages() {
  if (state.plan.persist_copies == 0) return;
  make_communicators();
  int failed = 0;
  success(Fenix_Failure(&failed), "Fenix_Failure");
  check();
  // Numbers of a sender ascend, also if it has lost its own.
  for (const int tag : {kToSelf, kToNext}) {
    persisting.number = std::max<std::int64_t>(persisting.number, of(Fenix_get_slot(), tag).begun);
  }
  note("messages " + std::to_string(failed) + " " + std::to_string(persisting.number));
}

void store_messages(std::int64_t step) {
  if (state.plan.persist_copies == 0) return;
  const std::uint64_t dice = draw(state.plan.seed, {kPersist, static_cast<std::uint64_t>(step)});
  for (std::uint64_t i = 0; i < dice % 4; ++i) {
    ++persisting.number;
    store(persisting.alone, 0, kToSelf);
    if (is_whole()) store(persisting.everyone, (state.rank + 1) % state.ranks, kToNext);
  }
  if (dice % 3 == 0) check();
}

}  // namespace torture
