/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.h - the network path between the two processes of `skua bench network`, or the processes
 * of several pairs, and programs that run at its ends.
 *
 * Over loopback both ends are plain processes of this host.  With --namespaces each end has a
 * network namespace and a host name of its own, joined by a pair of virtual Ethernet devices.  A
 * namespace exists as long as a process is in it; two child processes hold the namespaces and are
 * killed when this process ends, however it ends, so nothing is left behind.
 *
 * The environment variables of each library make it use TCP over this path alone.
 */
#ifndef SKUA_NETWORK_H
#define SKUA_NETWORK_H

#include "base/security.h"
#include "bench.h"

#define NETWORK_EXCHANGE_BYTES 32 /* of network_run_exchange() */
#define NETWORK_DEVICES        2 /* pairs of virtual Ethernet devices between two namespaces, at most */

struct network {
    const struct bench_host *host;
    int                      pes; /* processes at both ends together */
    const char              *interface;
    pid_t                    holder[2]; /* processes that hold the namespaces; 0: loopback */
    char                     agent[PROGRAM_PATH_BYTES];
};

/** Sets the path up, for a process at each end.  Returns false after printing the reason if that
 * fails. */
bool network_open(struct network *network, const struct bench_host *host);

/** Makes two namespaces that all NETWORK_DEVICES pairs of devices join, whatever the options of the
 *  benchmark.  Returns false if that fails. */
bool network_open_all(struct network *network, const struct bench_host *host);

/** Limits all devices between two namespaces to @p rate after bursts of @p burst, as tc(8) writes
 *  them.  Returns false if that fails. */
bool network_limit(const struct network *network, const char *rate, const char *burst);

/** Returns the name of a device between two namespaces, which both ends use. */
const char *network_device(int number);

/** Removes the namespaces, if there are any, and restores the environment as network_use_tcp(NULL)
 * does. */
void network_close(struct network *network);

/** Sets the environment variables that make all libraries use TCP over @p interface and no shared
 * memory; NULL restores the values that they had before. */
void network_use_tcp(const char *interface);

/** Runs the network benchmark of Skua with a driver and a value of SKUA_SECURITY, as @p series. */
void network_run_skua(const struct network *network, struct results *results, const char *driver,
                      enum ski_security security, const char *series);

/** Runs a program of Skua with a driver at both ends, a PE in each process; @p program is its path
 * and its arguments, up to NULL. */
void network_run_driver(const struct network *network, struct results *results, const char *driver,
                        const char *const program[]);

/** Runs a program of a peer under the launcher of @p mpi, openmpi or mpich, which is its series. */
void network_run_mpi(const struct network *network, struct results *results, const char *mpi,
                     const char *program);

/** Runs a program at both ends, with half of network->pes processes each, under the launcher of
 * @p mpi, openmpi or mpich; @p program is its path and its arguments, up to NULL.  An end has a CPU
 * for each process, or one for all if there are fewer cores. */
void network_run_both(const struct network *network, struct results *results, const char *mpi,
                      const char *const program[]);

/** Runs a server at the first end and a client at the second, and calls @p line for each line of
 * the client's output.  Returns the client's exit code. */
int network_run_pair(const struct network *network, char *const server[], char *const client[],
                     void (*line)(const char *text, void *arg), void *arg);

/** Measures an exchange of a few bytes by bare sockets at both ends, for @p bench: series
 * limit-tcp, NETWORK_EXCHANGE_BYTES, exchange-2pe, in seconds. */
void network_run_exchange(const struct network *network, struct results *results,
                          const char *bench);

/** Returns the IP address of the first end. */
const char *network_address(const struct network *network);

#endif
