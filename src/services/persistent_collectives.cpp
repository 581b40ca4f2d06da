// SPDX-License-Identifier: BSD-3-Clause
#include "services/persistent_collectives.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/fault.hpp"
#include "interposition/collective_blocks.hpp"
#include "messages/journal/contribution.hpp"
#include "rma/mpi_errors.hpp"
#include "services/mpi_entry.hpp"
#include "services/ordered_reduction.hpp"

namespace fenix_impl {
namespace {

/// Messages of the program have tags from 0 on, and MPI has some small negative ones.
constexpr int kFirstTagOfCollectives = -1000;

/// A call while it is under way.
class CollectiveCall {
 public:
  CollectiveCall(const Collective& call, MPI_Comm now) : call_(call), now_(now), blocks_(call, now) {
    if (shape_.combination != Combines::none && call.op == MPI_OP_NULL) {
      throw MpiError(MPI_ERR_OP, "op is MPI_OP_NULL");
    }
  }

  [[nodiscard]] bool takes() const { return blocks_.takes(); }
  /// Stores what this rank gives, if it does.
  void contribute();
  /// Whether a contribution of this rank is stored.
  [[nodiscard]] bool has_contributed();
  /// Gets what was stored into the buffers of the program. waits: as for receives; else returns false if something is missing.
  [[nodiscard]] bool restore(bool waits);

 private:
  /// A block that this rank gets, while contributions are being read.
  struct Taken {
    BlockOfRank block;
    const ElementType* elements = nullptr;  ///< null if it has no elements
    std::vector<std::byte> bytes;

    [[nodiscard]] std::size_t room() const {
      return elements == nullptr ? 0 : static_cast<std::size_t>(block.place.count) * elements->bytes();
    }
  };

  [[nodiscard]] std::optional<StoredMessage> find(int rank);
  [[nodiscard]] std::optional<StoredMessage> read(int rank, std::vector<std::byte>& contribution);
  [[nodiscard]] std::vector<Taken> prepare();
  void check_size(const Taken& taken, std::size_t bytes) const;
  void take(int rank, std::span<const std::byte> contribution, std::vector<Taken>& all,
            std::optional<OrderedReduction>& result);

  // Several roots have contributions of their own.
  [[nodiscard]] int destination() const {
    return shape_.takers == Ranks::root ? call_.root : PersistentComms::kEveryRank;
  }
  [[nodiscard]] int tag() const { return kFirstTagOfCollectives - static_cast<int>(call_.kind); }
  [[nodiscard]] std::int32_t slot_of(int rank) { return persistence_.comms().slot(call_.comm, now_, rank); }

