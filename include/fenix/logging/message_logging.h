// SPDX-License-Identifier: BSD-3-Clause
//
// Another name of <fenix_util.hpp>, because the current Fenix has a header of this name. It is C++, there too.
#include "../../fenix_util.hpp"
