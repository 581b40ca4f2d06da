// SPDX-License-Identifier: BSD-3-Clause
#include "collective_cases.hpp"

#include <array>
#include <numeric>

#include "persisting.hpp"

namespace {

/// Calls a function in one of its forms. A persistent request is started twice.
template <class Blocking, class Immediate, class Init, class... Arguments>
int call(Form form, Blocking blocking, Immediate immediate, Init init, MPI_Comm comm, Arguments... arguments) {
  if (form == Form::blocking) return blocking(arguments..., comm);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = form == Form::immediate ? immediate(arguments..., comm, &request)
                                     : init(arguments..., comm, MPI_INFO_NULL, &request);
  if (form == Form::immediate) return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int turn = 0; turn < 2 && code == MPI_SUCCESS; ++turn) {
    code = turn == 0 ? MPI_Start(&request) : MPI_Startall(1, &request);
    int flag = 0;
    while (code == MPI_SUCCESS && flag == 0) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  return code;
}

// 2 × 2 matrices of unsigned integers: their product depends on the order, and not on the parentheses.
void multiply(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  const auto* a = static_cast<const unsigned*>(in);
  auto* b = static_cast<unsigned*>(inout);
  for (int i = 0; i < *length; ++i, a += 4, b += 4) {
    const std::array<unsigned, 4> product{a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                                          a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
    std::copy(product.begin(), product.end(), b);
  }
}

// Two integers of three: there is a hole between elements.
void add_with_holes(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  const auto* a = static_cast<const unsigned*>(in);
  auto* b = static_cast<unsigned*>(inout);
  for (int i = 0; i < *length; ++i, a += 3, b += 3) {
    b[0] += a[0];
    b[2] += a[2];
  }
}

struct Types {
  MPI_Datatype column = MPI_DATATYPE_NULL;  // every third integer of six
  MPI_Datatype pair = MPI_DATATYPE_NULL;    // two integers together, with a hole behind them
  MPI_Datatype matrix = MPI_DATATYPE_NULL;  // four integers
  MPI_Datatype holes = MPI_DATATYPE_NULL;   // the first and the last one of three
  MPI_Op product = MPI_OP_NULL;
  MPI_Op sum = MPI_OP_NULL;

  Types() {
    MPI_Datatype strided = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 3, MPI_INT, &strided);
    MPI_Type_create_resized(strided, 0, 6 * sizeof(int), &column);
    MPI_Type_vector(2, 1, 2, MPI_INT, &holes);
    MPI_Datatype two = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 5 * sizeof(int), &pair);
    MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
    for (MPI_Datatype* each : {&column, &pair, &matrix, &holes}) MPI_Type_commit(each);
    MPI_Type_free(&strided);
    MPI_Type_free(&two);
    MPI_Op_create(multiply, 0, &product);
    MPI_Op_create(add_with_holes, 1, &sum);
  }
};

Types& types() {
  static Types all;
  return all;
}

/// Counts and displacements for each rank: the last ones first, with gaps, and without elements for rank 1.
struct Gaps {
  std::vector<int> counts;
  std::vector<int> displacements;

  explicit Gaps(int size) {
    for (int rank = 0; rank < size; ++rank) {
      counts.push_back(rank == 1 ? 0 : rank + 2);
      displacements.push_back((size - 1 - rank) * 12 + 1);
    }
  }
};

/// For alltoallv: rank `from` gives rank `to` so many.
int given(int from, int to) { return (from + 2 * to) % 4; }

struct Exchange {
  std::vector<int> sent, received, sent_at, received_at;

  Exchange(int rank, int size, int unit) {
    for (int other = 0; other < size; ++other) {
      sent.push_back(given(rank, other));
      received.push_back(given(other, rank));
      sent_at.push_back((size - 1 - other) * 9 * unit);
      received_at.push_back((other * 7 + 2) * unit);
    }
  }
};

constexpr int kInt = sizeof(int);

