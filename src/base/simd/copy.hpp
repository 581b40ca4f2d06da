// SPDX-License-Identifier: BSD-3-Clause
// Copies of much data, by the ways that memory has for them. No allocation, no system call, no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/simd/simd.hpp"

namespace fenix_impl {

/// Streaming stores go to memory past the caches, where the CPU has them: they do not read what they overwrite, and leave
/// in the caches what is there. All of them can be seen by others before what is stored after the call.
enum class Stores : std::uint8_t { cached, streaming };

/// Whether streaming stores pay where so many bytes are read in all, maybe in many pieces. For parity: of all sources. Depends
/// on the caches, and on how many processes share them.
bool worth_streaming(std::uint64_t bytes);

/// Tells how many processes of this node, at least 1, copy at the same time. Until then it is one.
void expect_processes_on_node(std::uint64_t number);

/// Targets are at least as large as from, and do not overlap it or each other. Nothing needs to be aligned; streaming
/// stores are best with targets aligned to 64 bytes.
void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from, Stores stores);

/// The same to two targets; from is read once.
void copy_twice(std::span<std::byte> to, std::span<std::byte> also_to, std::span<const std::byte> from, Stores stores);

/// Copies to one target, or to two if also_to is not empty, and returns hash_bytes(from), all in one pass over memory.
std::uint64_t copy_and_hash(std::span<std::byte> to, std::span<std::byte> also_to, std::span<const std::byte> from,
                            Stores stores);

/// The same with the kernels of one set, which this CPU must have. For tests.
void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from, Stores stores, Simd simd);
void copy_twice(std::span<std::byte> to, std::span<std::byte> also_to, std::span<const std::byte> from, Stores stores,
                Simd simd);
std::uint64_t copy_and_hash(std::span<std::byte> to, std::span<std::byte> also_to, std::span<const std::byte> from,
                            Stores stores, Simd simd);

}  // namespace fenix_impl
