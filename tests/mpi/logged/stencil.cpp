// SPDX-License-Identifier: BSD-3-Clause
// A stencil in C++, by the names of the current Fenix: messages are logged in a block of each iteration, failures elsewhere are exceptions that
// the program catches where they come. Only the rank that dies goes back to its checkpoint. The fields are those of one process.
//
//   logged_stencil SPARES [RANK@ITERATION@PLACE]…
//
// PLACE: begin (of the iteration, before the log is active), exchange (in the block, before the messages), stored (in a checkpoint, before its
// commit), or checkpoint (before it).
#include <fenix/logging/message_logging.h>
#include <fenix/mpi_util.hpp>
#include <fenix_util.hpp>
#include <mpi.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "../check.hpp"

using check::require;
namespace data = fenix::data;
namespace mlog = fenix::mlog;
namespace util = fenix::util;

namespace {

constexpr int kLog = 0;
constexpr int kGroup = 0;
constexpr int kFieldMember = 0;
constexpr int kLogMember = 1;
constexpr int kIterations = 40;
constexpr int kInterval = 8;
constexpr std::size_t kCells = 16;

struct Field {
  std::array<double, kCells> cells{};
  double iteration = 0;
};
constexpr int kDoubles = static_cast<int>(kCells) + 1;

struct Kill {
  int process = 0;
  int iteration = 0;
  std::string place;
};

std::vector<Kill> kills;
int calls_of_help = 0;

void die_if_due(const Field& field, const char* place) {
  const int process = util::comm_rank(MPI_COMM_WORLD);
  for (const Kill& each : kills) {
    if (each.process == process && each.iteration == static_cast<int>(field.iteration) && each.place == place) {
      raise(SIGKILL);
    }
  }
}

double first_value(int rank, std::size_t cell) { return std::sin(static_cast<double>(rank * kCells + cell)); }

/// One iteration of all ranks' cells, in a ring. Each sum has the same order everywhere.
double next_value(double left, double own, double right) { return (left + own + right) / 3; }

Field expected_field(int rank, int ranks) {
  std::vector<double> all(static_cast<std::size_t>(ranks) * kCells);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = first_value(static_cast<int>(i / kCells), i % kCells);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const std::vector<double> before = all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = next_value(before[(i + all.size() - 1) % all.size()], before[i], before[(i + 1) % all.size()]);
    }
  }
  Field field;
  for (std::size_t i = 0; i < kCells; ++i) field.cells[i] = all[static_cast<std::size_t>(rank) * kCells + i];
  return field;
}

void iterate(Field& field, MPI_Comm comm) {
  const int ranks = util::comm_size(comm);
  const int left = (util::comm_rank(comm) + ranks - 1) % ranks;
  const int right = (util::comm_rank(comm) + 1) % ranks;
  const util::ScopedActiveMlog log(kLog);
  const util::ScopedInlineRecovery recovery(true);
  mlog::begin_region(kLog, static_cast<int>(field.iteration));
  die_if_due(field, "exchange");
  double from_left = 0;
  double from_right = 0;
  MPI_Sendrecv(&field.cells.back(), 1, MPI_DOUBLE, right, 0, &from_left, 1, MPI_DOUBLE, left, 0, comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&field.cells.front(), 1, MPI_DOUBLE, left, 1, &from_right, 1, MPI_DOUBLE, right, 1, comm,
               MPI_STATUS_IGNORE);
  const auto before = field.cells;
  for (std::size_t i = 0; i < kCells; ++i) {
    field.cells[i] =
        next_value(i == 0 ? from_left : before[i - 1], before[i], i + 1 == kCells ? from_right : before[i + 1]);
  }
  ++field.iteration;
  double greatest = 0;
  MPI_Allreduce(&field.iteration, &greatest, 1, MPI_DOUBLE, MPI_MAX, comm);
  require(greatest == field.iteration, "all ranks are in the same iteration");
}

