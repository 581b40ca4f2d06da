// SPDX-License-Identifier: BSD-3-Clause
#include "rma/mixed_path.hpp"

#include <new>
#include <optional>
#include <utility>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

class MixedRemoteRegions final : public RemoteRegions {
 public:
  MixedRemoteRegions(std::unique_ptr<RemoteRegions> within, std::unique_ptr<RemoteRegions> across,
                     std::vector<bool> near)
      : within_(std::move(within)), across_(std::move(across)), near_(std::move(near)) {}

  [[nodiscard]] int keeps() const override { return within_->keeps(); }
  [[nodiscard]] KeptRegion release_kept() override { return within_->release_kept(); }
  void reach(int target) override { to(target).reach(target); }
  [[nodiscard]] std::span<std::byte> direct(int target, std::size_t offset, std::size_t bytes) override {
    return to(target).direct(target, offset, bytes);
  }
  void expect_access(int target, std::size_t offset, std::size_t bytes) override {
    to(target).expect_access(target, offset, bytes);
  }
  void reserve(int target, std::size_t offset, std::size_t bytes) override {
    to(target).reserve(target, offset, bytes);
  }
  void put(int target, std::size_t offset, std::span<const std::byte> data) override {
    to(target).put(target, offset, data);
  }
  void get(int target, std::size_t offset, std::span<std::byte> data) override { to(target).get(target, offset, data); }
  void get_all(std::span<const RemotePart> parts) override {
    std::vector<RemotePart> far;
    for (const RemotePart& each : parts) {
      if (near_.at(static_cast<std::size_t>(each.target))) {
        within_->get(each.target, each.offset, each.data);
      } else {
        far.push_back(each);
      }
    }
    across_->get_all(far);
  }
  void flush(int target) override { to(target).flush(target); }
  [[nodiscard]] bool is_flushed(int target) override { return to(target).is_flushed(target); }
  void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) override {
    to(target).put_words(target, offset, words);
  }

 private:
  [[nodiscard]] RemoteRegions& to(int target) {
    return near_.at(static_cast<std::size_t>(target)) ? *within_ : *across_;
  }

  std::unique_ptr<RemoteRegions> within_;
  std::unique_ptr<RemoteRegions> across_;
  std::vector<bool> near_;
};

}  // namespace

MixedPath::MixedPath(std::shared_ptr<Path> across, MapPath::Keep keep, std::vector<bool> near)
    : across_(std::move(across)),
      within_(keep, near),
      near_(std::move(near)),
      name_("map+" + std::string(across_->name())) {}

bool MixedPath::puts_are_copies(int target) const {
  return near_.at(static_cast<std::size_t>(target)) || across_->puts_are_copies(target);
}

std::unique_ptr<RemoteRegions> MixedPath::expose(Team& team, const Region& region) {
  std::unique_ptr<RemoteRegions> across;
  std::optional<Error> error;
  try {
    across = across_->expose(team, region);
  } catch (const Error& refused) {
    if (!team.sound()) throw;
    error = refused;
  } catch (const std::bad_alloc&) {
    error = out_of_memory();
  }
  // The others go on to this, whatever this rank has met.
  auto within = within_.expose(team, region);
  if (error) throw Error(*error);
  return std::make_unique<MixedRemoteRegions>(std::move(within), std::move(across), near_);
}

}  // namespace fenix_impl
