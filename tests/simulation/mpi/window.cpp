// SPDX-License-Identifier: BSD-3-Clause
// One-sided access. Puts land in pieces, in any order, until their request ends. Pieces of a process that has died since
// land or not.
#include <algorithm>
#include <cstring>
#include <memory>

#include "../cost.hpp"
#include "../memory.hpp"
#include "../tally.hpp"
#include "state.hpp"

namespace fenix_simulation::mpi {
namespace {

constexpr std::size_t kWord = 8;
constexpr Time kFastest = 400;
constexpr Time kSlow = 20'000;
constexpr Time kSlowest = 3'000'000;

/// Memory that each process offers.
struct Window {
  Comm* comm = nullptr;
  std::map<Pid, std::pair<std::byte*, std::size_t>> memory;
  std::map<Pid, std::map<int, std::uint64_t>> under_way;  ///< transfers, by origin and target
};

Window* window_of(MPI_Win handle) { return reinterpret_cast<Window*>(handle); }

/// An access that is under way.
struct Transfer {
  Request* request = nullptr;
  Process* origin = nullptr;
  Process* target = nullptr;
  bool is_put = false;
  std::vector<std::byte> data;  ///< of a put
  std::byte* local = nullptr;   ///< where that of a get goes
  std::byte* remote = nullptr;
  std::size_t left = 0;  ///< pieces
  std::uint64_t* under_way = nullptr;
};

/// Words of the dead that are still on their way when the others have recovered.
std::vector<std::shared_ptr<Transfer>>& late_words() {
  static std::vector<std::shared_ptr<Transfer>> late;
  return late;
}

bool is_word(const Transfer& transfer) {
  return transfer.data.size() == kWord &&
         std::any_of(transfer.data.begin(), transfer.data.end(), [](std::byte each) { return each != std::byte{0}; });
}

void land(const std::shared_ptr<Transfer>& landing, std::size_t begin, std::size_t bytes) {
  Transfer& transfer = *landing;
  if (!transfer.target->alive) return;  // never ends
  if (!transfer.origin->alive && transfer.is_put && is_word(transfer) && world().draw(Kind::loss, 4) >= 2) {
    late_words().push_back(landing);
    return;
  }
  if (!transfer.origin->alive && (!transfer.is_put || world().draw(Kind::loss, 2) == 1)) return;
  if (transfer.is_put) {
    std::memcpy(transfer.remote + begin, transfer.data.data() + begin, bytes);
    world().stir(*transfer.target);
    stir_readers(transfer.remote + begin);
  } else {
    std::memcpy(transfer.local + begin, transfer.remote + begin, bytes);
  }
  if (--transfer.left > 0) return;
  transfer.request->is_complete = true;
  transfer.origin->heap.take_back(transfer.local);
  --*transfer.under_way;
  if (transfer.origin->alive) world().stir(*transfer.origin);
}

Time time_of_landing(const Transfer& transfer, std::size_t bytes) {
  constexpr Time kLate = 20'000'000;
  World& here = world();
  if (machine() != nullptr) {
    return here.time_here() + machine()->access(transfer.origin->node == transfer.target->node, bytes);
  }
  if (here.surroundings().slow_network && here.draw(Kind::network, 2) == 1)
    return here.now() + here.draw(Kind::network, kFastest, kLate);
  if (here.draw(Kind::network, 32) == 31) return here.now() + here.draw(Kind::network, kFastest, kSlowest);
  return here.now() + here.draw(Kind::network, kFastest, kSlow);
}

void begin(const std::shared_ptr<Transfer>& transfer, std::size_t bytes) {
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t most = std::max<std::size_t>(1, (bytes - at) / kWord);
    const std::size_t piece = world().draw(Kind::tear, 3) == 0
                                  ? bytes - at
                                  : std::min(bytes - at, kWord * (1 + world().draw(Kind::tear, most)));
    pieces.emplace_back(at, piece);
    at += piece;
  }
  transfer->left = pieces.size();
  for (const auto& [at, piece] : pieces) {
    world().scheduler().at(time_of_landing(*transfer, piece),
                           [transfer, at = at, piece = piece] { land(transfer, at, piece); });
  }
  if (pieces.empty()) transfer->request->is_complete = true;
  if (!pieces.empty()) ++*transfer->under_way;
}

int transfer(bool is_put, void* local, int count, int target, MPI_Aint offset, MPI_Win handle, MPI_Request* made) {
  Window& window = *window_of(handle);
  world().step();
  note_call(is_put ? "Rput" : "Rget", window.comm, target, count);
  count_bytes(is_put ? scaling::puts : scaling::gets, is_put ? scaling::put_bytes : scaling::get_bytes,
              static_cast<std::size_t>(count));
  const Pid pid = window.comm->members().at(static_cast<std::size_t>(target));
  const auto [memory, size] = window.memory.at(pid);
  if (static_cast<std::size_t>(offset) + static_cast<std::size_t>(count) > size) {
    world().violate("an access beyond a window", "P3");
  }
  Request* request = take_request();
  request->form = Request::Form::send;
  request->comm = window.comm;
  request->peer = target;
  auto begun = std::make_shared<Transfer>();
  begun->request = request;
  begun->origin = &self();
  begun->target = world().find(pid);
  begun->is_put = is_put;
  begun->local = static_cast<std::byte*>(local);
  begun->remote = memory + offset;
  if (is_put) begun->data.assign(begun->local, begun->local + count);
  // The data of a put was copied above, as a network may do it; the program does not know that.
  if (Heap::has(local) && count > 0) self().heap.lend(begun->local, static_cast<std::size_t>(count));
  begun->under_way = &window.under_way[self().pid][target];
  begin(begun, static_cast<std::size_t>(count));
  *made = reinterpret_cast<MPI_Request>(request);
  return MPI_SUCCESS;
}

}  // namespace

