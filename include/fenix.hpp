// SPDX-License-Identifier: BSD-3-Clause
//
// Fenix for C++: everything of <fenix.h>, with exceptions, std::function and std::vector where they help.
// The conventions of <fenix.h> hold. Namespace Fenix is an alias of fenix.
#ifndef FENIX_HPP
#define FENIX_HPP

#include <fenix.h>

#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace fenix {

using Role = Fenix_Rank_role;
inline constexpr Role INITIAL_RANK = FENIX_ROLE_INITIAL_RANK;
inline constexpr Role RECOVERED_RANK = FENIX_ROLE_RECOVERED_RANK;
inline constexpr Role SURVIVOR_RANK = FENIX_ROLE_SURVIVOR_RANK;
inline constexpr Role SPARE_RANK = FENIX_ROLE_SPARE_RANK;

/// Thrown in resume mode "throw" out of the MPI or Fenix call that met a failure, after the repair.
struct CommException : std::exception {
  MPI_Comm repaired_comm;  ///< the repaired resilient communicator
  const int fenix_err;     ///< the MPI error code that led to the repair

  CommException(MPI_Comm comm, int error) : repaired_comm(comm), fenix_err(error) {}
  const char* what() const noexcept override { return "fenix: the communicator was repaired after a failure"; }
};

namespace args {
/// Arguments of init, as in Fenix_Init.
struct FenixInitArgs {
  int* role = nullptr;
  MPI_Comm in_comm = MPI_COMM_WORLD;
  MPI_Comm* out_comm = nullptr;
  int* argc = nullptr;
  char*** argv = nullptr;
  int spares = 0;
  int* err = nullptr;
};
}  // namespace args

/// Fenix_Init as a function. A jump back into it is impossible: resume mode "jump" becomes "throw". Recovered ranks return
/// from it; they call throw_exception() where they want to join the survivors in their handler. Without err,
/// an error is thrown as std::runtime_error.
void init(const args::FenixInitArgs& args);

/// Fenix_set_option. Throws std::invalid_argument for a bad setting or option.
void set_option(Fenix_Setting_name setting, unsigned option);
/// Fenix_get_option. Throws std::invalid_argument for a bad setting.
unsigned get_option(Fenix_Setting_name setting);

/// Throws the CommException of the latest repair; returns if there was none. Local.
void throw_exception();

Role role();         ///< Fenix_get_role
int error();         ///< Fenix_get_error
int nspare();        ///< Fenix_get_nspare
bool initialized();  ///< Fenix_Initialized
bool finalized();    ///< Fenix_Finalized

/// Fenix_Callback_register for any callable. It is destroyed when it is popped or at Fenix_Finalize.
int callback_register(std::function<void(MPI_Comm, int)> callback);
/// Fenix_Callback_pop
int callback_pop();

/// Fenix_Process_fail_list, as a copy
std::vector<int> fail_list();
/// Fenix_Process_detect_failures
int detect_failures(bool recover = true);
/// Fenix_Error_message, as a copy
std::string error_message();

}  // namespace fenix

namespace Fenix = fenix;

#endif
