// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window_path.hpp"

#include <mpi.h>

#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "rma/mpi_errors.hpp"

namespace fenix_impl {
namespace {

// MPI counts are ints: larger transfers go in pieces.
constexpr std::size_t kPutPiece = std::size_t{1} << 28;
// Fetched bytes land in memory of the path: MPI cannot call a get off, and the caller's memory may be gone when it lands.
constexpr std::size_t kLanding = std::size_t{1} << 20;
// So many bytes of copies may be under way.
constexpr std::size_t kMostCopied = std::size_t{4} << 20;

class WindowRemoteRegions final : public RemoteRegions {
 public:
  WindowRemoteRegions(MpiTeam& team, std::span<const std::byte> own, MPI_Win window,
                      std::shared_ptr<Exposures> exposures, std::uint32_t number)
      : team_(team), own_(own), window_(window), exposures_(std::move(exposures)), number_(number) {}
  // The window is abandoned: freeing it waits for all its ranks, also for one that has left for a repair.
  ~WindowRemoteRegions() override { exposures_->close(number_); }

  void put(int target, std::size_t offset, std::span<const std::byte> data) override {
    if (is_own(data)) return put_lasting(target, offset, data);
    // The caller's memory may be gone when MPI reads it, after a failure.
    while (!data.empty()) {
      const auto piece = data.first(std::min(data.size(), kLanding));
      if (copied_ + piece.size() > kMostCopied) flush(target);
      copied_ += piece.size();
      put_lasting(target, offset, copies_->emplace_back(piece.begin(), piece.end()));
      data = data.subspan(piece.size());
      offset += piece.size();
    }
  }

  void get(int target, std::size_t offset, std::span<std::byte> data) override {
    if (data.empty()) return;
    auto landing = std::make_unique_for_overwrite<std::byte[]>(std::min(data.size(), kLanding));
    try {
      while (!data.empty()) {
        const auto piece = data.first(std::min(data.size(), kLanding));
        MPI_Request request = MPI_REQUEST_NULL;
        const int count = static_cast<int>(piece.size());
        team_.check_access(MPI_Rget(landing.get(), count, MPI_BYTE, target, static_cast<MPI_Aint>(offset), count,
                                    MPI_BYTE, window_, &request),
                           "MPI_Rget");
        team_.wait(request, "MPI_Rget");
        std::copy_n(landing.get(), piece.size(), piece.begin());
        data = data.subspan(piece.size());
        offset += piece.size();
      }
    } catch (...) {
      (void)landing.release();  // a target that was stopped answers later on
      throw;
    }
  }

  void flush(int target) override {
    // The puts to all targets: a flush waits for puts to any of them (osc/rdma counts them together), for ever if one is dead.
    for (auto& [other, requests] : pending_) {
      while (!requests.empty()) {
        const MPI_Request request = requests.back();
        requests.pop_back();
        wait_for_put(request);
      }
    }
    copies_->clear();
    copied_ = 0;
    // A request ends when the target has the data (osc/rdma counts its operations), so the flush has nothing to wait for;
    // it is what the standard asks for. A flush with operations under way toward a dead rank would never return.
    team_.check();
    team_.check_access(MPI_Win_flush(target, window_), "MPI_Win_flush");
  }

  [[nodiscard]] bool is_flushed(int target) override {
    auto& requests = pending_[target];
    int all_done = 1;
    team_.check_access(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all_done, MPI_STATUSES_IGNORE),
                       "MPI_Rput");
    if (all_done != 0) requests.clear();
    return all_done != 0;
  }

  void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) override {
    put(target, offset, std::as_bytes(words));
  }

 private:
  [[nodiscard]] bool is_own(std::span<const std::byte> data) const {
    const std::less_equal<> not_after;
    return not_after(own_.data(), data.data()) && not_after(data.data() + data.size(), own_.data() + own_.size());
  }

  // If it throws, MPI may still read the copies: they stay, and nothing of them is freed by a later flush.
  void wait_for_put(MPI_Request request) {
    try {
      team_.wait(request, "MPI_Rput");
    } catch (...) {
      copies_ = new std::list<std::vector<std::byte>>;
      throw;
    }
  }

  // Puts memory that stays.
  void put_lasting(int target, std::size_t offset, std::span<const std::byte> data) {
    while (!data.empty()) {
      const int count = static_cast<int>(std::min(data.size(), kPutPiece));
      MPI_Request request = MPI_REQUEST_NULL;
      team_.check_access(MPI_Rput(data.data(), count, MPI_BYTE, target, static_cast<MPI_Aint>(offset), count, MPI_BYTE,
                                  window_, &request),
                         "MPI_Rput");
      pending_[target].push_back(request);
      data = data.subspan(static_cast<std::size_t>(count));
      offset += static_cast<std::size_t>(count);
    }
  }

  MpiTeam& team_;
  std::span<const std::byte> own_;
  MPI_Win window_;
  std::shared_ptr<Exposures> exposures_;
  std::uint32_t number_;
  // Never freed with this object, like the window: MPI may read them as long as a put toward a dead rank is under way.
  std::list<std::vector<std::byte>>* copies_ = new std::list<std::vector<std::byte>>;
  std::size_t copied_ = 0;
  std::map<int, std::vector<MPI_Request>> pending_;
};

}  // namespace

// Nothing is unmapped as long as there are windows. What arrives late finds memory.
void WindowPath::give_back(Team& team) {
  exposures_->give_back(
      team, [](std::uint32_t) { return false; }, [](std::uint32_t) {});
}

// Open MPI carries out one-sided operations without hardware for them inside of its calls, also at the target.
bool WindowPath::make_progress() {
  constexpr int kNoTag = 0;
  int level = MPI_THREAD_SINGLE;
  int found = 0;
  if (MPI_Query_thread(&level) != MPI_SUCCESS || level != MPI_THREAD_MULTIPLE) return false;
  return MPI_Iprobe(MPI_ANY_SOURCE, kNoTag, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

std::unique_ptr<RemoteRegions> WindowPath::expose(Team& team, const Region& region) {
  // All are here and alive a moment before the window is made. It cannot be called off, and Open MPI crashes if a rank dies
  // in its first steps.
  const std::uint32_t number = made_++;
  try {
    team.barrier();
    exposures_->add(number, region);
  } catch (const std::bad_alloc&) {
    team.withdraw();
    throw Error(out_of_memory());
  }
  const SilenceWatch::Wait wait(team_.watch(), SilenceWatch::Wait::Kind::any);
  MPI_Win window = MPI_WIN_NULL;
  const auto memory = region.bytes();
  team_.check_access(
      MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size()), 1, MPI_INFO_NULL, team_.comm(), &window),
      "MPI_Win_create");
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
  return std::make_unique<WindowRemoteRegions>(team_, memory, window, exposures_, number);
}

}  // namespace fenix_impl
