// SPDX-License-Identifier: BSD-3-Clause
// Fault points: named places at which a test can let something go wrong. Compiled out unless FENIX_FAULT_INJECTION is defined.
//
// FENIX_FAULT=point:rank:count[:action][,…] acts when rank (its number in MPI_COMM_WORLD) comes to the point for the count-th
// time. Processes that the library has spawned are called s<spawn>.<rank>: s1.0 is the first one of the first spawn. Actions:
//
//   kill         SIGKILL to itself (the default)
//   stop         SIGSTOP to itself
//   delay[=MS]   sleeps, 100 ms by default
//   flip[=N]     flips a bit of the bytes at the point: the middle one, or bit N modulo their number
//   fail         what comes next fails as if the system had no memory for it, or no descriptor
#pragma once

#include <cstddef>
#include <span>

namespace fenix_impl {

#ifdef FENIX_FAULT_INJECTION
void fault_point(const char* name);
/// A point with bytes that can be damaged there.
void fault_point(const char* name, std::span<std::byte> bytes);
/// A point at which something is asked of the system. True if that has to fail.
[[nodiscard]] bool fault_fails(const char* name);
/// For tests in one process: asked at each point of fault_fails whether what comes next has to fail. Null: nobody is asked.
using FaultHook = bool (*)(const char* name);
void set_fault_hook(FaultHook hook);
/// For tests in one process: told the name of each point that a thread passes. Null: nobody is told.
using FaultListener = void (*)(const char* name);
void set_fault_listener(FaultListener listener);
#else
inline void fault_point(const char*) {}
inline void fault_point(const char*, std::span<std::byte>) {}
[[nodiscard]] inline bool fault_fails(const char*) { return false; }
#endif

}  // namespace fenix_impl