void add_plain(std::vector<Case>& cases, int size) {
  const auto add = [&](const std::string& name, auto function) { cases.push_back({name, Kind::plain, function}); };
  for (int root = 0; root < size; ++root) {
    const std::string of_root = ".root" + std::to_string(root);
    add("bcast" + of_root, [=](Form form, MPI_Comm comm, Buffers& b) {
      return call(form, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, comm, b.received.data(), 50, MPI_INT, root);
    });
    cases.back().in_place = [root](int rank, int) { return std::pair(0, rank == root ? 50 : 0); };
    add("gather" + of_root, [=](Form form, MPI_Comm comm, Buffers& b) {
      return call(form, MPI_Gather, MPI_Igather, MPI_Gather_init, comm, b.sent.data(), 7, MPI_INT, b.received.data(), 7,
                  MPI_INT, root);
    });
    add("gatherv" + of_root, [=](Form form, MPI_Comm comm, Buffers& b) {
      static const Gaps gaps(size);
      return call(form, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, comm, b.sent.data(),
                  gaps.counts[static_cast<std::size_t>(rank_in(comm))], MPI_INT, b.received.data(), gaps.counts.data(),
                  gaps.displacements.data(), MPI_INT, root);
    });
    add("scatter" + of_root, [=](Form form, MPI_Comm comm, Buffers& b) {
      return call(form, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, comm, b.sent.data(), 7, MPI_INT, b.received.data(),
                  7, MPI_INT, root);
    });
    add("scatterv" + of_root, [=](Form form, MPI_Comm comm, Buffers& b) {
      static const Gaps gaps(size);
      return call(form, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, comm, b.sent.data(), gaps.counts.data(),
                  gaps.displacements.data(), MPI_INT, b.received.data(),
                  gaps.counts[static_cast<std::size_t>(rank_in(comm))], MPI_INT, root);
    });
    add("reduce" + of_root, [=](Form form, MPI_Comm comm, Buffers& b) {
      return call(form, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, comm, b.sent.data(), b.received.data(), 5,
                  types().matrix, types().product, root);
    });
  }
  add("barrier",
      [](Form form, MPI_Comm comm, Buffers&) { return call(form, MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, comm); });
  add("allgather", [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, comm, b.sent.data(), 11, MPI_INT,
                b.received.data(), 11, MPI_INT);
  });
  add("allgatherv", [size](Form form, MPI_Comm comm, Buffers& b) {
    static const Gaps gaps(size);
    return call(form, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, comm, b.sent.data(),
                gaps.counts[static_cast<std::size_t>(rank_in(comm))], MPI_INT, b.received.data(), gaps.counts.data(),
                gaps.displacements.data(), MPI_INT);
  });
  add("alltoall", [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, comm, b.sent.data(), 9, MPI_INT,
                b.received.data(), 9, MPI_INT);
  });
  add("alltoallv", [size](Form form, MPI_Comm comm, Buffers& b) {
    static const Exchange e(rank_in(comm), size, 1);
    return call(form, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, comm, b.sent.data(), e.sent.data(),
                e.sent_at.data(), MPI_INT, b.received.data(), e.received.data(), e.received_at.data(), MPI_INT);
  });
  add("alltoallw", [size](Form form, MPI_Comm comm, Buffers& b) {
    static const Exchange e(rank_in(comm), size, kInt);
    const std::vector<MPI_Datatype> all(static_cast<std::size_t>(size), MPI_INT);
    return call(form, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, comm, b.sent.data(), e.sent.data(),
                e.sent_at.data(), all.data(), b.received.data(), e.received.data(), e.received_at.data(), all.data());
  });
  add("allreduce", [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, comm, b.sent.data(), b.received.data(), 6,
                types().matrix, types().product);
  });
  add("scan", [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Scan, MPI_Iscan, MPI_Scan_init, comm, b.sent.data(), b.received.data(), 6, types().matrix,
                types().product);
  });
  add("exscan", [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, comm, b.sent.data(), b.received.data(), 6,
                types().matrix, types().product);
  });
  add("reduce_scatter", [size](Form form, MPI_Comm comm, Buffers& b) {
    static const Gaps gaps(size);
    return call(form, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, comm, b.sent.data(),
                b.received.data(), gaps.counts.data(), types().matrix, types().product);
  });
  add("reduce_scatter_block", [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, comm,
                b.sent.data(), b.received.data(), 3, MPI_INT, MPI_BXOR);
  });
}

