// SPDX-License-Identifier: BSD-3-Clause
// Programs that simulated processes start: the keeper.
#pragma once

namespace fenix_simulation {

/// Number of the first keeper of a schedule; later ones follow. Ranks have numbers below, and those of later jobs above.
inline constexpr int kFirstKeeper = 100;
/// Ranks of the second job begin here, those of the third one at twice this number.
inline constexpr int kNumbersOfJob = 200;

}  // namespace fenix_simulation
