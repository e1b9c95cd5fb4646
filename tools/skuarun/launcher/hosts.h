/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.h - the hosts of a job and the number of PEs on each.
 *
 * PEs are numbered host after host, in the order of the list.  A host given without a number gets
 * an equal share of the PEs that the other hosts leave of -n; without -n it gets one process.
 */
#ifndef SKUARUN_HOSTS_H
#define SKUARUN_HOSTS_H

#include <stdbool.h>

#include "options.h"

struct hosts_entry {
    char *name;
    int   pes;   /* 0: not given              */
    bool  local; /* the host skuarun runs on  */
};

struct hosts {
    struct hosts_entry *host;
    int                 count;
};

/** Parse options->hosts, or use this host alone, and determine the number of PEs of each host and
 *  their sum, options->pes.  On return every host has at least one PE.  Returns false after
 * printing what is wrong.  Call hosts_free() in either case. */
bool hosts_resolve(struct hosts *hosts, struct run_options *options);

/** Free the list. */
void hosts_free(struct hosts *hosts);

#endif
