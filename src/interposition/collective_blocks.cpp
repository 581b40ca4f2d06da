// SPDX-License-Identifier: BSD-3-Clause
#include "interposition/collective_blocks.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

// All of these calls are local.
void check_local(int mpi_error, const char* call) {
  if (mpi_error != MPI_SUCCESS) throw MpiError(mpi_error, std::string(call) + " has failed");
}

bool is_in_place(const BlocksOfCall& side) { return side.buffer == MPI_IN_PLACE; }

// The shapes that several kinds of operations share.
constexpr CollectiveShape kShapeOfBcast{Ranks::root, Ranks::all};
constexpr CollectiveShape kShapeOfScatter{Ranks::root, Ranks::all, true};
constexpr CollectiveShape kShapeOfGather{Ranks::all, Ranks::root};
constexpr CollectiveShape kShapeOfAllgather{};
constexpr CollectiveShape kShapeOfAlltoall{Ranks::all, Ranks::all, true};
constexpr CollectiveShape kShapeOfReduce{Ranks::all, Ranks::root, false, Combines::all};
constexpr CollectiveShape kShapeOfAllreduce{Ranks::all, Ranks::all, false, Combines::all};
constexpr CollectiveShape kShapeOfScan{Ranks::all, Ranks::all, false, Combines::up_to_own};
constexpr CollectiveShape kShapeOfExscan{Ranks::all, Ranks::all, false, Combines::below_own};
constexpr CollectiveShape kShapeOfReduceScatter{Ranks::all, Ranks::all, true, Combines::all};
constexpr CollectiveShape kShapeOfNeighborAllgather{Ranks::neighbours, Ranks::neighbours};
constexpr CollectiveShape kShapeOfNeighborAlltoall{Ranks::neighbours, Ranks::neighbours, true};

/// Returns the elements of one rank in a buffer with elements of several.
ElementRange place_in(const BlocksOfCall& side, int index) {
  const int count = side.counts != nullptr ? side.counts[index] : side.count;
  if (side.types != nullptr) {
    const MPI_Aint offset =
        side.byte_displacements != nullptr ? side.byte_displacements[index] : side.displacements[index];
    return {static_cast<std::byte*>(side.buffer) + offset, 0, count, side.types[index]};
  }
  std::int64_t first = 0;
  if (side.displacements != nullptr) {
    first = side.displacements[index];
  } else if (side.counts == nullptr) {
    first = std::int64_t{index} * side.count;
  } else {
    for (int i = 0; i < index; ++i) first += side.counts[i];
  }
  return {side.buffer, first, count, side.type};
}

/// Returns all elements of a buffer that belongs to one rank.
ElementRange whole(const BlocksOfCall& side) { return {side.buffer, 0, side.count, side.type}; }

}  // namespace

const CollectiveShape& shape_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::bcast:
      return kShapeOfBcast;
    case CollectiveKind::scatter:
    case CollectiveKind::scatterv:
      return kShapeOfScatter;
    case CollectiveKind::gather:
    case CollectiveKind::gatherv:
      return kShapeOfGather;
    case CollectiveKind::barrier:
    case CollectiveKind::allgather:
    case CollectiveKind::allgatherv:
      return kShapeOfAllgather;
    case CollectiveKind::alltoall:
    case CollectiveKind::alltoallv:
    case CollectiveKind::alltoallw:
      return kShapeOfAlltoall;
    case CollectiveKind::reduce:
      return kShapeOfReduce;
    case CollectiveKind::allreduce:
      return kShapeOfAllreduce;
    case CollectiveKind::scan:
      return kShapeOfScan;
    case CollectiveKind::exscan:
      return kShapeOfExscan;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce_scatter_block:
      return kShapeOfReduceScatter;
    case CollectiveKind::neighbor_allgather:
    case CollectiveKind::neighbor_allgatherv:
      return kShapeOfNeighborAllgather;
    case CollectiveKind::neighbor_alltoall:
    case CollectiveKind::neighbor_alltoallv:
    case CollectiveKind::neighbor_alltoallw:
      return kShapeOfNeighborAlltoall;
  }
  throw Error(FENIX_ERROR_INTERN, "a collective operation of no known kind");
}

CollectiveBlocks::CollectiveBlocks(const Collective& call, MPI_Comm now)
    : call_(call), shape_(shape_of(call.kind)), now_(now) {
  check_local(MPI_Comm_rank(now, &rank_), "MPI_Comm_rank");
  check_local(MPI_Comm_size(now, &size_), "MPI_Comm_size");
  const bool has_root = shape_.givers == Ranks::root || shape_.takers == Ranks::root;
  if (has_root && (call.root < 0 || call.root >= size_)) {
    throw MpiError(MPI_ERR_ROOT, "root " + std::to_string(call.root) + " is not in [0, " + std::to_string(size_) + ")");
  }
  gives_ = shape_.givers != Ranks::root || rank_ == call.root;
  takes_ = shape_.takers != Ranks::root || rank_ == call.root;
  if (shape_.givers == Ranks::neighbours) look_up_neighbours();
}