void add_in_place(std::vector<Case>& cases, int size) {
  using Range = std::function<std::pair<int, int>(int, int)>;
  const auto add = [&](const std::string& name, const Range& range, auto function) {
    cases.push_back({name + ".in_place", Kind::in_place, function, range});
  };
  const Range everything = [](int, int) { return std::pair(0, kRoom); };
  const Range block_of_seven = [](int rank, int) { return std::pair(7 * rank, 7); };
  const Range with_gaps = [](int rank, int ranks) {
    const Gaps gaps(ranks);
    const auto at = static_cast<std::size_t>(rank);
    return std::pair(gaps.displacements[at], gaps.counts[at]);
  };
  for (int root = 0; root < size; ++root) {
    const std::string of_root = ".root" + std::to_string(root);
    const auto at_root = [root](const Range& range) -> Range {
      return [=](int rank, int ranks) { return rank == root ? range(rank, ranks) : std::pair(0, 0); };
    };
    add("gather" + of_root, at_root(block_of_seven), [=](Form form, MPI_Comm comm, Buffers& b) {
      const void* sent = rank_in(comm) == root ? MPI_IN_PLACE : b.sent.data();
      return call(form, MPI_Gather, MPI_Igather, MPI_Gather_init, comm, sent, 7, MPI_INT, b.received.data(), 7, MPI_INT,
                  root);
    });
    add("gatherv" + of_root, at_root(with_gaps), [=](Form form, MPI_Comm comm, Buffers& b) {
      static const Gaps gaps(size);
      const void* sent = rank_in(comm) == root ? MPI_IN_PLACE : b.sent.data();
      return call(form, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, comm, sent,
                  gaps.counts[static_cast<std::size_t>(rank_in(comm))], MPI_INT, b.received.data(), gaps.counts.data(),
                  gaps.displacements.data(), MPI_INT, root);
    });
    add("scatter" + of_root, at_root([](int, int) { return std::pair(0, 0); }),
        [=](Form form, MPI_Comm comm, Buffers& b) {
          void* received = rank_in(comm) == root ? MPI_IN_PLACE : b.received.data();
          return call(form, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, comm, b.sent.data(), 7, MPI_INT, received, 7,
                      MPI_INT, root);
        });
    add("scatterv" + of_root, at_root([](int, int) { return std::pair(0, 0); }),
        [=](Form form, MPI_Comm comm, Buffers& b) {
          static const Gaps gaps(size);
          void* received = rank_in(comm) == root ? MPI_IN_PLACE : b.received.data();
          return call(form, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, comm, b.sent.data(), gaps.counts.data(),
                      gaps.displacements.data(), MPI_INT, received,
                      gaps.counts[static_cast<std::size_t>(rank_in(comm))], MPI_INT, root);
        });
    add("reduce" + of_root, at_root(everything), [=](Form form, MPI_Comm comm, Buffers& b) {
      const bool is_root = rank_in(comm) == root;
      const void* sent = is_root ? MPI_IN_PLACE : b.sent.data();
      return call(form, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, comm, sent, b.received.data(), kRoom / 4,
                  types().matrix, types().product, root);
    });
  }
  add("allgather", block_of_seven, [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, comm, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
                b.received.data(), 7, MPI_INT);
  });
  add("allgatherv", with_gaps, [size](Form form, MPI_Comm comm, Buffers& b) {
    static const Gaps gaps(size);
    return call(form, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, comm, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
                b.received.data(), gaps.counts.data(), gaps.displacements.data(), MPI_INT);
  });
  const Range of_all = [](int, int ranks) { return std::pair(0, 9 * ranks); };
  add("alltoall", of_all, [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, comm, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
                b.received.data(), 9, MPI_INT);
  });
  // In place, a rank gets as many elements as it gives.
  static std::vector<int> counts, places, bytes;
  static std::vector<MPI_Datatype> same_types;
  if (counts.empty()) {
    for (int other = 0; other < size; ++other) {
      counts.push_back(5);
      places.push_back(5 * (size - 1 - other));
      bytes.push_back(places.back() * kInt);
      same_types.push_back(MPI_INT);
    }
  }
  const Range of_five = [](int, int ranks) { return std::pair(0, 5 * ranks); };
  add("alltoallv", of_five, [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, comm, MPI_IN_PLACE, nullptr, nullptr,
                MPI_DATATYPE_NULL, b.received.data(), counts.data(), places.data(), MPI_INT);
  });
  add("alltoallw", of_five, [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, comm, MPI_IN_PLACE, nullptr, nullptr, nullptr,
                b.received.data(), counts.data(), bytes.data(), same_types.data());
  });
  add("allreduce", everything, [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, comm, MPI_IN_PLACE, b.received.data(),
                kRoom / 4, types().matrix, types().product);
  });
  add("scan", everything, [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Scan, MPI_Iscan, MPI_Scan_init, comm, MPI_IN_PLACE, b.received.data(), kRoom / 4,
                types().matrix, types().product);
  });
  add("exscan", everything, [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, comm, MPI_IN_PLACE, b.received.data(), kRoom / 4,
                types().matrix, types().product);
  });
  cases.back().defined = [](int rank, int) { return rank == 0 ? 0 : kRoom; };
  add("reduce_scatter", everything, [size](Form form, MPI_Comm comm, Buffers& b) {
    static const Gaps gaps(size);
    return call(form, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, comm, MPI_IN_PLACE,
                b.received.data(), gaps.counts.data(), types().matrix, types().product);
  });
  cases.back().defined = [](int rank, int ranks) { return 4 * Gaps(ranks).counts[static_cast<std::size_t>(rank)]; };
  add("reduce_scatter_block", everything, [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, comm,
                MPI_IN_PLACE, b.received.data(), 3, MPI_INT, MPI_SUM);
  });
  cases.back().defined = [](int, int) { return 3; };
}

