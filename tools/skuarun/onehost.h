/* SPDX-License-Identifier: Apache-2.0 */
/* onehost.h - runs a job whose processes all run on this host and share its arena. */
#ifndef SKUARUN_ONEHOST_H
#define SKUARUN_ONEHOST_H

#include "common/options.h"

/** Starts the job and waits for its end.  Returns the exit code of skuarun. */
int onehost_run(const struct run_options *options);

#endif
