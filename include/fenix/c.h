/* SPDX-License-Identifier: BSD-3-Clause */
/* All declarations of the C interface. Programs include <fenix.h>, where the conventions for all of them are. */
#ifndef FENIX_C_H
#define FENIX_C_H

#include "checkpoint.h"
#include "codes.h"
#include "data.h"
#include "init.h"
#include "large.h"
#include "mlog.h"
#include "persist.h"
#include "process.h"
#include "store.h"

#endif
