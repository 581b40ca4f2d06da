// SPDX-License-Identifier: BSD-3-Clause
//
// Fenix for C++: everything of <fenix.h>, with exceptions, std::function, std::vector and DataSubset where they help.
// The conventions of <fenix.h> hold. C++17 or later; spans need C++20. Namespace Fenix is an alias of fenix.
//
// What is thrown: fenix::CommException in resume mode "throw", by any call that meets a failure; std::invalid_argument,
// std::bad_alloc and fenix::Error where it is said. All else is told by return values, as in C. Programs in C++ use "throw":
// a jump runs no destructors.
#ifndef FENIX_HPP
#define FENIX_HPP

#include <fenix.h>

#include <fenix/cxx/data.hpp>
#include <fenix/cxx/data_subset.hpp>
#include <fenix/cxx/group.hpp>
#include <fenix/cxx/process.hpp>

namespace Fenix = fenix;

#endif
