// SPDX-License-Identifier: BSD-3-Clause
//
// A flame that spreads over blocks of different widths, which move between the ranks.
// plain.cpp and protected.cpp are the same program, without Fenix and with it: diff plain.cpp protected.cpp
//
// mpicxx -std=c++20 -O2 -o protected protected.cpp -I$F/include -L$F/lib -Wl,-rpath,$F/lib -lfenix
// mpirun --with-ft ulfm -n 5 ./protected [STEPS]
// F: the folder where Fenix is installed. With 20000 steps there is time to kill a rank.
//
// The blocks stand side by side in a ring. Each rank has some that follow each other. Cells in the flame
// take more work than others: so every few steps the blocks are divided anew.
#include <fenix.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

namespace data = fenix::data;

enum { SPARES = 1, INTERVAL = 5, GROUP = 0, MESH = 0 };
enum { HEIGHT = 48, BLOCKS = 24, REBALANCE = 10 };

struct Block {
  int id, width;
  std::vector<double> cells;  // width + 2 columns of HEIGHT cells: the first and the last are those of the neighbours

  double* column(int number) { return cells.data() + static_cast<std::ptrdiff_t>(number) * HEIGHT; }
};

static MPI_Comm comm = MPI_COMM_NULL;
static int role, error, rank, ranks;
static int steps = 200;

static int step;
static std::vector<int> owner;     // rank of each block
static std::vector<Block> blocks;  // of this rank, in the order of their numbers

static int width_of(int id) { return 6 + id * 7 % 13; }

static Block make_block(int id) {
  const int width = width_of(id);
  return {id, width, std::vector<double>(static_cast<std::size_t>((width + 2) * HEIGHT))};
}

// Sets the initial state: one block burns.
static void begin() {
  step = 0;
  owner.resize(BLOCKS);
  blocks.clear();
  for (int id = 0; id < BLOCKS; ++id) {
    owner[static_cast<std::size_t>(id)] = id * ranks / BLOCKS;
    if (id * ranks / BLOCKS != rank) continue;
    Block block = make_block(id);
    if (id == 3)
      for (double& cell : block.cells) cell = 1;
    blocks.push_back(block);
  }
}

// Gets the columns beside each block: of another block here, or of the ranks before and after.
static void exchange() {
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    Block &left = blocks[i - 1], &right = blocks[i];
    std::memcpy(right.column(0), left.column(left.width), HEIGHT * sizeof(double));
    std::memcpy(left.column(left.width + 1), right.column(1), HEIGHT * sizeof(double));
  }
  Block &first = blocks.front(), &last = blocks.back();
  const int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
  MPI_Sendrecv(first.column(1), HEIGHT, MPI_DOUBLE, before, 0, last.column(last.width + 1), HEIGHT, MPI_DOUBLE, after,
               0, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(last.column(last.width), HEIGHT, MPI_DOUBLE, after, 1, first.column(0), HEIGHT, MPI_DOUBLE, before, 1,
               comm, MPI_STATUS_IGNORE);
}

static bool is_in_flame(double burnt) { return burnt > 0.001 && burnt < 0.999; }

// Makes a time step of a block: what has burnt spreads, and cells in the flame burn on. The edges do not burn.
static void advance(Block& block) {
  const std::vector<double> old = block.cells;
  for (int x = 1; x <= block.width; ++x) {
    const double* here = old.data() + static_cast<std::ptrdiff_t>(x) * HEIGHT;
    const double *left = here - HEIGHT, *right = here + HEIGHT;
    for (int y = 1; y < HEIGHT - 1; ++y) {
      double burnt = here[y] + 0.2 * (left[y] + right[y] + here[y - 1] + here[y + 1] - 4 * here[y]);
      if (is_in_flame(burnt))
        for (int part = 0; part < 10; ++part) burnt += 0.04 * burnt * (1 - burnt);
      block.column(x)[y] = burnt;
    }
  }
}

// Gives the work that a block is: its cells, and more for those in the flame.
static int work_of(Block& block) {
  int work = 0;
  for (const double* cell = block.column(1); cell != block.column(block.width + 1); ++cell)
    work += is_in_flame(*cell) ? 10 : 1;
  return work;
}

// Divides the blocks among the ranks by their work. Each rank has one at least.
static std::vector<int> divide(const std::vector<int>& work) {
  long total = 0, so_far = 0;
  for (const int each : work) total += each;
  std::vector<int> to(BLOCKS);
  int place = 0;
  for (int id = 0; id < BLOCKS; ++id) {
    const bool enough = so_far * ranks >= total * (place + 1);
    const bool last_chance = BLOCKS - id < ranks - place;
    if (id > 0 && place < ranks - 1 && (enough || last_chance)) ++place;
    to[static_cast<std::size_t>(id)] = place;
    so_far += work[static_cast<std::size_t>(id)];
  }
  return to;
}

