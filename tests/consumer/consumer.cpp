// The smallest C++ program that uses the installed package.
#include <cstdio>
#include <fenix.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool before = fenix::initialized();

  int error = -1;
  MPI_Comm comm = MPI_COMM_NULL;
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .err = &error});
  const bool good = !before && fenix::initialized() && error == FENIX_SUCCESS && fenix::role() == fenix::INITIAL_RANK;
  Fenix_Finalize();
  MPI_Finalize();

  std::printf("FENIX-TEST-%s a rank in C++\n", good ? "OK" : "FAIL");
  return good ? 0 : 1;
}
