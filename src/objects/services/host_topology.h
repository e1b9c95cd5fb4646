/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_topology.h - which PEs share a host, all over the job.
 *
 * A process knows by itself only who is on its own host.  In a spread job each tells
 * (boot.h) the first process of its host, and how many processes from itself on are
 * there too; whoever first wants to know asks one process of each run of neighbours,
 * which is one question a host where hosts are filled in order.
 */
#ifndef SKI_HOST_TOPOLOGY_H
#define SKI_HOST_TOPOLOGY_H

#include "boot/boot.h"

/** Tell the others where this process is; before the last barrier of the start.  A
 *  failure has been logged. */
skua_status_t ski_hosts_open(const struct ski_boot *boot);
void          ski_hosts_close(void);

/** PEs a host, where all have equally many (the last perhaps fewer) in order; else 0. */
int ski_hosts_row(void);

#endif
