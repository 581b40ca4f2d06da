// SPDX-License-Identifier: BSD-3-Clause
// Tells what the library finds on this machine: versions, kernels, and paths to the memory of other ranks. Under
// mpirun, it also tells where the ranks run.
#include <fenix.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/environment_checks.hpp"
#include "base/error.hpp"
#include "base/location.hpp"
#include "base/other_variables.hpp"
#include "base/settings_files.hpp"
#include "base/simd/simd.hpp"
#include "rma/fabric/fabric.hpp"
#include "rma/launcher.hpp"
#include "rma/processes.hpp"
#include "rma/region.hpp"

namespace {

using namespace fenix_impl;

constexpr const char* kUsage =
    "usage: fenix-info\n"
    "       mpirun --with-ft ulfm … fenix-info\n"
    "       fenix-info --fabric\n"
    "       fenix-info --settings [--table]\n\n"
    "Tells versions, kernels and paths that libfenix has on this machine; under mpirun also on which nodes the ranks "
    "run.\n"
    "With --fabric: looks at the provider of libfabric, in some seconds. The status is 1 if that is not as the library "
    "needs it; each line that says so begins with \"not good\".\n"
    "With --settings: lists all variables that the library reads, with values, what has set them (the environment, or "
    "FILE:LINE), defaults and allowed forms. The status is 1 if a value is not allowed. --table: as a page of the "
    "documentation has them.\n";

void line(const char* what, const std::string& value) { std::printf("%-16s %s\n", what, value.c_str()); }

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all = text.data();
  return all.substr(0, all.find(','));
}

std::string kernels() {
  std::string text = std::string(name_of(simd())) + " (this CPU has:";
  for (const Simd each : available_simd()) text += std::string(" ") + name_of(each);
  return text + ")";
}

// Tests the path map in the same way as ranks of one node: maps a region a second time, through the system's list of
// open files.
std::string map_path() {
  try {
    const Region region(1);
    (void)map_peer_region(region.address());
    return "works within a node";
  } catch (const Error& error) {
    return std::string("does not work: ") + error.what();
  }
}

std::string fabric_path() {
  try {
    return "works, provider " + provider_of(*open_fabric());
  } catch (const Error& error) {
    return error.what();
  }
}

bool has_fabric() {
  try {
    return open_fabric() != nullptr;
  } catch (const Error&) {
    return false;
  }
}

// Returns the exit status.
int tell_provider() {
  try {
    const auto all = examine_fabric();
    for (const FabricFinding& each : all) line(each.what.c_str(), (each.good ? "" : "not good: ") + each.found);
    if (std::all_of(all.begin(), all.end(), [](const FabricFinding& each) { return each.good; })) return EXIT_SUCCESS;
  } catch (const Error& error) {
    line("provider", std::string("not good: ") + error.what());
  }
  line("path fabric", fabric_path());
  return EXIT_FAILURE;
}

// Tells what is wrong with files, and what has no effect. Returns whether files are as they should be.
bool tell_mistakes() {
  const auto mistakes = environment::mistakes_in_files();
  for (const std::string& each : mistakes) line("fenix.conf", "not good: " + each);
  for (const std::string& each : environment::ignored()) line("ignored", each);
  return mistakes.empty();
}

// Tells those that are set, and what is wrong with them.
void tell_settings() {
  for (const Variable& each : kVariables) {
    const char* const value = setting(each.name.data());
    if (value == nullptr) continue;
    const auto mistake = environment::mistake_in(each);
    const std::string origin = environment::origin_of(each);
    const bool is_of_file = std::getenv(each.name.data()) == nullptr;
    line(each.name.data(), mistake.empty() ? value + (is_of_file ? " (" + origin + ")" : "") : "not good: " + mistake);
  }
  if (const char* const value = std::getenv("FI_PROVIDER")) line("FI_PROVIDER", value);
  tell_mistakes();
}

std::string default_of(const Variable& variable) {
  if (!variable.default_as.empty()) return std::string(variable.default_as);
  return variable.without.empty() ? "none" : std::string(variable.without);
}

// Returns the exit status.
int tell_all_settings() {
  bool is_good = true;
  for (const Variable& each : kVariables) {
    const char* const value = setting(each.name.data());
    const bool is_set = value != nullptr && *value != 0;
    const auto mistake = environment::mistake_in(each);
    is_good = is_good && mistake.empty();
    std::printf("%-26s %s%s (%s)\n", each.name.data(),
                mistake.empty() ? "" : "not good: ", is_set ? value : default_of(each).c_str(),
                is_set ? environment::origin_of(each).c_str() : "default");
    std::printf("%-26s default: %s; allowed: %s\n", "", default_of(each).c_str(), environment::forms_of(each).c_str());
  }
  is_good = tell_mistakes() && is_good;
  return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}

