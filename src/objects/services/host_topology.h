/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_topology.h - which PEs share a host, all over the job.
 *
 * A process knows by itself only the processes of its own host.  In a job on several hosts each
 * process publishes (boot.h) the first process of its host, and the length of its *run*: how many
 * processes from itself on are on its host too.  The first call that needs to know asks one process
 * of each run, which is one question a host where hosts are filled in order.
 */
#ifndef SKI_HOST_TOPOLOGY_H
#define SKI_HOST_TOPOLOGY_H

#include "boot/boot.h"

/** Publish where this process is, before the last barrier of the start.  A failure has been logged.
 */
skua_status ski_host_topology_publish(const struct ski_boot *boot);

/** Free what is known of the hosts. */
void ski_host_topology_close(void);

/** The number of PEs of each host, if hosts are filled in order and have equally many, the last
 * perhaps fewer; else 0. */
int ski_host_topology_row(void);

#endif
