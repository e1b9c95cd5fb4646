/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvs_proxy.h - an agent's cache of the job's key-value store (kvs.h).
 *
 * The proxy serves the control connections (boot/boot.h) of the agent's processes.  It answers a
 * get from its cache, and forwards a put, and the first get of each key, to the launcher.
 */
#ifndef SKUARUN_KVS_PROXY_H
#define SKUARUN_KVS_PROXY_H

#include "processes/procs.h"
#include "protocol/frame_conn.h"
#include "protocol/kvs.h"

struct kvs_proxy {
    struct procs      *procs;
    struct frame_conn *conn; /* to the launcher                                      */
    struct kvs        *kvs;
    bool              *get_pending; /* by index of a process: its get is not answered yet */
};

/** Sets the proxy up for the processes of @p procs. */
void kvs_proxy_begin(struct kvs_proxy *proxy, struct procs *procs, struct frame_conn *conn);

/** Frees what the proxy holds. */
void kvs_proxy_end(struct kvs_proxy *proxy);

/** Fills @p polls, one element for each process here, with the control connections. */
void kvs_proxy_poll_fill(const struct kvs_proxy *proxy, struct pollfd *polls);

/** Serves the connections that poll() found readable.  Returns false, with a text in @p reason, if
 * a process sent an invalid request. */
bool kvs_proxy_poll_serve(struct kvs_proxy *proxy, const struct pollfd *polls,
                          char reason[REASON_BYTES]);

/** Handles a VALUE frame of the launcher.  Returns false if the frame is invalid. */
bool kvs_proxy_on_value(struct kvs_proxy *proxy, const struct frame *frame);

#endif
