// SPDX-License-Identifier: BSD-3-Clause
// Contributions to collective functions in files: a job stores them and is killed as a whole, and the next one restores the results.
//
//   restart_collectives FOLDER COPIES WHICH store FORM
//   restart_collectives FOLDER COPIES WHICH restore SPARES
//
// WHICH: all, or root: only operations in which rank 1 alone gives something. FORM: blocking, immediate or started. The ranks that have
// stored everything print "stored", and wait for their death. When all is restored, rank 2 dies if there are SPARES, and its replacement
// restores as well.
#include <fenix.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "collective_cases.hpp"
#include "persisting.hpp"

namespace {

MPI_Comm ordinary[kKinds];
MPI_Comm persistent[kKinds];

std::vector<Case> chosen_cases(int size, bool of_root_only) {
  std::vector<Case> cases = all_cases(size);
  if (!of_root_only) return cases;
  std::erase_if(cases, [](const Case& each) {
    const bool gives_alone =
        each.name == "bcast.root1" || each.name == "scatter.root1" || each.name == "scatterv.root1";
    return each.kind != Kind::plain || !gives_alone;
  });
  CHECK(cases.size() == 3);
  return cases;
}

void make_communicators(const char* folder, const char* copies) {
  for (int kind = 0; kind < kKinds; ++kind) {
    ordinary[kind] = make_comm(MPI_COMM_WORLD, static_cast<Kind>(kind));
    persistent[kind] = persist(ordinary[kind], "restart",
                               {{"persist_dir", folder}, {"persist_copies", copies}, {"persist_missing", "error"}});
    MPI_Comm_set_errhandler(persistent[kind], MPI_ERRORS_RETURN);
  }
}

void store_and_wait(const std::vector<Case>& cases, Form form) {
  const int rank = rank_in(MPI_COMM_WORLD);
  int failed = 1;
  CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS && failed == 0);
  for (const Case& each : cases) {
    Buffers buffers;
    fill(each, rank, size_of(MPI_COMM_WORLD), true, buffers);
    CHECK(each.call(form, persistent[static_cast<int>(each.kind)], buffers) == MPI_SUCCESS);
  }
  std::printf("stored %d\n", rank);
  std::fflush(stdout);
  pause();
}

void restore(const std::vector<Case>& cases) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  int failed = 0;
  CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS && failed == 1);
  // Files of all have been read.
  MPI_Barrier(MPI_COMM_WORLD);
  for (const Case& each : cases) {
    const auto kind = static_cast<int>(each.kind);
    Buffers expected;
    fill(each, rank, size, true, expected);
    CHECK(each.call(Form::blocking, ordinary[kind], expected) == MPI_SUCCESS);
    for (const Form form : {Form::blocking, Form::immediate, Form::started}) {
      check::context() = "restored " + each.name + ": ";
      Buffers buffers;
      fill(each, rank, size, false, buffers);
      check::success(each.call(form, persistent[kind], buffers), "call");
      const int defined = each.defined ? each.defined(rank, size) : kRoom;
      CHECK(buffers.sent == expected.sent);
      CHECK(std::equal(buffers.received.begin(), buffers.received.begin() + defined, expected.received.begin()));
    }
  }
  check::context().clear();
  CHECK(Fenix_Failure(&failed) == FENIX_SUCCESS && failed == 1);
}

}  // namespace

int main(int argc, char** argv) {
  const char* folder = argv[1];
  const char* copies = argv[2];
  const bool of_root_only = std::string(argv[3]) == "root";
  const bool stores = std::string(argv[4]) == "store";
  const std::string form = argv[5];
  const int spares = stores ? 0 : std::atoi(argv[5]);
  MPI_Init(&argc, &argv);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "FENIX_UNHANDLED_MODE", "SILENT");
  int role = 0;
  int error = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, NULL, &argc, &argv, spares, 0, info, &error);
  // After a death all come here again.
  const std::vector<Case> cases = chosen_cases(size_of(MPI_COMM_WORLD), of_root_only);
  make_communicators(folder, copies);
  if (stores) {
    store_and_wait(cases, form == "blocking" ? Form::blocking : form == "immediate" ? Form::immediate : Form::started);
  }
  restore(cases);
  MPI_Barrier(MPI_COMM_WORLD);
  if (spares > 0 && Fenix_get_role() == FENIX_ROLE_INITIAL_RANK && rank_in(MPI_COMM_WORLD) == 2) std::raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  Fenix_Finalize();
  check::ok(rank_in(MPI_COMM_WORLD));
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
