// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comms/dist_graph.hpp"

#include <fenix_mpi/persistent.h>

#include <cstddef>
#include <vector>

#include "base/of_thread.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/real.hpp"

namespace fenix_impl {
namespace {

using Numbers = std::vector<int>;

/// An edge as one rank tells another one: whether it begins there, the rank at its other end, its weight.
constexpr int kNumbersOfEdge = 3;

/// Messages to all ranks, or from all.
struct Messages {
  Numbers lengths;
  Numbers places;
  Numbers all;

  void place() {
    places.assign(lengths.size(), 0);
    for (std::size_t rank = 1; rank < lengths.size(); ++rank) places[rank] = places[rank - 1] + lengths[rank - 1];
    all.resize(static_cast<std::size_t>(places.back() + lengths.back()));
  }
};

/// They live as long as their thread.
struct SharedEdges {
  Messages sent;
  Messages received;
  Numbers sources;
  Numbers source_weights;
  Numbers destinations;
  Numbers destination_weights;
  bool are_weighted = false;
};

SharedEdges& shared_edges() {
  auto& edges = of_thread<SharedEdges>();
  return edges;
}

/// Calls do for both ends of each edge: a rank, whether the edge begins there, the rank at the other end, the weight.
template <class Do>
void for_each_end(const GivenEdges& edges, const Do& action) {
  std::size_t at = 0;
  for (int i = 0; i < edges.count; ++i) {
    for (int j = 0; j < edges.degrees[i]; ++j, ++at) {
      const int source = edges.sources[i];
      const int destination = edges.destinations[at];
      if (source == MPI_PROC_NULL || destination == MPI_PROC_NULL) continue;
      const int weight = edges.weights != MPI_UNWEIGHTED ? edges.weights[at] : 0;
      action(source, true, destination, weight);
      action(destination, false, source, weight);
    }
  }
}

void write(const GivenEdges& edges, int size, Messages& sent) {
  sent.lengths.assign(static_cast<std::size_t>(size), 0);
  for_each_end(edges,
               [&](int rank, bool, int, int) { sent.lengths[static_cast<std::size_t>(rank)] += kNumbersOfEdge; });
  sent.place();
  Numbers next = sent.places;
  for_each_end(edges, [&](int rank, bool begins, int other, int weight) {
    for (const int number : {begins ? 1 : 0, other, weight}) {
      sent.all[static_cast<std::size_t>(next[static_cast<std::size_t>(rank)]++)] = number;
    }
  });
}

void read(const Messages& received, SharedEdges& edges) {
  for (Numbers* each : {&edges.sources, &edges.source_weights, &edges.destinations, &edges.destination_weights}) {
    each->clear();
  }
  for (std::size_t at = 0; at < received.all.size(); at += kNumbersOfEdge) {
    const bool begins = received.all[at] != 0;
    (begins ? edges.destinations : edges.sources).push_back(received.all[at + 1]);
    (begins ? edges.destination_weights : edges.source_weights).push_back(received.all[at + 2]);
  }
}

/// Returns an array of weights: an empty one must not be null.
const int* weights_in(const SharedEdges& edges, const Numbers& weights) {
  if (!edges.are_weighted) return MPI_UNWEIGHTED;
  return weights.empty() ? MPI_WEIGHTS_EMPTY : weights.data();
}

}  // namespace

bool are_valid(const GivenEdges& edges, int size) {
  const auto is_rank = [size](int rank) { return rank == MPI_PROC_NULL || (rank >= 0 && rank < size); };
  if (edges.count < 0) return false;
  const bool lacks_array =
      edges.sources == nullptr || edges.degrees == nullptr || edges.destinations == nullptr || edges.weights == nullptr;
  if (edges.count > 0 && lacks_array) return false;
  std::size_t at = 0;
  for (int i = 0; i < edges.count; ++i) {
    if (!is_rank(edges.sources[i]) || edges.degrees[i] < 0) return false;
    for (int j = 0; j < edges.degrees[i]; ++j, ++at) {
      if (!is_rank(edges.destinations[at])) return false;
      if (edges.weights != MPI_UNWEIGHTED && edges.weights[at] < 0) return false;
    }
  }
  return true;
}

int share_edges(const GivenEdges& edges, MPI_Comm comm, bool logs) {
  SharedEdges& shared = shared_edges();
  Messages& sent = shared.sent;
  Messages& received = shared.received;
  int size = 0;
  real.Comm_size(logs ? now(comm) : comm, &size);
  shared.are_weighted = edges.weights != MPI_UNWEIGHTED;
  write(edges, size, sent);
  received.lengths.assign(static_cast<std::size_t>(size), 0);
  const auto exchange_lengths = logs ? logged_Alltoall : real.Alltoall;
  int error = exchange_lengths(sent.lengths.data(), 1, MPI_INT, received.lengths.data(), 1, MPI_INT, comm);
  if (error != MPI_SUCCESS) return error;
  received.place();
  const auto exchange = logs ? logged_Alltoallv : real.Alltoallv;
  error = exchange(sent.all.data(), sent.lengths.data(), sent.places.data(), MPI_INT, received.all.data(),
                   received.lengths.data(), received.places.data(), MPI_INT, comm);
  if (error == MPI_SUCCESS) read(received, shared);
  return error;
}

int make_of_shared_edges(MPI_Comm parent, MPI_Info info, int reorder, MPI_Comm* newcomm) {
  const SharedEdges& edges = shared_edges();
  return real.Dist_graph_create_adjacent(parent, static_cast<int>(edges.sources.size()), edges.sources.data(),
                                         weights_in(edges, edges.source_weights),
                                         static_cast<int>(edges.destinations.size()), edges.destinations.data(),
                                         weights_in(edges, edges.destination_weights), info, reorder, newcomm);
}

}  // namespace fenix_impl