// The k-th block that a rank sends to another one is the k-th that the other one gets of it. In a Cartesian topology a block that goes
// in one direction arrives from the other one: there a label is the place in the buffer that receives.
void CollectiveBlocks::look_up_neighbours() {
  std::vector<int> sources;
  std::vector<int> destinations;
  int topology = MPI_UNDEFINED;
  check_local(MPI_Topo_test(now_, &topology), "MPI_Topo_test");
  if (topology == MPI_CART) {
    int dimensions = 0;
    check_local(MPI_Cartdim_get(now_, &dimensions), "MPI_Cartdim_get");
    for (int dimension = 0; dimension < dimensions; ++dimension) {
      int below = MPI_PROC_NULL;
      int above = MPI_PROC_NULL;
      check_local(MPI_Cart_shift(now_, dimension, 1, &below, &above), "MPI_Cart_shift");
      from_.push_back({below, 2 * dimension});
      from_.push_back({above, 2 * dimension + 1});
      to_.push_back({below, 2 * dimension + 1});
      to_.push_back({above, 2 * dimension});
    }
    return;
  }
  if (topology == MPI_GRAPH) {
    int count = 0;
    check_local(MPI_Graph_neighbors_count(now_, rank_, &count), "MPI_Graph_neighbors_count");
    sources.resize(static_cast<std::size_t>(count));
    check_local(MPI_Graph_neighbors(now_, rank_, count, sources.data()), "MPI_Graph_neighbors");
    destinations = sources;
  } else if (topology == MPI_DIST_GRAPH) {
    int in = 0;
    int out = 0;
    int weighted = 0;
    check_local(MPI_Dist_graph_neighbors_count(now_, &in, &out, &weighted), "MPI_Dist_graph_neighbors_count");
    sources.resize(static_cast<std::size_t>(in));
    destinations.resize(static_cast<std::size_t>(out));
    std::vector<int> weights(static_cast<std::size_t>(std::max(in, out)));
    std::vector<int> other_weights = weights;
    check_local(MPI_Dist_graph_neighbors(now_, in, sources.data(), weights.data(), out, destinations.data(),
                                         other_weights.data()),
                "MPI_Dist_graph_neighbors");
  } else {
    throw MpiError(MPI_ERR_TOPOLOGY, "the communicator has no topology");
  }
  const auto number = [](const std::vector<int>& ranks, std::vector<Neighbour>& neighbours) {
    for (auto each = ranks.begin(); each != ranks.end(); ++each) {
      neighbours.push_back({*each, static_cast<int>(std::count(ranks.begin(), each, *each))});
    }
  };
  number(sources, from_);
  number(destinations, to_);
}

// MPI_IN_PLACE: it is where the result will be.
ElementRange CollectiveBlocks::contribution(int piece) const {
  const bool in_place = is_in_place(call_.send);
  if (shape_.combination != Combines::none) {
    BlocksOfCall vector = call_.receive;
    if (!in_place) vector.buffer = call_.send.buffer;
    return shape_.has_block_for_each ? place_in(vector, piece) : whole(vector);
  }
  if (shape_.has_block_for_each) return place_in(in_place ? call_.receive : call_.send, piece);
  return in_place ? place_in(call_.receive, rank_) : whole(call_.send);
}

std::vector<BlockOfRank> CollectiveBlocks::given() const {
  std::vector<BlockOfRank> blocks;
  if (!gives_ || call_.kind == CollectiveKind::barrier) return blocks;
  if (!shape_.has_block_for_each) {
    blocks.push_back({BlockOfRank::kEveryRank, 0, contribution(0)});
  } else if (shape_.givers == Ranks::neighbours) {
    for (int i = 0; i < static_cast<int>(to_.size()); ++i) {
      const Neighbour& neighbour = to_[static_cast<std::size_t>(i)];
      if (neighbour.rank != MPI_PROC_NULL) blocks.push_back({neighbour.rank, neighbour.label, contribution(i)});
    }
  } else {
    for (int rank = 0; rank < size_; ++rank) blocks.push_back({rank, 0, contribution(rank)});
  }
  return blocks;
}

std::vector<BlockOfRank> CollectiveBlocks::sent() const {
  std::vector<BlockOfRank> blocks = given();
  if (blocks.empty() || blocks.front().rank != BlockOfRank::kEveryRank) return blocks;
  const ElementRange place = blocks.front().place;
  blocks.clear();
  if (shape_.takers == Ranks::root) {
    blocks.push_back({call_.root, 0, place});
  } else if (shape_.takers == Ranks::neighbours) {
    for (const Neighbour& each : to_) {
      if (each.rank != MPI_PROC_NULL) blocks.push_back({each.rank, 0, place});
    }
  } else {
    for (int rank = 0; rank < size_; ++rank) blocks.push_back({rank, 0, place});
  }
  return blocks;
}

std::vector<BlockOfRank> CollectiveBlocks::taken() const {
  std::vector<BlockOfRank> blocks;
  if (!takes_) return blocks;
  const BlocksOfCall& receive = call_.receive;
  if (shape_.givers == Ranks::root) {
    if (!is_in_place(receive)) blocks.push_back({call_.root, 0, whole(receive)});
  } else if (shape_.givers == Ranks::neighbours) {
    for (int i = 0; i < static_cast<int>(from_.size()); ++i) {
      const Neighbour& neighbour = from_[static_cast<std::size_t>(i)];
      if (neighbour.rank == MPI_PROC_NULL) continue;
      blocks.push_back({neighbour.rank, shape_.has_block_for_each ? neighbour.label : 0, place_in(receive, i)});
    }
  } else if (shape_.combination != Combines::none) {
    ElementRange result = whole(receive);
    if (receive.counts != nullptr) result.count = receive.counts[rank_];
    int end = size_;
    if (shape_.combination == Combines::up_to_own) end = rank_ + 1;
    if (shape_.combination == Combines::below_own) end = rank_;
    for (int rank = 0; rank < end; ++rank) blocks.push_back({rank, 0, result});
  } else if (call_.kind == CollectiveKind::barrier) {
    for (int rank = 0; rank < size_; ++rank) blocks.push_back({rank, 0, {}});
  } else {
    for (int rank = 0; rank < size_; ++rank) blocks.push_back({rank, 0, place_in(receive, rank)});
  }
  return blocks;
}

}  // namespace fenix_impl
