// SPDX-License-Identifier: BSD-3-Clause
// A program for SCR in C++: a checkpoint of streams, with a file of each rank and one of all ranks in turn.
//
// Prints "from STEP in C++" when it begins, "step STEP" for each checkpoint, and "FENIX-TEST-OK" at the end.
#include <scr.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

void success(int code, const std::string& call) { require(code == SCR_SUCCESS, call); }

std::string routed(const std::string& name) {
  std::array<char, SCR_MAX_FILENAME> path{};
  success(SCR_Route_file(name.c_str(), path.data()), "SCR_Route_file of " + name);
  return path.data();
}

std::string folder_of(int step) { return "cpp." + std::to_string(step); }

std::string file_of(int step, int rank) { return folder_of(step) + "/rank_" + std::to_string(rank); }

std::vector<double> state_of(int step, int rank) { return std::vector<double>(1000, step * 100.0 + rank); }

// The step of the checkpoint, or -1.
int restart(int rank) {
  int has_one = 0;
  std::array<char, SCR_MAX_FILENAME> name{};
  success(SCR_Have_restart(&has_one, name.data()), "SCR_Have_restart");
  if (has_one == 0) return -1;
  const int step = std::stoi(std::string(name.data()).substr(4));
  success(SCR_Start_restart(nullptr), "SCR_Start_restart");
  std::vector<double> state(1000);
  std::ifstream file(routed(file_of(step, rank)), std::ios::binary);
  file.read(reinterpret_cast<char*>(state.data()), 8000);
  const bool is_right = file && state == state_of(step, rank);
  success(SCR_Complete_restart(is_right ? 1 : 0), "SCR_Complete_restart");
  return step;
}

void checkpoint(int step, int rank) {
  success(SCR_Start_output(folder_of(step).c_str(), SCR_FLAG_CHECKPOINT), "SCR_Start_output");
  const auto state = state_of(step, rank);
  std::ofstream file(routed(file_of(step, rank)), std::ios::binary);
  file.write(reinterpret_cast<const char*>(state.data()), 8000);
  file.close();
  success(SCR_Complete_output(file ? 1 : 0), "SCR_Complete_output");
}

void run(int last) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  success(SCR_Init(), "SCR_Init");
  int step = restart(rank);
  if (rank == 0) std::cout << "from " << step << " in C++" << std::endl;
  while (++step < last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    checkpoint(step, rank);
    if (rank == 0) std::cout << "step " << step << std::endl;
  }
  success(SCR_Finalize(), "SCR_Finalize");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    run(argc > 1 ? std::atoi(argv[1]) : 0);
  } catch (const std::exception& error) {
    std::cout << "FENIX-TEST-FAIL " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::cout << "FENIX-TEST-OK" << std::endl;
  MPI_Finalize();
  return 0;
}
