// The smallest C++ program that uses the installed package: C++17, as compilers have it without a word about the standard.
#include <cstdio>
#include <fenix.hpp>
#include <vector>

// Programs for the current Fenix use the whole namespace beside functions of their own that have such a name.
namespace {
using namespace fenix;

bool is_checked = false;

void check(int code) {
  if (code != FENIX_SUCCESS) throw RuntimeException(code, Fenix_Error_message());
  is_checked = true;
}

void checkpoint() {
  int flag = -1;
  check(Fenix_Initialized(&flag));
}
}  // namespace

static void store_and_restore() {
  using namespace fenix::data;
  using fenix::check;
  std::vector<int> field(10, 7);
  check(group_create(0));
  check(member_create(0, 1, field.data(), 10, MPI_INT));
  check(member_store(0, 1));
  check(commit_barrier(0));
  field.assign(10, 8);
  check(member_store(0, 1, fenix::DataSubset({2, 3})));
  check(commit_barrier(0));
  field.assign(10, 0);
  fenix::DataSubset found;
  check(member_restore(0, 1, field.data(), 10, FENIX_DATA_SNAPSHOT_LATEST, found));
  const std::vector<int> wanted{7, 7, 8, 8, 7, 7, 7, 7, 7, 7};
  if (found != fenix::DataSubset(9) || field != wanted) throw fenix::RuntimeException("restored " + found.str());
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool before = fenix::initialized();

  int error = -1;
  MPI_Comm comm = MPI_COMM_NULL;
  fenix::args::FenixInitArgs args;
  args.out_comm = &comm;
  args.argc = &argc;
  args.argv = &argv;
  args.err = &error;
  fenix::init(args);
  bool good = !before && fenix::initialized() && error == FENIX_SUCCESS && fenix::role() == fenix::INITIAL_RANK;
  try {
    store_and_restore();
  } catch (const fenix::RuntimeException& what) {
    std::printf("%s\n", what.what());
    good = false;
  }
  checkpoint();
  Fenix_Finalize();
  MPI_Finalize();

  std::printf("FENIX-TEST-%s a rank in C++\n", good && is_checked ? "OK" : "FAIL");
  return good && is_checked ? 0 : 1;
}
