// SPDX-License-Identifier: BSD-3-Clause
// Variables that begin with FENIX_ and that the library does not read: it has to know that they are no mistakes.
#pragma once

#include <array>
#include <string_view>

#include "base/known_variables.hpp"

namespace fenix_impl {

/// One that users set for another program.
struct OtherVariable {
  std::string_view name;
  std::string_view reader;
  std::string_view meaning;
  Form form = Form::text;
  bool may_be_in_file = false;  ///< fenix.conf
};

inline constexpr std::array kOtherVariables{
    OtherVariable{"FENIX_MPI_HOME", "scripts, CMake", "The folder of Open MPI"},
    OtherVariable{"FENIX_NODE_TIMEOUT", "`scripts/env.sh`",
                  "Whole seconds, 5 at least; default 30: the time until mpirun gives up [a node that has fallen "
                  "silent](operations.md#when-a-node-is-lost)"},
    OtherVariable{"FENIX_RUNS", "`fenix-run`", "The most starts; default 10", Form::whole, true},
    OtherVariable{"FENIX_HANG", "`fenix-run`", "mpirun is killed if the store gets nothing new for so many seconds",
                  Form::duration, true},
    OtherVariable{"FENIX_EXCLUDE_NODES", "`fenix-run`", "Nodes that are not to be used, with commas", Form::text, true},
    OtherVariable{"FENIX_AGENT", "`fenix-run`", "What reaches a node; default: ssh, or srun under Slurm", Form::text,
                  true},
    OtherVariable{"FENIX_RUN_DRAIN", "`fenix-run`",
                  "`on` (default) or `off`: whether memory that is kept is written after the last start", Form::on_off,
                  true},
    OtherVariable{"FENIX_HALT", "`fenix-run`", "The path of `fenix-halt`"},
    OtherVariable{"FENIX_CONF", "all", "The [user's file](#files); `none`: there is none"},
    OtherVariable{"FENIX_MPIRUN", "`fenix.testing` of Python",
                  "The command that starts ranks; default `mpirun --with-ft ulfm`"},
};

/// Names that the build, tests and benchmarks use, or that modules and package managers set for a folder. Nobody else reads them.
inline constexpr std::array kQuietNames{
    std::string_view{"FENIX_TEST_"},
    std::string_view{"FENIX_JOB"},
    std::string_view{"FENIX_BENCH_"},
    std::string_view{"FENIX_NODES_"},
    std::string_view{"FENIX_MODEL_"},
    std::string_view{"FENIX_ENDURANCE_"},
    std::string_view{"FENIX_PYTHON"},
    std::string_view{"FENIX_PREFIX"},
    std::string_view{"FENIX_REPLACEMENT"},
    std::string_view{"FENIX_PRELOAD"},
    std::string_view{"FENIX_OWN_NETWORK"},
    std::string_view{"FENIX_ARM64_SYSROOT"},
    std::string_view{"FENIX_DEBIAN_MIRROR"},
    std::string_view{"FENIX_LIBFABRIC_VERSIONS"},
    std::string_view{"FENIX_ROOT"},
    std::string_view{"FENIX_HOME"},
    std::string_view{"FENIX_DIR"},
    std::string_view{"FENIX_VERSION"},
    std::string_view{"FENIX_BASE"},
    std::string_view{"FENIX_FORTRAN"},
    std::string_view{"FENIX_WRITE_ORDER"},
    std::string_view{"FENIX_SIMULATION_"},
    std::string_view{"FENIX_MPI_HOME_FOUND"},
    std::string_view{"FENIX_SOURCE"},
};

}  // namespace fenix_impl