void add_typed(std::vector<Case>& cases, int size) {
  const auto add = [&](const std::string& name, auto function) {
    cases.push_back({name + ".typed", Kind::typed, function});
  };
  for (int root = 0; root < size; ++root) {
    const std::string of_root = ".root" + std::to_string(root);
    add("bcast" + of_root, [=](Form form, MPI_Comm comm, Buffers& b) {
      // Types with the same integers, in other places.
      return call(form, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, comm, b.received.data(), 8,
                  rank_in(comm) == root ? types().column : types().pair, root);
    });
    cases.back().in_place = [root](int rank, int) { return std::pair(0, rank == root ? 48 : 0); };
    cases.back().step = 3;
    add("gather" + of_root, [=](Form form, MPI_Comm comm, Buffers& b) {
      return call(form, MPI_Gather, MPI_Igather, MPI_Gather_init, comm, b.sent.data(), 4, types().column,
                  b.received.data(), 4, types().pair, root);
    });
    add("scatterv" + of_root, [=](Form form, MPI_Comm comm, Buffers& b) {
      static const Gaps gaps(size);
      return call(form, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, comm, b.sent.data(), gaps.counts.data(),
                  gaps.displacements.data(), types().pair, b.received.data(),
                  gaps.counts[static_cast<std::size_t>(rank_in(comm))], types().column, root);
    });
    add("reduce" + of_root, [=](Form form, MPI_Comm comm, Buffers& b) {
      return call(form, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, comm, b.sent.data(), b.received.data(), 20,
                  types().holes, types().sum, root);
    });
  }
  add("allgatherv", [size](Form form, MPI_Comm comm, Buffers& b) {
    static const Gaps gaps(size);
    return call(form, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, comm, b.sent.data(),
                gaps.counts[static_cast<std::size_t>(rank_in(comm))], types().column, b.received.data(),
                gaps.counts.data(), gaps.displacements.data(), types().pair);
  });
  add("alltoallw", [size](Form form, MPI_Comm comm, Buffers& b) {
    static const Exchange e(rank_in(comm), size, kInt);
    const std::vector<MPI_Datatype> sent(static_cast<std::size_t>(size), types().column);
    const std::vector<MPI_Datatype> received(static_cast<std::size_t>(size), types().pair);
    return call(form, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, comm, b.sent.data(), e.sent.data(),
                e.sent_at.data(), sent.data(), b.received.data(), e.received.data(), e.received_at.data(),
                received.data());
  });
  add("scan", [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Scan, MPI_Iscan, MPI_Scan_init, comm, b.sent.data(), b.received.data(), 20, types().holes,
                types().sum);
  });
  add("reduce_scatter", [size](Form form, MPI_Comm comm, Buffers& b) {
    static const Gaps gaps(size);
    return call(form, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, comm, b.sent.data(),
                b.received.data(), gaps.counts.data(), types().holes, types().sum);
  });
  add("allreduce", [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, comm, b.sent.data(), b.received.data(), 40,
                MPI_INT, MPI_MAX);
  });
}

