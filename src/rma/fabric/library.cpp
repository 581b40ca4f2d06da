// SPDX-License-Identifier: BSD-3-Clause
#include "rma/fabric/library.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

constexpr const char* kFile = "libfabric.so.1";

// The version of a function is that of the structures that it was compiled with: CMake has read it from the library
// then.
template <class Function>
void find(void* library, const char* name, const char* version, Function& function) {
  function = reinterpret_cast<Function>(dlvsym(library, name, version));
  if (function == nullptr) {
    throw Error(FENIX_ERROR_GROUP_CREATE,
                std::string("there is no fabric path: ") + kFile + " has no " + name + " of " + version);
  }
}

/// Registrations are not to be cached: the same memory would get the same key again, and a key that was withdrawn would stay valid. Set for the
/// whole process, unless the user has set it.
void want_new_keys() { (void)setenv("FI_MR_CACHE_MAX_COUNT", "0", 0); }

/// Has the provider ofi_rxm take 8 MiB and not 68 for its buffers: they are for messages, and there are only writes and reads here. Settings of
/// the user stay. If MPI has used the provider before, it has read them already, and MPI's buffers stay as they are.
void want_small_buffers() {
  if (std::getenv("FI_OFI_RXM_EAGER_LIMIT") == nullptr) (void)setenv("FI_OFI_RXM_BUFFER_SIZE", "1024", 0);
}

}  // namespace

FabricLibrary::FabricLibrary() {
  want_new_keys();
  want_small_buffers();
  void* library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = dlerror();
    throw Error(FENIX_ERROR_GROUP_CREATE,
                std::string("there is no fabric path: ") + (why != nullptr ? why : "libfabric cannot be loaded"));
  }
  find(library, "fi_getinfo", FENIX_VERSION_OF_fi_getinfo, getinfo);
  find(library, "fi_freeinfo", FENIX_VERSION_OF_fi_freeinfo, freeinfo);
  find(library, "fi_dupinfo", FENIX_VERSION_OF_fi_dupinfo, dupinfo);
  find(library, "fi_fabric", FENIX_VERSION_OF_fi_fabric, fabric);
  find(library, "fi_strerror", FENIX_VERSION_OF_fi_strerror, strerror);
}

SignalActionsKept::SignalActionsKept() {
  for (int signal = 1; signal < NSIG; ++signal) {
    const auto index = static_cast<std::size_t>(signal);
    known_[index] = sigaction(signal, nullptr, &before_[index]) == 0;
  }
}

SignalActionsKept::~SignalActionsKept() {
  for (int signal = 1; signal < NSIG; ++signal) {
    const auto index = static_cast<std::size_t>(signal);
    if (known_[index]) (void)sigaction(signal, &before_[index], nullptr);
  }
}

}  // namespace fenix_impl
