// SPDX-License-Identifier: BSD-3-Clause
// Messages on persistent communicators, in runs with libfenix_mpi whose plan says so.
#pragma once

#include <cstdint>
#include <string>

namespace torture {

/// Opens the file that says how far each sender has come.
void open_progress(const std::string& folder);
/// After each start and repair: makes the communicators, and checks what is received.
void take_up_messages();
void store_messages(std::int64_t step);

}  // namespace torture
