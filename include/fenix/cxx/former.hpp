// SPDX-License-Identifier: BSD-3-Clause
//
// C++: names that the C++ interface of the current Fenix had in July 2025. Namespace Fenix has all of namespace fenix.
#ifndef FENIX_CXX_FORMER_HPP
#define FENIX_CXX_FORMER_HPP

#include "data.hpp"
#include "process.hpp"

namespace Fenix {

using namespace fenix;  // NOLINT(google-build-using-namespace): another name of it

/// Namespace fenix::data under its former name.
namespace Data = fenix::data;

namespace Args {
/// Arguments of Fenix::init: as fenix::args::FenixInitArgs, in another order.
struct FenixInitArgs {
  int* role = nullptr;                ///< role of this rank, written by init and after each repair
  MPI_Comm in_comm = MPI_COMM_WORLD;  ///< communicator to build upon, spare ranks included
  MPI_Comm* out_comm = nullptr;       ///< the resilient communicator, written by init and after each repair
  int* argc = nullptr;                ///< as given to main
  char*** argv = nullptr;             ///< as given to main
  int spares = 0;                     ///< ranks held in reserve
  int spawn = 0;                      ///< not 0: missing ranks are spawned
  ResumeMode resume_mode = THROW;     ///< FENIX_RESUME_MODE
  CallbackExceptionMode callback_exception_mode = RETHROW;  ///< FENIX_CALLBACK_EXCEPTION_MODE
  UnhandledMode unhandled_mode = ABORT;                     ///< FENIX_UNHANDLED_MODE
  int* err = nullptr;  ///< the error of Fenix_Init, written by init and after each repair
};
}  // namespace Args

/// Calls fenix::init.
/// @param args its arguments
inline void init(const Args::FenixInitArgs& args) {
  fenix::args::FenixInitArgs all;
  all.role = args.role;
  all.in_comm = args.in_comm;
  all.out_comm = args.out_comm;
  all.argc = args.argc;
  all.argv = args.argv;
  all.spares = args.spares;
  all.err = args.err;
  all.spawn = args.spawn;
  all.resume_mode = args.resume_mode;
  all.unhandled_mode = args.unhandled_mode;
  all.callback_exception_mode = args.callback_exception_mode;
  fenix::init(all);
}

}  // namespace Fenix

#endif