int newest_snapshot() {
  int stamp = -1;
  check::success(Fenix_Data_group_get_snapshot_at_position(kGroup, 0, &stamp), "the newest snapshot");
  return stamp;
}

/// Stores a checkpoint, and once more if a failure cuts it short. It may be there for all that.
void checkpoint(const Field& field) {
  die_if_due(field, "checkpoint");
  for (const int before = newest_snapshot(); newest_snapshot() == before;) {
    try {
      data::member_store(kGroup, kFieldMember);
      mlog::stage(kLog, kGroup, kLogMember);
      data::member_store(kGroup, kLogMember, data::SUBSET_PRESTAGED);
      die_if_due(field, "stored");
      data::commit_barrier(kGroup);
    } catch (const fenix::CommException&) {
      continue;
    }
  }
}

void begin(Field& field, MPI_Comm comm) {
  mlog::create(kLog, comm, 2 * kInterval);
  if (fenix::role() == fenix::INITIAL_RANK) {
    for (std::size_t i = 0; i < kCells; ++i) field.cells[i] = first_value(util::comm_rank(comm), i);
    data::group_create(kGroup);
    data::member_create(kGroup, kFieldMember, &field, kDoubles, MPI_DOUBLE);
    data::member_stage(kGroup, kFieldMember);
    mlog::stage(kLog, kGroup, kLogMember);
    data::member_store(kGroup, data::SUBSET_PRESTAGED);
    data::commit_barrier(kGroup);
    return;
  }
  for (bool is_done = false; !is_done;) {
    try {
      data::group_create(kGroup);
      data::member_restore(kGroup, kFieldMember, &field, kDoubles);
      data::member_restore(kGroup, kLogMember, nullptr, 0);
      mlog::lrestore(kLog, kGroup, kLogMember);
      mlog::sync(kLog, static_cast<int>(field.iteration));
      is_done = true;
    } catch (const fenix::CommException&) {
      is_done = false;
    }
  }
}

/// Helps a rank that takes the place of a dead one.
void help() {
  ++calls_of_help;
  const util::ScopedActiveMlog none(nullptr);
  data::group_create(kGroup);
  data::member_restore(kGroup, kFieldMember, nullptr, 0);
  data::member_restore(kGroup, kLogMember, nullptr, 0);
  mlog::sync(kLog, FENIX_MLOG_CONTINUE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  require(argc >= 2, "arguments");
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    const auto first = text.find('@');
    const auto second = text.find('@', first + 1);
    kills.push_back({std::stoi(text), std::stoi(text.substr(first + 1)), text.substr(second + 1)});
  }
  MPI_Comm comm = MPI_COMM_NULL;
  fenix::args::FenixInitArgs arguments;
  arguments.out_comm = &comm;
  arguments.spares = std::atoi(argv[1]);
  fenix::set_option(fenix::MLOG_RECOVERY_MODE, fenix::INLINE);
  fenix::init(arguments);
  Field field;
  begin(field, comm);
  fenix::callback_register([](MPI_Comm, int) { help(); });
  const int rank = util::comm_rank(comm);
  while (static_cast<int>(field.iteration) < kIterations) {
    die_if_due(field, "begin");
    iterate(field, comm);
    require(mlog::active() == FENIX_MLOG_NONE, "no log is active after the block");
    if (static_cast<int>(field.iteration) % kInterval == 0) checkpoint(field);
  }
  require(field.cells == expected_field(rank, util::comm_size(comm)).cells, "the field at the end");
  // Others may still need its messages.
  while (!fenix::finalized()) {
    try {
      check::success(Fenix_Finalize(), "Fenix_Finalize");
    } catch (const fenix::CommException&) {
      continue;
    }
  }
  require(util::mpi_finalized() == false && util::type_size(MPI_DATATYPE_NULL) == 0 && util::type_size(MPI_INT) == 4,
          "short forms of calls of MPI");
  MPI_Finalize();
  require(util::mpi_finalized(), "MPI_Finalize");
  check::ok(rank);
}
