/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_process.h - the network of this process: its driver and the ports of its PEs.
 *
 * Written by ski_net_open() and ski_net_close(), while no PE runs.
 */
#ifndef SKI_NET_PROCESS_H
#define SKI_NET_PROCESS_H

#include "base/environment.h"
#include "core/net/peer.h"
#include "core/pe/progress.h"

struct ski_boot;

struct ski_net_process {
    const struct ski_driver *driver; /* NULL: the job is on one host */
    const struct ski_boot   *boot;
    struct ski_net           net;
    struct ski_net_port     *port; /* of PEs, of the progress thread, of external threads */
    int                      count;
    uint64_t                 burst, hold, patience; /* ticks: see net_send.c */
    bool                     io_threads;            /* this process was started with them */
    size_t                   small;       /* bytes of a packet that is copied on arrival */
    size_t                   coalesce;    /* bytes of data of a coalesced packet, at most */
    struct ski_environment   environment; /* as it was before drivers set variables of libraries */
};

/** The network of this process. */
extern struct ski_net_process ski_net_here;

/** The port of a PE as its progress source (net_send.c). */
extern const struct ski_progress_source ski_net_source;

/* A packet that follows another within SKI_NET_BURST_NS waits for up to SKI_NET_HOLD_NS to be
 * coalesced with others, or for up to SKI_NET_PATIENCE_NS if its sender allows a delay. */
#define SKI_NET_BURST_NS    UINT64_C(2000)
#define SKI_NET_HOLD_NS     UINT64_C(10000)
#define SKI_NET_PATIENCE_NS UINT64_C(100000)

#endif
