// SPDX-License-Identifier: BSD-3-Clause
//
// Fenix for C++: everything of <fenix.h>, with exceptions, std::function, std::vector and DataSubset where they help.
// The conventions of <fenix.h> hold. C++17 or later; spans, and the designated initialisers of the examples, need
// C++20. Namespace Fenix is an alias of fenix.
//
// Exceptions: in resume mode "throw", any call that meets a failure throws fenix::CommException. A few functions throw
// std::invalid_argument, std::bad_alloc or fenix::Error; their descriptions say so. All other errors are return values,
// as in C. Programs in C++ use resume mode "throw", because a jump runs no destructors.
#ifndef FENIX_HPP
#define FENIX_HPP

#include <fenix.h>

#include <fenix/cxx/data.hpp>
#include <fenix/cxx/data_subset.hpp>
#include <fenix/cxx/group.hpp>
#include <fenix/cxx/process.hpp>

namespace Fenix = fenix;

#endif
