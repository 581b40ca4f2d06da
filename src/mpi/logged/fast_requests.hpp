// SPDX-License-Identifier: BSD-3-Clause
// Requests of a program that knows nothing of Fenix, for messages of which MPI has all that it needs: the program waits in MPI for them, and then
// they are counted. The program has a handle that stays when MPI ends a request after a failure. In all other cases they become stand-ins.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "interposition/open_numbers.hpp"
#include "mpi/base/message_calls.hpp"

namespace fenix_impl {

/// A request, or a place for one. The handle is a request of MPI that does nothing, and is used again with its place.
struct FastRequest {
  MPI_Request handle = MPI_REQUEST_NULL;
  MPI_Request inner = MPI_REQUEST_NULL;
  bool is_used = false;
  bool is_send = false;
  unsigned repairs = 0;         // before it began
  unsigned generation = 0;      // of what was allowed
  OpenNumbers* open = nullptr;  // of a receive
  std::uint64_t order = 0;      // of a receive
  LoggedReceive receive;
  Send send;               // of a send
  std::uint64_t sent = 0;  // number of a synchronous message in the log, or 0
  std::size_t place_in_use = 0;
};

/// All of them. There are none where calls of several threads may overlap: no lock.
class FastRequests {
 public:
  [[nodiscard]] bool empty() const { return used_.empty(); }
  [[nodiscard]] const std::vector<FastRequest*>& used() const { return used_; }
  /// Returns null if there is none.
  [[nodiscard]] FastRequest* find(MPI_Request handle) {
    if (places_.empty()) return nullptr;
    for (std::size_t at = first_place(handle);; at = (at + 1) & (places_.size() - 1)) {
      FastRequest* const each = places_[at];
      if (each == nullptr) return nullptr;
      if (each->handle == handle) return each->is_used ? each : nullptr;
    }
  }
  /// Returns a place with a handle; null if MPI makes none.
  [[nodiscard]] FastRequest* take() {
    if (free_.empty() && !make()) return nullptr;
    FastRequest* const taken = free_.back();
    free_.pop_back();
    taken->is_used = true;
    taken->place_in_use = used_.size();
    used_.push_back(taken);
    return taken;
  }
  void give_back(FastRequest* request) {
    remove_from_used(request);
    free_.push_back(request);
  }
  /// Gives up a place whose handle is somebody else's now.
  void give_up(FastRequest* request) {
    remove_from_used(request);
    request->handle = MPI_REQUEST_NULL;
    without_handle_.push_back(request);
  }

 private:
  [[nodiscard]] static int make_handle(MPI_Request* handle);
  [[nodiscard]] std::size_t first_place(MPI_Request handle) const {
    constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(handle) * kGoldenRatio) >> 32U) &
           (places_.size() - 1);
  }
  [[nodiscard]] bool make() {
    MPI_Request handle = MPI_REQUEST_NULL;
    if (make_handle(&handle) != MPI_SUCCESS) return false;
    FastRequest* made = nullptr;
    if (!without_handle_.empty()) {
      made = without_handle_.back();
      without_handle_.pop_back();
    } else {
      made = &all_.emplace_back();
    }
    made->handle = handle;
    free_.push_back(made);
    if (2 * ++taken_places_ > places_.size()) return find_places();
    put(made);
    return true;
  }
  // One that has got another handle is in its former place, too.
  void put(FastRequest* request) {
    std::size_t at = first_place(request->handle);
    while (places_[at] != nullptr) at = (at + 1) & (places_.size() - 1);
    places_[at] = request;
  }
  bool find_places() {
    constexpr std::size_t kLeast = 64;
    std::size_t size = kLeast;
    while (size < 4 * all_.size()) size *= 2;
    places_.assign(size, nullptr);
    for (FastRequest& each : all_) {
      if (each.handle != MPI_REQUEST_NULL) put(&each);
    }
    taken_places_ = all_.size();
    return true;
  }
  void remove_from_used(FastRequest* request) {
    request->is_used = false;
    used_.back()->place_in_use = request->place_in_use;
    used_[request->place_in_use] = used_.back();
    used_.pop_back();
  }

  std::deque<FastRequest> all_;
  std::vector<FastRequest*> places_;  // by handle
  std::size_t taken_places_ = 0;
  std::vector<FastRequest*> free_;
  std::vector<FastRequest*> without_handle_;
  std::vector<FastRequest*> used_;
};

FastRequests& fast_requests();

/// Whether there is a receive on a communicator.
[[nodiscard]] bool has_fast_receives_on(MPI_Comm comm);
/// Whether there is a receive with a type.
[[nodiscard]] bool uses_type_in_fast_requests(MPI_Datatype type);
/// Makes those among some requests stand-ins.
void make_stand_ins_of(int count, const MPI_Request* requests);
/// Makes all of them stand-ins.
void make_stand_ins_of_fast_requests();
/// Does so if there was a repair: receives have to begin anew, in their order.
void make_stand_ins_after_repair();

}  // namespace fenix_impl