// In words, for docs/settings.md, whose beginning explains them.
const char* on_ranks(Differing differing) {
  if (differing == Differing::refused) return "same";
  return differing == Differing::warned_of ? "warned" : "any";
}

// Returns the allowed forms without the units, which the page tells once.
std::string form_in_table(const Variable& variable) {
  const std::string form = environment::forms_of(variable);
  const bool has_unit = variable.form == Form::bytes || variable.form == Form::duration;
  return has_unit ? form.substr(0, form.find(';')) : form;
}

int print_tables() {
  std::puts("| variable | allowed | default | ranks | meaning |\n|---|---|---|---|---|");
  for (const Variable& each : kVariables) {
    std::printf("| `%s` | %s | %s | %s | %s |\n", each.name.data(), form_in_table(each).c_str(),
                default_of(each).c_str(), on_ranks(each.differing), each.meaning.data());
  }
  std::puts("\nOther programs read these:\n\n| variable | read by | meaning |\n|---|---|---|");
  for (const OtherVariable& each : kOtherVariables) {
    std::printf("| `%s` | %s | %s |\n", each.name.data(), each.reader.data(), each.meaning.data());
  }
  return EXIT_SUCCESS;
}

struct RankInfo {
  Location location;
  std::array<char, 64> host{};
  std::array<char, 64> domain{};
  bool has_fabric = false;
};

RankInfo own_place() {
  RankInfo info;
  info.location = this_location();
  (void)gethostname(info.host.data(), info.host.size() - 1);
  const std::string domain = environment::text("FENIX_FAILURE_DOMAIN");
  std::strncpy(info.domain.data(), domain.c_str(), info.domain.size() - 1);
  info.has_fabric = has_fabric();
  return info;
}

// Tells which path a group of all ranks uses if FENIX_PATH names none.
void tell_path(const std::vector<RankInfo>& infos) {
  const bool one_node = std::all_of(infos.begin(), infos.end(), [&](const RankInfo& each) {
    return each.location.node == infos.front().location.node;
  });
  const bool fabric = std::all_of(infos.begin(), infos.end(), [](const RankInfo& each) { return each.has_fabric; });
  line("path auto",
       one_node ? "map" : std::string("map within a node, ") + (fabric ? "fabric" : "window") + " between nodes");
}

void tell_nodes(const std::vector<RankInfo>& infos) {
  std::map<Location, std::string> ranks;
  std::vector<std::size_t> first_ranks;
  for (std::size_t rank = 0; rank < infos.size(); ++rank) {
    std::string& there = ranks[infos[rank].location];
    if (there.empty()) first_ranks.push_back(rank);
    there += (there.empty() ? "" : " ") + std::to_string(rank);
  }
  for (const std::size_t first : first_ranks) {
    const RankInfo& info = infos[first];
    const std::string domain = info.domain[0] != '\0' ? std::string(" in ") + info.domain.data() : "";
    line("node", std::string(info.host.data()) + domain + ": ranks " + ranks[info.location]);
  }
}

void tell_ranks(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const RankInfo mine = own_place();
  std::vector<RankInfo> infos(static_cast<std::size_t>(size));
  MPI_Gather(&mine, sizeof mine, MPI_BYTE, infos.data(), sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    tell_path(infos);
    tell_nodes(infos);
  }
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--fabric") == 0) return tell_provider();
  if (argc == 2 && std::strcmp(argv[1], "--settings") == 0) return tell_all_settings();
  if (argc == 3 && std::strcmp(argv[1], "--settings") == 0 && std::strcmp(argv[2], "--table") == 0)
    return print_tables();
  if (argc > 1) {
    std::fputs(kUsage, std::strcmp(argv[1], "--help") == 0 ? stdout : stderr);
    return std::strcmp(argv[1], "--help") == 0 ? EXIT_SUCCESS : 2;
  }
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr || std::strcmp(rank, "0") == 0) {
    line("fenix", FENIX_INFO_VERSION);
    line("MPI", mpi_version());
    line("kernels", kernels());
    line("path map", map_path());
    line("path fabric", fabric_path());
    line("path window", "works where MPI does");
    if (rank != nullptr)
      line("loss of a node", launcher_survives_loss_of_node() ? "mpirun goes on" : "mpirun ends the job");
    tell_settings();
    std::fflush(stdout);
  }
  if (rank != nullptr) tell_ranks(argc, argv);
  return EXIT_SUCCESS;
}
