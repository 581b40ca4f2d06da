// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/collective_schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "mpi/base/real.hpp"

namespace fenix_impl {
namespace {

void check(int mpi_error, const char* call) {
  if (mpi_error != MPI_SUCCESS) throw MpiError(mpi_error, std::string(call) + " has failed");
}

void* address_of(const ElementRange& range) {
  if (range.first == 0 || range.count == 0) return range.buffer;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  check(PMPI_Type_get_extent(range.type, &lower, &extent), "MPI_Type_get_extent");
  return static_cast<std::byte*>(range.buffer) + range.first * extent;
}

Transfer transfer_of(const BlockOfRank& block) {
  return {block.rank, address_of(block.place), block.place.count, block.place.type};
}

/// Whether a block has bytes. Where it has none, one side may say so by its count, and the other one by its type: neither has a message.
/// A wrong count or type is left to MPI.
bool has_bytes(int count, MPI_Datatype type) {
  MPI_Count bytes = 0;
  return count != 0 && (PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes != 0);
}

bool has_bytes(const ElementRange& place) { return has_bytes(place.count, place.type); }

void copy(void* from, void* to, int count, MPI_Datatype type) {
  if (from == to || count == 0) return;
  check(real.Sendrecv(from, count, type, 0, 0, to, count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

/// Makes of the elements of lower ranks and of those of higher ranks one result, in the place of the latter.
void combine(void* of_lower, void* of_higher, int count, MPI_Datatype type, MPI_Op op) {
  check(PMPI_Reduce_local(of_lower, of_higher, count, type, op), "MPI_Reduce_local");
}

bool is_neighbourhood(CollectiveKind kind) { return kind >= CollectiveKind::neighbor_allgather; }

/// Whether an operation combines elements of a type. MPI says so when it has nothing to combine.
bool suits(MPI_Op op, MPI_Datatype type) {
  struct Pair {
    MPI_Op op;
    MPI_Datatype type;
  };
  static thread_local Pair latest{MPI_OP_NULL, MPI_DATATYPE_NULL};
  if (op == MPI_OP_NULL) return false;
  if (type == MPI_DATATYPE_NULL || (op == latest.op && type == latest.type)) return true;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  real.Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const bool found = PMPI_Reduce_local(nullptr, nullptr, 0, type, op) == MPI_SUCCESS;
  real.Comm_set_errhandler(MPI_COMM_WORLD, handler);
  PMPI_Errhandler_free(&handler);
  if (found) latest = {op, type};
  return found;
}

}  // namespace

ElementMemory::ElementMemory(int count, MPI_Datatype type) {
  constexpr std::uintptr_t kAlignment = alignof(std::max_align_t);
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  check(PMPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
  check(PMPI_Type_get_true_extent(type, &true_lower, &true_extent), "MPI_Type_get_true_extent");
  const MPI_Aint to_last = std::max(count - 1, 0) * extent;
  const MPI_Aint begin = true_lower + std::min<MPI_Aint>(to_last, 0);
  const MPI_Aint end = true_lower + true_extent + std::max<MPI_Aint>(to_last, 0);
  memory_.resize(static_cast<std::size_t>(end - begin) + 2 * kAlignment);
  // The first element need not be in this memory: all its bytes may be behind its address.
  const auto start = reinterpret_cast<std::uintptr_t>(memory_.data()) - static_cast<std::uintptr_t>(begin);
  first_ = reinterpret_cast<void*>((start + kAlignment - 1) / kAlignment * kAlignment);
}

CollectiveSchedule::CollectiveSchedule(const Collective& call, MPI_Comm now) : call_(call), blocks_(call, now) {
  check(real.Comm_rank(now, &rank_), "MPI_Comm_rank");
  check(real.Comm_size(now, &size_), "MPI_Comm_size");
  const bool combines = shape_of(call.kind).combination != Combines::none;
  if (combines && !suits(call.op, call.receive.type)) throw MpiError(MPI_ERR_OP, "op does not combine this type");
  plan();
}

void CollectiveSchedule::plan() {
  switch (call_.kind) {
    case CollectiveKind::barrier:
      return add_barrier();
    case CollectiveKind::bcast:
      return add_broadcast(rank_ == call_.root ? blocks_.given().front().place : blocks_.taken().front().place,
                           call_.root);
    case CollectiveKind::reduce:
      (void)add_reduction(input(), result(), call_.root);
      return;
    case CollectiveKind::allreduce:
      (void)add_reduction(input(), result(), 0);
      return add_broadcast(result(), 0);
    case CollectiveKind::scan:
      return add_scan(true);
    case CollectiveKind::exscan:
      return add_scan(false);
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce_scatter_block:
      return add_reduce_scatter();
    default:
      return add_exchange();
  }
}

void* CollectiveSchedule::memory_for(int count, MPI_Datatype type) { return memory_.emplace_back(count, type).first(); }

// After the round with distance d each rank knows of 2 d ranks before it that they have come.
void CollectiveSchedule::add_barrier() {
  for (int distance = 1; distance < size_; distance *= 2) {
    Round& round = rounds_.emplace_back();
    round.sent.push_back({(rank_ + distance) % size_});
    round.received.push_back({(rank_ - distance + size_) % size_});
  }
}

// Each block goes from its giver to its taker. A pair of ranks exchanges its blocks by ascending labels.
void CollectiveSchedule::add_exchange() {
  const auto in_order = [this](std::vector<BlockOfRank> blocks) {
    std::stable_sort(blocks.begin(), blocks.end(), [this](const BlockOfRank& a, const BlockOfRank& b) {
      return std::pair(distance_to(a.rank), a.label) < std::pair(distance_to(b.rank), b.label);
    });
    return blocks;
  };
  Round& round = rounds_.emplace_back();
  const bool has_own_place = !is_neighbourhood(call_.kind);
  const BlockOfRank* own = nullptr;
  const std::vector<BlockOfRank> sent = in_order(blocks_.sent());
  for (const BlockOfRank& each : sent) {
    if (has_own_place && each.rank == rank_) {
      own = &each;
    } else if (has_bytes(each.place)) {
      round.sent.push_back(transfer_of(each));
    }
  }
  for (const BlockOfRank& each : in_order(blocks_.taken())) {
    if (has_own_place && each.rank == rank_) {
      if (own == nullptr || !has_bytes(own->place)) continue;
      const Transfer from = transfer_of(*own);
      const Transfer to = transfer_of(each);
      // Two types with addresses both have the buffer MPI_BOTTOM.
      if (from.buffer == to.buffer && from.type == to.type) continue;
      check(real.Sendrecv(from.buffer, from.count, from.type, 0, 0, to.buffer, to.count, to.type, 0, 0, MPI_COMM_SELF,
                          MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
    } else if (has_bytes(each.place)) {
      round.received.push_back(transfer_of(each));
    }
  }
}

// A binomial tree: a rank gets the elements of the rank whose distance to the root lacks its lowest bit.
void CollectiveSchedule::add_broadcast(const ElementRange& range, int root) {
  Transfer transfer{0, address_of(range), range.count, range.type};
  const int distance = (rank_ - root + size_) % size_;
  int bit = 1;
  while (bit < size_ && (distance & bit) == 0) bit *= 2;
  if (distance != 0) {
    transfer.rank = (distance - bit + root) % size_;
    rounds_.emplace_back().received.push_back(transfer);
  }
  Round& round = rounds_.emplace_back();
  for (bit /= 2; bit > 0; bit /= 2) {
    if (distance + bit >= size_) continue;
    transfer.rank = (distance + bit + root) % size_;
    round.sent.push_back(transfer);
  }
}

ElementRange CollectiveSchedule::input() const {
  const bool in_place = call_.send.buffer == MPI_IN_PLACE;
  std::int64_t count = call_.receive.count;
  if (call_.receive.counts != nullptr) {
    count = std::accumulate(call_.receive.counts, call_.receive.counts + size_, std::int64_t{0});
  }
  if (call_.kind == CollectiveKind::reduce_scatter_block) count *= size_;
  if (count > std::numeric_limits<int>::max()) {
    throw MpiError(MPI_ERR_COUNT, std::to_string(count) + " elements of all ranks are too many to be reduced at once");
  }
  return {in_place ? call_.receive.buffer : call_.send.buffer, 0, static_cast<int>(count), call_.receive.type};
}

ElementRange CollectiveSchedule::result() const {
  const bool has_counts = call_.receive.counts != nullptr;
  return {call_.receive.buffer, 0, has_counts ? call_.receive.counts[rank_] : call_.receive.count, call_.receive.type};
}

// A binomial tree with rank 0 at its top: each rank combines the elements of ranks that follow one another, in their order, as operations
// need not be commutative. Returns the memory with the elements of all ranks, in rank 0.
void* CollectiveSchedule::add_reduction(const ElementRange& contribution, const ElementRange& at_root, int root) {
  const int count = contribution.count;
  const MPI_Datatype type = contribution.type;
  // The one and the other are the sum in turn.
  void* sum = memory_for(count, type);
  void* next = size_ > 1 ? memory_for(count, type) : nullptr;
  copy(contribution.buffer, sum, count, type);
  for (int bit = 1; bit < size_; bit *= 2) {
    if ((rank_ & bit) != 0) {
      rounds_.emplace_back().sent.push_back({rank_ - bit, sum, count, type});
      break;
    }
    if (rank_ + bit >= size_) continue;
    Round& round = rounds_.emplace_back();
    round.received.push_back({rank_ + bit, next, count, type});
    round.then = [sum, next, count, type, op = call_.op] { combine(sum, next, count, type, op); };
    std::swap(sum, next);
  }
  if (rank_ == 0 && root != 0 && at_root.count > 0) {
    rounds_.emplace_back().sent.push_back({root, sum, count, type});
  } else if (rank_ == root && root != 0 && at_root.count > 0) {
    rounds_.emplace_back().received.push_back({0, at_root.buffer, count, type});
  } else if (rank_ == 0 && root == 0 && at_root.count > 0) {
    rounds_.emplace_back().then = [sum, to = at_root.buffer, count, type] { copy(sum, to, count, type); };
  }
  return sum;
}

// A chain: each rank adds its elements to those of the ranks below it.
void CollectiveSchedule::add_scan(bool with_own) {
  const ElementRange own = input();
  const int count = own.count;
  const MPI_Datatype type = own.type;
  void* sum = memory_for(count, type);
  copy(own.buffer, sum, count, type);
  Round& round = rounds_.emplace_back();
  void* const to = call_.receive.buffer;
  if (rank_ > 0) {
    void* const below = memory_for(count, type);
    round.received.push_back({rank_ - 1, below, count, type});
    round.then = [below, sum, to, count, type, op = call_.op, with_own] {
      combine(below, sum, count, type, op);
      copy(with_own ? sum : below, to, count, type);
    };
  } else if (with_own) {
    round.then = [sum, to, count, type] { copy(sum, to, count, type); };
  }
  if (rank_ + 1 < size_) rounds_.emplace_back().sent.push_back({rank_ + 1, sum, count, type});
}

void CollectiveSchedule::add_reduce_scatter() {
  const ElementRange all = input();
  void* const sum = add_reduction(all, {}, 0);
  Round& round = rounds_.emplace_back();
  const ElementRange own = result();
  if (rank_ != 0) {
    if (has_bytes(own)) round.received.push_back({0, own.buffer, own.count, own.type});
    return;
  }
  std::int64_t first = 0;
  for (int rank = 0; rank < size_; ++rank) {
    const int count = call_.receive.counts != nullptr ? call_.receive.counts[rank] : call_.receive.count;
    void* const block = address_of({sum, first, count, all.type});
    first += count;
    if (rank == 0) {
      round.then = [block, own] { copy(block, own.buffer, own.count, own.type); };
    } else if (has_bytes(count, all.type)) {
      round.sent.push_back({rank, block, count, all.type});
    }
  }
}

}  // namespace fenix_impl
