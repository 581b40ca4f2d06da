// SPDX-License-Identifier: BSD-3-Clause
#include "rma/fabric/directory.hpp"

#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

// No provider's are longer; a length from a peer that is more is not believed.
constexpr std::size_t kLongestName = 4096;

/// The providers of a team: the first and the last by name, and a rank that has it.
struct Providers {
  struct One {
    std::array<char, 48> name{};
    std::int32_t rank = 0;

    bool operator<(const One& other) const { return std::pair(name, rank) < std::pair(other.name, other.rank); }
  };

  One first;
  One last;
  std::uint32_t longest_name = 0;  // of an endpoint

  void merge(const Providers& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
    longest_name = std::max(longest_name, other.longest_name);
  }
};

std::string text_of(const Providers::One& one) {
  return "rank " + std::to_string(one.rank) + " has " + std::string(one.name.data());
}

template <class T>
T value_in(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (bytes.size() < sizeof(T)) throw Error(FENIX_ERROR_INTERN, "what a rank says of its endpoint is too short");
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

/// The part of an endpoint's address that is kept for others; its name follows.
struct FabricDirectory::Entry {
  FabricRegion directory;
  std::uint64_t name_bytes = 0;
};

FabricDirectory::Page::Page(FabricNetwork& of, std::size_t size)
    : network(of),
      memory(std::make_unique<std::byte[]>(size)),
      bytes(size),
      registration(network.endpoint(), {memory.get(), size}, FI_REMOTE_READ) {}

// The network may be in the midst of answering a read.
FabricDirectory::Page::~Page() { network.keep_until_closed(std::move(memory)); }

template <class T>
void FabricDirectory::Page::write(std::size_t offset, const T& value) {
  std::memcpy(memory.get() + offset, &value, sizeof value);
}

// ------------------------------------------------------------------------------------------------------------- the ring

int FabricDirectory::rounds() const { return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks_) - 1)); }

int FabricDirectory::rank_at(int from, Step step) const {
  const int distance = 1 << step.round;
  return (from + (step.back ? ranks_ - distance : distance)) % ranks_;
}

// The longest that does not lead past it.
FabricDirectory::Step FabricDirectory::step_towards(int from, int rank) const {
  const auto on = static_cast<unsigned>((rank - from + ranks_) % ranks_);
  const auto back = static_cast<unsigned>(ranks_) - on;
  return {static_cast<int>(std::bit_width(std::min(on, back))) - 1, back < on};
}

std::set<int> FabricDirectory::neighbours() const {
  std::set<int> ranks;
  for (int round = 0; round < rounds(); ++round) {
    for (const bool back : {false, true}) ranks.insert(rank_at(self_, {round, back}));
  }
  return ranks;
}

// --------------------------------------------------------------------------------------------------------------- making

std::size_t FabricDirectory::entry_bytes() const { return sizeof(Entry) + (longest_name_ + 7) / 8 * 8; }

std::size_t FabricDirectory::offset_of(Step step) const {
  return kPages * sizeof(FabricRegion) +
         (2 * static_cast<std::size_t>(step.round) + (step.back ? 1 : 0)) * entry_bytes();
}

void FabricDirectory::agree_on_provider(Team& team) {
  const std::string_view provider = network_.endpoint().provider();
  Providers all;
  provider.copy(all.first.name.data(), all.first.name.size() - 1);
  all.first.rank = self_;
  all.last = all.first;
  all.longest_name = static_cast<std::uint32_t>(network_.endpoint().name().size());
  all = team.reduce(all, [](Providers& into, const Providers& from) { into.merge(from); });
  if (all.first.name != all.last.name) {
    throw Error(FENIX_ERROR_GROUP_CREATE, "ranks have different providers of libfabric, and FI_PROVIDER chooses one: " +
                                              text_of(all.first) + ", " + text_of(all.last));
  }
  if (all.longest_name > kLongestName)
    throw Error(FENIX_ERROR_INTERN, "an endpoint has a name that is longer than any");
  longest_name_ = all.longest_name;
}

void FabricDirectory::make_root() { root_ = std::make_unique<Page>(network_, offset_of({rounds(), false})); }

