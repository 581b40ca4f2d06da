// SPDX-License-Identifier: BSD-3-Clause
#include "rma/launcher.hpp"

#include <mpi.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace fenix_impl {
namespace {

/// Whether MPI reports deaths, as it does under mpirun --with-ft ulfm.
bool mpi_tolerates_faults() {
  int level = MPI_THREAD_SINGLE;
  int provided = 0;
  int index = 0;
  int count = 0;
  bool value = true;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  // Open MPI takes the level that is asked for here for all of MPI.
  if (MPI_Query_thread(&level) != MPI_SUCCESS || MPI_T_init_thread(level, &provided) != MPI_SUCCESS) return true;
  if (MPI_T_cvar_get_index("mpi_ft_enable", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    if (count == 1) MPI_T_cvar_read(handle, &value);
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return value;
}

}  // namespace

bool launcher_survives_loss_of_node() {
  if (std::getenv("PRTE_SURVIVES_NODE_LOSS") != nullptr) return true;
  constexpr const char* kName = "Open MPI v";
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  const char* name = std::strstr(version.data(), kName);
  return name != nullptr && std::atoi(name + std::strlen(kName)) >= 6;
}

std::string weakness_of_launcher(bool several_nodes) {
  if (!mpi_tolerates_faults()) return "MPI runs without --with-ft ulfm, so the first death ends the job";
  if (std::getenv("PRTE_LAUNCHED") == nullptr && std::getenv("SLURM_STEP_ID") != nullptr) {
    return "srun has started the job, and may end it at a death; mpirun --with-ft ulfm goes on";
  }
  if (!several_nodes || launcher_survives_loss_of_node()) return {};
  return "this mpirun ends the job when a node is lost with its daemon; the one that scripts/bootstrap builds, and "
         "that "
         "of Open MPI 6, go on without it";
}

}  // namespace fenix_impl
