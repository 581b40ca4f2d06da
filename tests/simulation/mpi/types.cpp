// SPDX-License-Identifier: BSD-3-Clause
// Datatypes, infos, and what MPI says of itself.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "../cost.hpp"
#include "state.hpp"

namespace fenix_simulation::mpi {
namespace {

struct Named {
  MPI_Datatype type;
  std::size_t bytes;
};

const std::vector<Named>& named() {
  static const std::vector<Named> all{
      {MPI_BYTE, 1},    {MPI_CHAR, 1},     {MPI_INT, 4},      {MPI_UNSIGNED, 4}, {MPI_FLOAT, 4},   {MPI_DOUBLE, 8},
      {MPI_INT64_T, 8}, {MPI_UINT64_T, 8}, {MPI_UINT32_T, 4}, {MPI_INT32_T, 4},  {MPI_UINT8_T, 1}, {MPI_LONG, 8},
      {MPI_SHORT, 2},   {MPI_INT16_T, 2},  {MPI_UINT16_T, 2}, {MPI_INT8_T, 1},   {MPI_PACKED, 1},  {MPI_LONG_LONG, 8}};
  return all;
}

}  // namespace

std::size_t size_of(MPI_Datatype type) {
  for (const Named& each : named()) {
    if (each.type == type) return each.bytes;
  }
  world().violate("not simulated: a datatype", "simulation");
  return 1;
}

}  // namespace fenix_simulation::mpi

using namespace fenix_simulation::mpi;
using fenix_simulation::world;

FENIX_MPI(int, _Type_size, (MPI_Datatype type, int* bytes)) {
  *bytes = static_cast<int>(size_of(type));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Type_size_x, (MPI_Datatype type, MPI_Count* bytes)) {
  *bytes = static_cast<MPI_Count>(size_of(type));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Type_get_extent, (MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent)) {
  *lower = 0;
  *extent = static_cast<MPI_Aint>(size_of(type));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Type_get_true_extent, (MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent)) {
  return PMPI_Type_get_extent(type, lower, extent);
}

FENIX_MPI(int, _Type_get_true_extent_x, (MPI_Datatype type, MPI_Count* lower, MPI_Count* extent)) {
  *lower = 0;
  *extent = static_cast<MPI_Count>(size_of(type));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Type_get_envelope, (MPI_Datatype /*type*/, int* integers, int* addresses, int* types, int* combiner)) {
  *integers = *addresses = *types = 0;
  *combiner = MPI_COMBINER_NAMED;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Type_dup, (MPI_Datatype type, MPI_Datatype* made)) {
  *made = type;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Type_commit, (MPI_Datatype * /*type*/)) { return MPI_SUCCESS; }

FENIX_MPI(int, _Type_free, (MPI_Datatype * type)) {
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

FENIX_MPI(MPI_Fint, _Type_c2f, (MPI_Datatype type)) {
  for (std::size_t i = 0; i < named().size(); ++i) {
    if (named()[i].type == type) return static_cast<MPI_Fint>(i + 1);
  }
  return -1;
}

FENIX_MPI(MPI_Datatype, _Type_f2c, (MPI_Fint number)) {
  const auto place = static_cast<std::size_t>(number - 1);
  return number >= 1 && place < named().size() ? named()[place].type : MPI_DATATYPE_NULL;
}

FENIX_MPI(int, _Pack,
          (const void* from, int count, MPI_Datatype type, void* to, int /*room*/, int* position, MPI_Comm /*comm*/)) {
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
  std::memcpy(static_cast<std::byte*>(to) + *position, from, bytes);
  *position += static_cast<int>(bytes);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Info_get, (MPI_Info /*info*/, const char* /*key*/, int /*length*/, char* /*value*/, int* flag)) {
  *flag = 0;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Info_get_valuelen, (MPI_Info /*info*/, const char* /*key*/, int* /*length*/, int* flag)) {
  *flag = 0;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Info_dup, (MPI_Info info, MPI_Info* made)) {
  *made = info;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Query_thread, (int* level)) {
  *level = MPI_THREAD_MULTIPLE;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Initialized, (int* flag)) {
  *flag = 1;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Finalized, (int* flag)) {
  *flag = self().mpi->finalized ? 1 : 0;
  return MPI_SUCCESS;
}

// It is collective: whoever has come waits for all that live.
FENIX_MPI(int, _Finalize, (void)) {
  note_call("Finalize", nullptr);
  world().step();
  self().mpi->finalizing = true;
  const auto is_missing = [](const fenix_simulation::Process& each) {
    return each.alive && !each.exited && !each.stopped && !each.mpi->finalizing && each.job == self().job;
  };
  auto& all = world().processes();
  if (fenix_simulation::machine() == nullptr) {
    for (auto& each : all) world().stir(each);
  }
  while (fenix_simulation::machine() == nullptr && std::any_of(all.begin(), all.end(), is_missing)) world().idle();
  self().mpi->finalized = true;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Abort, (MPI_Comm /*comm*/, int code)) {
  world().violate("MPI_Abort with " + std::to_string(code));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Get_library_version, (char* text, int* length)) {
  *length = std::snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "Open MPI v6.0.0, simulated");
  return MPI_SUCCESS;
}

FENIX_MPI(double, _Wtime, (void)) { return static_cast<double>(world().time_here()) / 1e9; }

// One control variable is known: whether MPI tolerates faults.
FENIX_MPI(int, _T_init_thread, (int /*wanted*/, int* provided)) {
  *provided = MPI_THREAD_MULTIPLE;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _T_finalize, (void)) { return MPI_SUCCESS; }

FENIX_MPI(int, _T_cvar_get_index, (const char* name, int* index)) {
  *index = 0;
  return std::strcmp(name, "mpi_ft_enable") == 0 ? MPI_SUCCESS : MPI_T_ERR_INVALID_NAME;
}

FENIX_MPI(int, _T_cvar_handle_alloc, (int /*index*/, void* /*object*/, MPI_T_cvar_handle* /*handle*/, int* count)) {
  *count = 1;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _T_cvar_handle_free, (MPI_T_cvar_handle * /*handle*/)) { return MPI_SUCCESS; }

FENIX_MPI(int, _T_cvar_read, (MPI_T_cvar_handle /*handle*/, void* value)) {
  *static_cast<bool*>(value) = true;
  return MPI_SUCCESS;
}
