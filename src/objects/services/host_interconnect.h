/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_interconnect.h - the network between the hosts of this job (base/interconnect.h), for the
 * calls of skua/topology.h and for strategies of load balancing.
 *
 * The first process of each host publishes the name of its node, and the address that Slurm gives
 * it.  A process gets those of the other hosts when a call first needs them, so a job that asks for
 * nothing has no state for each host.  A file that SKUA_TOPOLOGY names is read at the start, on
 * every process, so that a wrong one ends the job before it computes.
 */
#ifndef SKI_HOST_INTERCONNECT_H
#define SKI_HOST_INTERCONNECT_H

#include "boot/boot.h"

/** Reads the file of SKUA_TOPOLOGY, and publishes the node of this host.  A failure has been
 * logged. */
skua_status ski_host_interconnect_publish(const struct ski_boot *boot);

/** Frees the description. */
void ski_host_interconnect_close(void);

/** Returns whether the interconnect is known: hops of hosts differ. */
bool ski_host_interconnect_known(void);

/** Returns the hops between two hosts, whose numbers are in range. */
int ski_host_interconnect_hops(int a, int b);

#endif
