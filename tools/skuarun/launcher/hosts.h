/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.h - the hosts of a job and the number of PEs on each.
 *
 * PEs are numbered host after host, in the order of the list.  A host given without a number gets
 * an equal share of the PEs that the other hosts leave of -n; without -n it gets one process.  A
 * host with 0 PEs is a *spare host*, which takes the processes of a host that is lost (--survive).
 */
#ifndef SKUARUN_HOSTS_H
#define SKUARUN_HOSTS_H

#include <stdbool.h>

#include "common/options.h"

struct hosts_entry {
    char *name;
    int   pes;   /* 0: not given, or a spare host */
    bool  local; /* the host skuarun runs on */
    bool  spare; /* given with 0 PEs */
};

struct hosts {
    struct hosts_entry *host;
    int                 count;
};

/** Parses options->hosts, or uses this host alone, and determines the number of PEs of each host
 * and their sum, options->pes.  On return every host but the spare ones has at least one PE.
 * Returns false after printing what is wrong.  Call hosts_free() in either case. */
bool hosts_resolve(struct hosts *hosts, struct run_options *options);

/** Frees the list. */
void hosts_free(struct hosts *hosts);

#endif
