// SPDX-License-Identifier: BSD-3-Clause
// Ends of jobs whose program knows nothing of Fenix: nobody tells it to go back.
#pragma once

#include "recovery/process/process.hpp"

namespace fenix_impl {

/// Ends such a job after a death that it cannot get over. Otherwise does nothing.
void end_job_that_cannot_go_back(const Process& process, const char* why);
/// Ends such a job, as more ranks have died than there were spares. Otherwise does nothing.
void end_job_without_spares(const Process& process);

}  // namespace fenix_impl