/// Numbers of neighbours on a communicator.
struct Degrees {
  int in = 0;
  int out = 0;
};

Degrees degrees_of(MPI_Comm comm) {
  Degrees degrees;
  int topology = MPI_UNDEFINED;
  MPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    MPI_Cartdim_get(comm, &degrees.in);
    degrees.in *= 2;
  } else if (topology == MPI_GRAPH) {
    MPI_Graph_neighbors_count(comm, rank_in(comm), &degrees.in);
  } else {
    int weighted = 0;
    MPI_Dist_graph_neighbors_count(comm, &degrees.in, &degrees.out, &weighted);
    return degrees;
  }
  degrees.out = degrees.in;
  return degrees;
}

void add_neighbours(std::vector<Case>& cases, Kind kind, const std::string& name_of_kind) {
  const auto add = [&](const std::string& name, auto function) {
    cases.push_back({"neighbor_" + name + "." + name_of_kind, kind, function});
  };
  add("allgather", [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, comm, b.sent.data(),
                6, MPI_INT, b.received.data(), 6, MPI_INT);
  });
  add("allgatherv", [](Form form, MPI_Comm comm, Buffers& b) {
    const Degrees degrees = degrees_of(comm);
    const std::vector<int> counts(static_cast<std::size_t>(degrees.in), 6);
    std::vector<int> places;
    for (int i = 0; i < degrees.in; ++i) places.push_back(8 * (degrees.in - 1 - i));
    return call(form, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, comm,
                b.sent.data(), 6, MPI_INT, b.received.data(), counts.data(), places.data(), MPI_INT);
  });
  add("alltoall", [](Form form, MPI_Comm comm, Buffers& b) {
    return call(form, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, comm, b.sent.data(), 5,
                MPI_INT, b.received.data(), 5, MPI_INT);
  });
  add("alltoallv", [](Form form, MPI_Comm comm, Buffers& b) {
    const Degrees degrees = degrees_of(comm);
    const std::vector<int> sent(static_cast<std::size_t>(degrees.out), 4);
    const std::vector<int> received(static_cast<std::size_t>(degrees.in), 4);
    std::vector<int> sent_at;
    std::vector<int> received_at;
    for (int i = 0; i < degrees.out; ++i) sent_at.push_back(3 * i);
    for (int i = 0; i < degrees.in; ++i) received_at.push_back(9 * (degrees.in - 1 - i));
    return call(form, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, comm, b.sent.data(),
                sent.data(), sent_at.data(), MPI_INT, b.received.data(), received.data(), received_at.data(), MPI_INT);
  });
  add("alltoallw", [](Form form, MPI_Comm comm, Buffers& b) {
    const Degrees degrees = degrees_of(comm);
    const std::vector<int> sent(static_cast<std::size_t>(degrees.out), 2);
    const std::vector<int> received(static_cast<std::size_t>(degrees.in), 2);
    const std::vector<MPI_Datatype> sent_types(static_cast<std::size_t>(degrees.out), types().column);
    const std::vector<MPI_Datatype> received_types(static_cast<std::size_t>(degrees.in), types().pair);
    std::vector<MPI_Aint> sent_at;
    std::vector<MPI_Aint> received_at;
    for (int i = 0; i < degrees.out; ++i) sent_at.push_back(4 * i * kInt);
    for (int i = 0; i < degrees.in; ++i) received_at.push_back(11 * i * kInt);
    return call(form, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, comm, b.sent.data(),
                sent.data(), sent_at.data(), sent_types.data(), b.received.data(), received.data(), received_at.data(),
                received_types.data());
  });
}

}  // namespace

