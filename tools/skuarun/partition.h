/* SPDX-License-Identifier: Apache-2.0 */
/* partition.h - which agent has which processes, and their start. */
#ifndef SKUARUN_PARTITION_H
#define SKUARUN_PARTITION_H

#include "remote.h"

/** An agent for each host, or for each process where they do not share memory, in the
 *  order of their processes. */
struct remote *partition(const struct options *options, const struct hosts *hosts, int *count);

/** Start them, all at once, and tell them what to run.  False: why not has been said. */
bool partition_start(const struct options *options, const struct hosts *hosts,
                     struct remote *remote, int count);

#endif
