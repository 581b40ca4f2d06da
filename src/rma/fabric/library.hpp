// SPDX-License-Identifier: BSD-3-Clause
// libfabric, loaded when it is first needed: programs that do not use it get none of its threads, memory and signal
// handlers.
#pragma once

#include <rdma/fabric.h>

#include <array>
#include <csignal>
#include <string>

namespace fenix_impl {

/// The few functions of libfabric that are not called through an object of it. Once loaded it stays.
class FabricLibrary {
 public:
  /// Throws Error(FENIX_ERROR_GROUP_CREATE) if there is no libfabric, or one that is too old.
  FabricLibrary();

  decltype(&fi_getinfo) getinfo;
  decltype(&fi_freeinfo) freeinfo;
  decltype(&fi_dupinfo) dupinfo;
  decltype(&fi_fabric) fabric;
  decltype(&fi_strerror) strerror;

  /// error: of libfabric, positive or negative.
  [[nodiscard]] std::string text_of(int error) const { return strerror(error < 0 ? -error : error); }
};

/// Puts the handlers of all signals back at its end: one of the libraries that libfabric brings along installs its own
/// for SIGINT, SIGTERM, SIGSEGV and others when it is loaded.
class SignalActionsKept {
 public:
  SignalActionsKept();
  SignalActionsKept(const SignalActionsKept&) = delete;
  SignalActionsKept& operator=(const SignalActionsKept&) = delete;
  ~SignalActionsKept();

 private:
  std::array<struct sigaction, NSIG> before_{};
  std::array<bool, NSIG> known_{};
};

}  // namespace fenix_impl