// Moves blocks to the ranks that shall have them.
static void rebalance() {
  std::vector<int> mine(BLOCKS), work(BLOCKS);
  for (Block& block : blocks) mine[static_cast<std::size_t>(block.id)] = work_of(block);
  MPI_Allreduce(mine.data(), work.data(), BLOCKS, MPI_INT, MPI_SUM, comm);
  const std::vector<int> to = divide(work);
  std::vector<Block> kept;
  std::size_t next = 0;
  for (int id = 0; id < BLOCKS; ++id) {
    const int source = owner[static_cast<std::size_t>(id)], target = to[static_cast<std::size_t>(id)];
    const int count = (width_of(id) + 2) * HEIGHT;
    if (source == rank) {
      Block& block = blocks[next++];
      if (target == rank) kept.push_back(block);
      if (target != rank) MPI_Send(block.cells.data(), count, MPI_DOUBLE, target, id, comm);
    } else if (target == rank) {
      kept.push_back(make_block(id));
      MPI_Recv(kept.back().cells.data(), count, MPI_DOUBLE, source, id, comm, MPI_STATUS_IGNORE);
    }
  }
  blocks = kept;
  owner = to;
}

// Prints how much has burnt, a number that depends on each bit, and how many cells each rank has.
static void report() {
  double mine = 0, burnt = 0;
  std::uint64_t my_bits = 0, bits = 0;
  int my_cells = 0;
  for (Block& block : blocks) {
    for (double* cell = block.column(1); cell != block.column(block.width + 1); ++cell) {
      std::uint64_t word;
      std::memcpy(&word, cell, sizeof word);
      my_bits += word * static_cast<std::uint64_t>(2 * my_cells++ + 1);
      mine += *cell;
    }
  }
  MPI_Reduce(&mine, &burnt, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  MPI_Reduce(&my_bits, &bits, 1, MPI_UINT64_T, MPI_SUM, 0, comm);
  std::vector<int> cells(static_cast<std::size_t>(ranks));
  MPI_Gather(&my_cells, 1, MPI_INT, cells.data(), 1, MPI_INT, 0, comm);
  if (rank != 0) return;
  std::printf("step %3d: burnt %.16e, bits %016llx, cells on each rank", step, burnt,
              static_cast<unsigned long long>(bits));
  for (const int number : cells) std::printf(" %d", number);
  std::printf("\n");
}

// Writes all that is protected. The size may be another one each time, and on each rank.
static void write(std::iostream& file) {
  const int number = static_cast<int>(blocks.size());
  file.write(reinterpret_cast<const char*>(&step), sizeof step);
  file.write(reinterpret_cast<const char*>(owner.data()), BLOCKS * sizeof(int));
  file.write(reinterpret_cast<const char*>(&number), sizeof number);
  for (const Block& block : blocks) {
    file.write(reinterpret_cast<const char*>(&block.id), sizeof block.id);
    file.write(reinterpret_cast<const char*>(block.cells.data()),
               static_cast<std::streamsize>(block.cells.size() * sizeof(double)));
  }
}

static void read(std::iostream& file) {
  int number = 0;
  owner.resize(BLOCKS);
  file.read(reinterpret_cast<char*>(&step), sizeof step);
  file.read(reinterpret_cast<char*>(owner.data()), BLOCKS * sizeof(int));
  file.read(reinterpret_cast<char*>(&number), sizeof number);
  blocks.clear();
  for (int i = 0; i < number; ++i) {
    int id = 0;
    file.read(reinterpret_cast<char*>(&id), sizeof id);
    blocks.push_back(make_block(id));
    std::vector<double>& cells = blocks.back().cells;
    file.read(reinterpret_cast<char*>(cells.data()), static_cast<std::streamsize>(cells.size() * sizeof(double)));
  }
}

// Tells Fenix what to protect: a member without a buffer, whose bytes are those that write writes.
static void protect() {
  data::group_create(GROUP, {.depth = 0});
  const auto serializer = [](std::iostream& file, int direction, void*, MPI_Count, MPI_Count) {
    file.exceptions(std::ios::badbit | std::ios::failbit);
    direction == FENIX_SERIALIZE ? write(file) : read(file);
  };
  data::member_define(GROUP, MESH, nullptr, FENIX_RESIZEABLE, MPI_BYTE, serializer);
}

// Gives false if nothing was committed yet, or it is lost.
static bool restore() {
  try {
    data::member_restore(GROUP, MESH);
  } catch (const fenix::RuntimeException& exception) {
    if (exception.error != FENIX_ERROR_NODATA_FOUND) throw;
    return false;
  }
  return true;
}

static void save() {
  data::member_store(GROUP, MESH);
  data::commit_barrier(GROUP);
}

// From the start, or from the latest failure, to the end.
static void run() {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (error == FENIX_WARNING_SPARE_RANKS_DEPLETED) MPI_Abort(comm, EXIT_FAILURE);  // the blocks are for all ranks
  protect();
  if (!restore()) begin();
  if (rank == 0 && role != FENIX_ROLE_INITIAL_RANK) std::printf("a rank has died: on from step %d\n", step);
  while (step < steps) {
    exchange();
    for (Block& block : blocks) advance(block);
    ++step;
    if (step % REBALANCE == 0) rebalance();
    if (step % 10 == 0) report();
    if (step % INTERVAL == 0) save();
  }
  fenix::check(Fenix_Finalize());
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc > 1) steps = std::atoi(argv[1]);
  fenix::init({.role = &role, .out_comm = &comm, .spares = SPARES, .err = &error});
  for (bool done = false; !done;) {
    try {
      run();
      done = true;
    } catch (const fenix::CommException&) {
      // comm is written anew: once more from the top
    } catch (const fenix::RuntimeException& exception) {
      std::fprintf(stderr, "%s\n", exception.what());
      MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
