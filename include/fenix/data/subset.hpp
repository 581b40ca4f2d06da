// SPDX-License-Identifier: BSD-3-Clause
//
// Another name of <fenix.hpp>, because the current Fenix has a header of this name.
#include "../../fenix.hpp"