std::vector<Case> all_cases(int size) {
  std::vector<Case> cases;
  add_plain(cases, size);
  add_in_place(cases, size);
  add_typed(cases, size);
  add_neighbours(cases, Kind::cart, "cart");
  add_neighbours(cases, Kind::torus, "torus");
  add_neighbours(cases, Kind::graph, "graph");
  add_neighbours(cases, Kind::dist_graph, "dist_graph");
  return cases;
}

MPI_Comm make_comm(MPI_Comm comm, Kind kind) {
  const int size = size_of(comm);
  const int rank = rank_in(comm);
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_SUCCESS;
  do {
    switch (kind) {
      case Kind::cart: {
        const std::array<int, 2> dimensions{size, 1};
        const std::array<int, 2> periods{1, 0};
        code = MPI_Cart_create(comm, 2, dimensions.data(), periods.data(), 0, &made);
        break;
      }
      case Kind::torus: {
        // Both neighbours in a dimension are the same rank.
        const std::array<int, 2> dimensions{2, size / 2};
        const std::array<int, 2> periods{1, 1};
        code = MPI_Cart_create(comm, 2, dimensions.data(), periods.data(), 0, &made);
        break;
      }
      case Kind::graph: {
        // A star around rank 0, with two edges to rank 1.
        std::vector<int> ends;
        std::vector<int> edges;
        for (int other = 1; other < size; ++other) edges.push_back(other);
        edges.push_back(1);
        ends.push_back(static_cast<int>(edges.size()));
        for (int other = 1; other < size; ++other) {
          edges.insert(edges.end(), other == 1 ? 2U : 1U, 0);
          ends.push_back(static_cast<int>(edges.size()));
        }
        code = MPI_Graph_create(comm, size, ends.data(), edges.data(), 0, &made);
        break;
      }
      case Kind::dist_graph: {
        // To the next rank, to oneself, and once more to the next one; the last rank gives nothing to the first one.
        std::vector<int> sources;
        std::vector<int> destinations;
        if (rank > 0) sources = {rank - 1, rank - 1};
        sources.push_back(rank);
        if (rank + 1 < size) destinations.push_back(rank + 1);
        destinations.push_back(rank);
        if (rank + 1 < size) destinations.push_back(rank + 1);
        code = MPI_Dist_graph_create_adjacent(comm, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
                                              static_cast<int>(destinations.size()), destinations.data(),
                                              MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
        break;
      }
      default:
        return comm;
    }
  } while (code != MPI_SUCCESS && is_failure(code));
  CHECK(code == MPI_SUCCESS);
  return made;
}

void fill(const Case& which, int rank, int size, bool with_contribution, Buffers& buffers) {
  int seed = 0;
  for (const char letter : which.name) seed = seed * 31 % 10007 + letter;
  for (int i = 0; i < kRoom; ++i) {
    const auto at = static_cast<std::size_t>(i);
    buffers.sent[at] = (rank + 1) * 1000 + seed + i * 7;
    buffers.received[at] = -i - 1;
  }
  if (!which.in_place || !with_contribution) return;
  const auto [first, count] = which.in_place(rank, size);
  for (int i = first; i < first + count; i += which.step)
    buffers.received[static_cast<std::size_t>(i)] = (rank + 2) * 777 + seed + i * 13;
}
