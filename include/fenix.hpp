// SPDX-License-Identifier: BSD-3-Clause
//
// Fenix for C++: everything of <fenix.h>, with exceptions, std::function, std::vector and DataSubset where they help.
// The conventions of <fenix.h> hold. C++17 or later; spans, and the designated initialisers of the examples, need
// C++20.
//
// Exceptions: in resume mode "throw", any call that meets a failure throws fenix::CommException. For errors, the
// functions of namespace fenix throw fenix::RuntimeException, as in the current Fenix; they return FENIX_SUCCESS or a
// warning. In resume mode "return", a call that is cut short by a failure returns FENIX_ERROR_CANCELLED. Functions of
// the C interface return codes in C++, too. Programs in C++ use resume mode "throw", because a jump runs no
// destructors.
#ifndef FENIX_HPP
#define FENIX_HPP

// In quotes: an application may have a file of that name in one of its folders.
#include "fenix/c.h"
#include "fenix/cxx/checkpoint.hpp"
#include "fenix/cxx/data.hpp"
#include "fenix/cxx/data_subset.hpp"
#include "fenix/cxx/exception.hpp"
#include "fenix/cxx/former.hpp"
#include "fenix/cxx/group.hpp"
#include "fenix/cxx/mlog.hpp"
#include "fenix/cxx/overloads.hpp"
#include "fenix/cxx/persist.hpp"
#include "fenix/cxx/process.hpp"
#include "fenix/cxx/store.hpp"
#include "fenix_opt.hpp"

#endif
