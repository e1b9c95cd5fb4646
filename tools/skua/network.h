/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.h - the path between the two processes of `skua bench network', and how
 * programs are started at its ends.
 *
 * Over loopback both are plain processes of this host.  Between namespaces each
 * has a network (and a host name) of its own, joined by a pair of virtual Ethernet
 * devices.  A namespace lives as long as a process is in it: ours are held by two
 * children that end with us, however we end, so that nothing stays behind.
 *
 * Every library is told to use TCP and this path alone, by its own variables.
 */
#ifndef SKUA_NETWORK_H
#define SKUA_NETWORK_H

#include "base/security.h"
#include "bench.h"

struct network {
    const struct bench_host *host;
    const char              *interface;
    pid_t                    holder[2]; /* of the namespaces; 0: loopback */
    char                     agent[PROGRAM_PATH];
};

/** Make the path; false: it could not be made, which has been said. */
bool network_open(struct network *network, const struct bench_host *host);
void network_close(struct network *network);

/** Tell all libraries, in their own words, to use TCP over @p interface and no shared memory;
 *  NULL: take that back. */
void network_use_tcp(const char *interface);

/** Run the program of Skua with a driver and a value of SKUA_SECURITY, as series skua-DRIVER, or
 *  skua-DRIVER-SECURITY where that is not `job'. */
void network_run_skua(const struct network *network, struct results *results, const char *driver,
                      enum ski_security security);

/** Run a program of a peer with its MPI, openmpi or mpich, which is also the series. */
void network_run_mpi(const struct network *network, struct results *results, const char *mpi,
                     const char *program);

/** Run two programs at once, each at its end, and read the lines of the second. */
int network_run_pair(const struct network *network, char *const server[], char *const client[],
                     void (*line)(const char *text, void *arg), void *arg);

/** The address of the first end. */
const char *network_address(const struct network *network);

#endif
