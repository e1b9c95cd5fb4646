/* SPDX-License-Identifier: Apache-2.0 */
/* partition.h - which agent has which processes, and their start. */
#ifndef SKUARUN_PARTITION_H
#define SKUARUN_PARTITION_H

#include "remote.h"

/** An agent for each host, or for each process where they do not share memory, in the
 *  order of their processes. */
struct remote *partition(const struct options *options, const struct hosts *hosts, int *count);

/** Start the agents, all at once.  False: the reason has been said. */
bool partition_start(const struct options *options, struct remote *remote, int count);

/** Tell the agents, all of which have said hello, what to run: on CPUs of their own, also where
 *  several of them are on one machine.  False: the reason has been said. */
bool partition_order(const struct options *options, const struct hosts *hosts,
                     struct remote *remote, int count);

#endif
