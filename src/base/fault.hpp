// SPDX-License-Identifier: BSD-3-Clause
// Kill points: named places at which a test can end the process. Compiled out unless FENIX_FAULT_INJECTION is defined.
//
// FENIX_FAULT=point:rank:count[,…] kills rank (its number in MPI_COMM_WORLD) with SIGKILL when it reaches the point for
// the count-th time. Processes that the library has spawned are called s<spawn>.<rank>: s1.0 is the first one of the first spawn.
#pragma once

namespace fenix_impl {

#ifdef FENIX_FAULT_INJECTION
void fault_point(const char* name);
#else
inline void fault_point(const char*) {}
#endif

}  // namespace fenix_impl
