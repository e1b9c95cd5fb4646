/* SPDX-License-Identifier: Apache-2.0 */
/* onehost.h - a job whose processes are all here and share memory. */
#ifndef SKUARUN_ONEHOST_H
#define SKUARUN_ONEHOST_H

#include "options.h"

/** Run it; returns the exit code. */
int onehost_run(const struct options *options);

#endif