  Collective call_;
  MPI_Comm now_;
  const CollectiveShape& shape_ = shape_of(call_.kind);
  CollectiveBlocks blocks_;
  MessageTypes types_;
  Persistence& persistence_ = runtime().persistence();
};

void CollectiveCall::contribute() {
  if (!blocks_.gives()) {
    if (blocks_.takes()) persistence_.comms().note_taker(call_.comm, now_);
    return;
  }
  std::vector<BlockToStore> stored;
  for (const BlockOfRank& each : blocks_.given()) {
    const ElementRange place = each.place;
    check_buffer(place.buffer, place.count, place.type);
    BlockToStore block;
    if (each.rank != BlockOfRank::kEveryRank) block.target = {slot_of(each.rank), each.label};
    if (place.count > 0) {
      const ElementType& elements = types_.of(place.type);
      block.bytes = static_cast<std::size_t>(place.count) * elements.bytes();
      block.pack = [place, &elements](std::byte* to) {
        elements.pack(place.buffer, static_cast<std::uint64_t>(place.first), static_cast<std::uint64_t>(place.count),
                      to);
      };
    }
    stored.push_back(std::move(block));
  }
  Payload payload;
  payload.bytes = contribution_bytes(stored);
  payload.pack = [&](std::span<std::byte> to) { write_contribution(stored, to); };
  persistence_.comms().store(call_.comm, now_, destination(), tag(), payload);
}

std::optional<StoredMessage> CollectiveCall::find(int rank) {
  return persistence_.comms().find_for(call_.comm, now_, rank, destination(), tag());
}

bool CollectiveCall::has_contributed() {
  int rank = 0;
  check_mpi(MPI_Comm_rank(now_, &rank), "MPI_Comm_rank");
  return find(rank).has_value();
}

/// Reads the contribution of a rank. Returns nothing if there is none.
std::optional<StoredMessage> CollectiveCall::read(int rank, std::vector<std::byte>& contribution) {
  std::optional<StoredMessage> unreadable;
  for (const Deadline deadline;; deadline.check("a contribution that stays while it is read")) {
    const auto message = find(rank);
    if (!message) return std::nullopt;
    contribution.resize(message->entry.head.bytes);
    if (persistence_.read(*message, contribution)) return message;
    // It may have been replaced meanwhile. If it is still the one that counts, nothing can be read any more.
    if (unreadable && unreadable->entry.head == message->entry.head) {
      throw Error(FENIX_ERROR_NODATA_FOUND,
                  "the contribution of rank " + std::to_string(rank) + " is damaged, and so are its copies");
    }
    unreadable = message;
  }
}

/// Returns the blocks that this rank gets, still empty.
std::vector<CollectiveCall::Taken> CollectiveCall::prepare() {
  std::vector<Taken> all;
  for (const BlockOfRank& each : blocks_.taken()) {
    check_buffer(each.place.buffer, each.place.count, each.place.type);
    all.push_back({each, each.place.count > 0 ? &types_.of(each.place.type) : nullptr, {}});
  }
  return all;
}

void CollectiveCall::check_size(const Taken& taken, std::size_t bytes) const {
  // Elements that are combined have to be as many; otherwise there may be fewer.
  const bool is_combined = shape_.combination != Combines::none;
  if (is_combined ? bytes == taken.room() : bytes <= taken.room()) return;
  throw MpiError(MPI_ERR_TRUNCATE, "the contribution of rank " + std::to_string(taken.block.rank) + " has " +
                                       std::to_string(bytes) + " bytes for this rank, and the buffer " +
                                       std::to_string(taken.room()));
}

/// Takes the blocks for this rank out of the contribution of a rank.
void CollectiveCall::take(int rank, std::span<const std::byte> contribution, std::vector<Taken>& all,
                          std::optional<OrderedReduction>& result) {
  if (call_.kind == CollectiveKind::barrier) return;
  int own_rank = 0;
  check_mpi(MPI_Comm_rank(now_, &own_rank), "MPI_Comm_rank");
  for (Taken& each : all) {
    if (each.block.rank != rank) continue;
    BlockTarget target;
    if (shape_.has_block_for_each) target = {slot_of(own_rank), each.block.label};
    const auto bytes = find_block(contribution, target);
    if (!bytes) {
      throw Error(FENIX_ERROR_NODATA_FOUND,
                  "the contribution of rank " + std::to_string(rank) + " has no block for this rank");
    }
    check_size(each, bytes->size());
    if (shape_.combination == Combines::none) {
      each.bytes.assign(bytes->begin(), bytes->end());
    } else if (each.elements != nullptr) {
      const ElementRange& place = each.block.place;
      if (!result) result.emplace(*each.elements, place.type, place.count, call_.op);
      result->add(*bytes);
    }
  }
}

// The buffers of the program are written when all contributions have been read.
bool CollectiveCall::restore(bool waits) {
  std::vector<Taken> all = prepare();
  std::vector<int> ranks;
  for (const Taken& each : all) ranks.push_back(each.block.rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());

  std::vector<StoredMessage> messages;
  std::vector<std::byte> contribution;
  std::optional<OrderedReduction> result;
  const bool is_complete = look_until(waits, call_.comm, [&] {
    while (messages.size() < ranks.size()) {
      const int rank = ranks[messages.size()];
      const auto message = read(rank, contribution);
      if (!message) return false;
      take(rank, contribution, all, result);
      messages.push_back(*message);
      fault_point("persist.taken");
    }
    return true;
  });
  if (!is_complete) return false;

  if (result) result->write(all.front().block.place.buffer);
  for (const Taken& each : all) {
    const ElementRange& place = each.block.place;
    if (!each.bytes.empty()) unpack_part(*each.elements, each.bytes, place.first, place.buffer);
  }
  for (const StoredMessage& each : messages) persistence_.comms().note_received(call_.comm, each);
  return true;
}

}  // namespace

int persist_collective(const Collective& call, bool delivers, int* executes) {
  return mpi_entry([&] {
    *executes = 0;
    // There is nothing to store.
    if (call.kind == CollectiveKind::barrier && !delivers) return;
    CollectiveCall under_way(call, present(call.comm));
    if (runtime().persistence().comms().has_failed()) {
      if (!delivers) {
        if (under_way.takes()) (void)under_way.restore(/*waits=*/true);
        return;
      }
      if (under_way.takes() ? under_way.restore(/*waits=*/false) : under_way.has_contributed()) return;
    }
    under_way.contribute();
    *executes = delivers ? 1 : 0;
  });
}

}  // namespace fenix_impl