void land_late_words() {
  for (const auto& each : late_words()) {
    if (!each->target->alive) continue;
    std::memcpy(each->remote, each->data.data(), kWord);
    stir_readers(each->remote);
  }
  late_words().clear();
}

// A meeting of this kind is in collective.cpp.
Meeting& meet_for_window(Comm* comm, void* memory, std::size_t bytes, int& error);

}  // namespace fenix_simulation::mpi

using namespace fenix_simulation::mpi;
using fenix_simulation::Pid;
using fenix_simulation::world;

FENIX_MPI(int, _Win_create,
          (void* memory, MPI_Aint bytes, int /*unit*/, MPI_Info /*info*/, MPI_Comm comm, MPI_Win* made)) {
  Comm* object = comm_of(comm);
  note_call("Win_create", object);
  fenix_simulation::count_call(scaling::windows);
  *made = MPI_WIN_NULL;
  int error = MPI_SUCCESS;
  Meeting& meeting = meet_for_window(object, memory, static_cast<std::size_t>(bytes), error);
  if (error != MPI_SUCCESS) return raise(object, error);
  if (meeting.object == nullptr) {
    auto* window = world().objects().make<Window>();
    window->comm = object;
    for (const auto& [pid, data] : meeting.given) {
      std::pair<std::byte*, std::size_t> its;
      std::memcpy(&its.first, data.data(), sizeof its.first);
      std::memcpy(&its.second, data.data() + sizeof its.first, sizeof its.second);
      window->memory[pid] = its;
    }
    meeting.object = window;
  }
  *made = reinterpret_cast<MPI_Win>(meeting.object);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Win_lock_all, (int /*assertion*/, MPI_Win /*window*/)) { return MPI_SUCCESS; }

// Open MPI counts the accesses to all targets together.
FENIX_MPI(int, _Win_flush, (int target, MPI_Win window)) {
  auto& targets = window_of(window)->under_way[self().pid];
  const bool flushes_all = world().surroundings().open_mpi;
  const auto end = targets.end();
  for (auto each = flushes_all ? targets.begin() : targets.find(target); each != end; ++each) {
    while (each->second > 0) world().idle();
    if (!flushes_all) break;
  }
  world().step();
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Rput,
          (const void* data, int count, MPI_Datatype /*type*/, int target, MPI_Aint offset, int /*there*/,
           MPI_Datatype /*its_type*/, MPI_Win window, MPI_Request* made)) {
  return transfer(true, const_cast<void*>(data), count, target, offset, window, made);
}

FENIX_MPI(int, _Rget,
          (void* data, int count, MPI_Datatype /*type*/, int target, MPI_Aint offset, int /*there*/,
           MPI_Datatype /*its_type*/, MPI_Win window, MPI_Request* made)) {
  return transfer(false, data, count, target, offset, window, made);
}
