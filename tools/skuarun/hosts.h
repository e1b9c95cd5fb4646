/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.h - which hosts have which PEs.
 *
 * PEs are numbered host after host.  A host without a number has an equal share of
 * the PEs that the others leave of -n, or one process where there is no -n.
 */
#ifndef SKUARUN_HOSTS_H
#define SKUARUN_HOSTS_H

#include <stdbool.h>

#include "options.h"

struct host {
    char *name;
    int   pes;   /* 0: not said */
    bool  local; /* it is ours */
};

struct hosts {
    struct host *host;
    int          count;
};

/** Read --hosts, or take this host alone, and settle the number of PEs of each and of
 *  all, options->pes.  False: what is wrong has been said. */
bool hosts_settle(struct hosts *hosts, struct options *options);

void hosts_free(struct hosts *hosts);

#endif
