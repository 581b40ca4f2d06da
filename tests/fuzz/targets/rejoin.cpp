// SPDX-License-Identifier: BSD-3-Clause
// What peers say of themselves and of a group when it is taken up again, and what is in their memory. Rank 0 of three is real;
// the others say what it says, changed by the input. It ends with an error or without, and no access leads outside of a region.
#include "recovery/groups/rejoin/rejoin.hpp"

#include <sys/resource.h>

#include <csignal>
#include <new>
#include <stdexcept>

#include "base/error.hpp"
#include "fuzz/support.hpp"

using namespace fenix_impl;

namespace {

constexpr int kRanks = 3;

void change(std::span<std::byte> bytes, fuzz::Input& input) {
  const auto changes = input.some(bytes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) bytes[i] ^= changes[i];
}

class Liars final : public Team {
 public:
  explicit Liars(fuzz::Input& input) : input_(input) {}
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return kRanks; }
  void check() override {}
  void dissolve() noexcept override {}
  void withdraw() noexcept override {}
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const auto piece = all.subspan(rank * mine.size(), mine.size());
      std::copy(mine.begin(), mine.end(), piece.begin());
      if (rank > 0) change(piece, input_);
    }
  }
  void broadcast(std::span<std::byte> data, int root) override {
    if (root != 0) change(data, input_);
  }

 private:
  fuzz::Input& input_;
};

/// Peers' memory has what the own has when it is exposed, changed by the input.
class Mirrors final : public RemoteRegions {
 public:
  Mirrors(std::span<std::byte> own, fuzz::Input& input) : own_(own) {
    // Not more than this is ever different from zero here.
    constexpr std::size_t kMost = 1 << 16;
    for (auto& each : others_) {
      each.assign(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(std::min(own.size(), kMost)));
      const auto where = input.take<std::uint16_t>();
      const auto length = input.take<std::uint8_t>();
      change(std::span(each)
                 .subspan(std::min<std::size_t>(where, each.size()))
                 .first(std::min<std::size_t>(length, each.size() - std::min<std::size_t>(where, each.size()))),
             input);
    }
  }
  void put(int target, std::size_t offset, std::span<const std::byte> data) override {
    check(target, offset, data.size());
  }
  void get(int target, std::size_t offset, std::span<std::byte> data) override {
    check(target, offset, data.size());
    const std::span<const std::byte> from =
        target == 0 ? own_ : std::span(others_[static_cast<std::size_t>(target - 1)]);
    std::fill(data.begin(), data.end(), std::byte{});
    if (offset < from.size()) {
      const auto part = from.subspan(offset, std::min(data.size(), from.size() - offset));
      std::copy(part.begin(), part.end(), data.begin());
    }
  }
  void flush(int) override {}
  bool is_flushed(int) override { return true; }
  void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) override {
    check(target, offset, words.size_bytes());
  }

 private:
  // As the paths do: how large a peer's region is, only the peer could say.
  void check(int target, std::size_t offset, std::size_t bytes) const {
    fuzz::require(target >= 0 && target < kRanks, "a rank that is accessed");
    if (offset > own_.size() || bytes > own_.size() - offset) throw Error(FENIX_ERROR_INTERN, "outside of a region");
  }

  std::span<std::byte> own_;
  std::array<fuzz::Bytes, kRanks - 1> others_;
};

class MirrorPath final : public Path {
 public:
  explicit MirrorPath(fuzz::Input& input) : input_(input) {}
  [[nodiscard]] std::string_view name() const override { return "mirror"; }
  [[nodiscard]] bool puts_are_copies(int) const override { return true; }
  std::unique_ptr<RemoteRegions> expose(Team&, const Region& region) override {
    return std::make_unique<Mirrors>(region.bytes(), input_);
  }

 private:
  fuzz::Input& input_;
};

void join(std::unique_ptr<Group>& group, const GroupParameters& parameters, fuzz::Input& input) {
  Generation highest;
  (void)rejoin(group, {parameters,
                       [] {},
                       std::make_shared<Liars>(input),
                       [&] { return std::make_shared<MirrorPath>(input); },
                       {},
                       highest});
}

void store_something(Group& group, std::array<std::uint32_t, 20>& data) {
  const auto type = std::make_shared<const ElementType>(ElementType::plain(sizeof(std::uint32_t)));
  group.definition().create_member({7, false, {}, type}, data.data(), data.size(), [] {});
  Member* const member = group.find(7);
  group.stores().store(std::span(&member, 1), Selection::all());
  group.commit();
}

}  // namespace

int LLVMFuzzerInitialize(int*, char***) {
  // Sizes that a peer makes up are asked of the system: it is to refuse them.
  constexpr rlim_t kMost = rlim_t{64} << 20;
  const rlimit limit{kMost, kMost};
  setrlimit(RLIMIT_FSIZE, &limit);
  setenv("FENIX_TIMEOUT", "1", 1);
  fuzz::start_mpi();
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // libFuzzer has set a handler of its own by now.
  static const auto before = signal(SIGXFSZ, SIG_IGN);
  (void)before;
  fuzz::Input nothing(std::span<const std::byte>{});
  fuzz::Input input(data, size);
  const auto kind = input.take<std::uint8_t>();
  GroupParameters parameters;
  parameters.id = 1;
  parameters.policy.kind = (kind & 2) != 0 ? Policy::Kind::ring : Policy::Kind::buddies;
  std::array<std::uint32_t, 20> elements{1, 2, 3};
  std::unique_ptr<Group> group;
  if ((kind & 1) != 0) {
    join(group, parameters, nothing);
    store_something(*group, elements);
  }
  try {
    join(group, parameters, input);
    for (const auto& member : group->members()) {
      if (member->element_bytes() != sizeof(std::uint32_t)) continue;
      (void)group->restore(member->id(), SnapshotChoice{}, {elements.data(), elements.size()}, [] {});
    }
  } catch (const Error&) {
  } catch (const PeerFailure&) {
  } catch (const std::bad_alloc&) {
    // No memory: the entry makes that code of it.
  } catch (const std::length_error&) {
  }
  return 0;
}
