/* SPDX-License-Identifier: Apache-2.0 */
/* host_topology.h - the hosts and CPUs of PEs, for the calls of skua/topology.h and for meshes. */
#ifndef SKI_HOST_TOPOLOGY_H
#define SKI_HOST_TOPOLOGY_H

#include "boot/boot.h"

/** Records the job that this process has joined. */
void ski_host_topology_open(const struct ski_boot *boot);

/** Frees what is known of the CPUs. */
void ski_host_topology_close(void);

/** Ends the job with the name of @p call if the job has no PE @p pe. */
void ski_host_topology_check_pe(const char *call, int pe);

/** Ends the job with the name of @p call if the job has no host @p host. */
void ski_host_topology_check(const char *call, int host);

#endif