void FabricDirectory::join(Team& team) {
  self_ = team.rank();
  ranks_ = team.size();
  agree_on_provider(team);
  std::optional<Error> error;
  try {
    make_root();
  } catch (const Error& refused) {
    error = refused;
  } catch (const std::bad_alloc&) {
    error = out_of_memory();
  }
  const auto name = network_.endpoint().name();
  Entry own;
  if (root_) own.directory = {root_->registration, root_->bytes};
  own.name_bytes = name.size();
  std::vector<std::byte> mine(entry_bytes());
  std::memcpy(mine.data(), &own, sizeof own);
  std::copy(name.begin(), name.end(), mine.begin() + sizeof own);
  const auto peers = neighbours();
  auto said = team.ask(std::vector<int>(peers.begin(), peers.end()), std::span<const std::byte>(mine));
  if (error) throw Error(*error);
  for (const auto& [rank, entry] : said) {
    if (entry.size() != entry_bytes())
      throw Error(FENIX_ERROR_INTERN, "what a rank says of its endpoint is not one entry");
    contacts_.emplace(rank, contact_in(entry));
  }
  for (int round = 0; round < rounds(); ++round) {
    for (const bool back : {false, true}) {
      const auto& entry = said.at(rank_at(self_, {round, back}));
      std::copy(entry.begin(), entry.end(), root_->memory.get() + offset_of({round, back}));
    }
  }
}

FabricDirectory::Spot FabricDirectory::spot_of(std::uint32_t number) {
  const auto page = static_cast<std::size_t>(std::bit_width(number / kFirstPage + 1)) - 1;
  const std::size_t in_pages_before = kFirstPage * ((std::size_t{1} << page) - 1);
  return {page, (number - in_pages_before) * sizeof(FabricRegion)};
}

void FabricDirectory::publish(std::uint32_t number, const FabricRegion& region) {
  const Spot spot = spot_of(number);
  auto& page = pages_.at(spot.page);
  if (!page) {
    page = std::make_unique<Page>(network_, (std::size_t{kFirstPage} << spot.page) * sizeof(FabricRegion));
    root_->write(spot.page * sizeof(FabricRegion), FabricRegion(page->registration, page->bytes));
  }
  page->write(spot.offset, region);
}

// -------------------------------------------------------------------------------------------------------------- finding

FabricDirectory::Contact FabricDirectory::contact_in(std::span<const std::byte> bytes) {
  const auto entry = value_in<Entry>(bytes);
  const auto rest = bytes.subspan(sizeof entry);
  if (entry.name_bytes > rest.size()) throw Error(FENIX_ERROR_INTERN, "an endpoint has a name that is longer than any");
  return {network_.find_peer(rest.first(entry.name_bytes)), entry.directory};
}

FabricDirectory::Contact FabricDirectory::contact_of(Team& team, int rank) {
  std::vector<std::byte> entry(entry_bytes());
  const auto known = [&](int which) {
    const std::lock_guard lock(mutex_);
    const auto found = contacts_.find(which);
    return found != contacts_.end() ? std::optional(found->second) : std::nullopt;
  };
  if (const auto contact = known(rank)) return *contact;
  // The first step is to a neighbour.
  Contact contact;
  for (int at = self_; at != rank;) {
    const Step step = step_towards(at, rank);
    const int next = rank_at(at, step);
    if (auto there = known(next)) {
      contact = std::move(*there);
    } else {
      const FabricRegion& directory = contact.directory;
      FabricCaller(network_, team)
          .read({contact.peer->address, directory.key, directory.base + offset_of(step), entry});
      contact = contact_in(entry);
      const std::lock_guard lock(mutex_);
      contacts_.emplace(next, contact);
    }
    at = next;
  }
  return contact;
}

FabricRegion FabricDirectory::page_of(Team& team, int rank, const Contact& contact, std::size_t page) {
  const auto known = contact.pages.find(page);
  if (known != contact.pages.end()) return known->second;
  FabricRegion region;
  FabricCaller(network_, team)
      .read({contact.peer->address, contact.directory.key, contact.directory.base + page * sizeof region,
             std::as_writable_bytes(std::span(&region, 1))});
  const std::lock_guard lock(mutex_);
  contacts_.at(rank).pages[page] = region;
  return region;
}

FabricTarget FabricDirectory::find(Team& team, int rank, std::uint32_t number) {
  if (rank < 0 || rank >= ranks_) throw Error(FENIX_ERROR_INTERN, "a rank that is not in the team");
  const Contact contact = contact_of(team, rank);
  const Spot spot = spot_of(number);
  const FabricRegion page = page_of(team, rank, contact, spot.page);
  FabricTarget target{contact.peer, {}};
  FabricCaller(network_, team)
      .read({contact.peer->address, page.key, page.base + spot.offset,
             std::as_writable_bytes(std::span(&target.region, 1))});
  // Bytes read from a rank that has left the team may be anything.
  team.check();
  return target;
}

}  // namespace fenix_impl
