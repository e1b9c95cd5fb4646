/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_hub.h - connections that the PEs of a process share, for the setting shared_connections.
 *
 * The ports of a process have one *hub*: a port of tcp.h that listens, connects and polls for all
 * of them.  So two processes have one connection, however many PEs they have.  A hub is known to
 * other hubs by the number of the first PE that opened a port of it; a frame has the number of its
 * target among the ports of the receiving hub (tcp_framing.h).
 *
 * The hub is used by one thread at a time, which holds its lock; no thread waits for the lock in
 * send() or progress():
 *
 *   - send(): with the lock, a PE writes to the connection itself.  Without it, a PE submits the
 *     packet to the thread that has the lock, which queues it before it releases the lock.
 *   - progress(): with the lock, a PE reads the connections of the process.  Packets for its own
 *     port go to the runtime as they do without a hub.  Packets for another port are copied and
 *     posted to that port as events, which that PE handles in its own progress().
 *
 * Order: packets are submitted and posted in the order of sending, and a PE that gets the lock
 * sends what was submitted, and handles its events, before anything newer.
 *
 * Releasing the lock and submitting is a handshake of two flags: a thread submits and then tries
 * the lock; the owner of the lock releases it and then looks for submissions.  All four accesses
 * are sequentially consistent, so one of the two threads finds the other.
 *
 * Sleep.  Of the ports that sleep one is the *watcher*: it sleeps on the connections of the hub.
 * The others sleep on a descriptor of their own, which is written when an event is posted to them.
 * A watcher that wakes up makes another sleeper the watcher, without waking it: the PEs of both may
 * have something to compute for long.  Here, too, a flag that is set before the other is read makes
 * one side find the other: `asleep` against events, `watcher` and `full`.
 *
 * Back-pressure.  Events hold copies.  While a port that does not handle them has HUB_BACKLOG_MAX
 * bytes, it is full, and the hub does not read connections; it still writes them.
 */
#ifndef SKI_TCP_HUB_H
#define SKI_TCP_HUB_H

#include <pthread.h>
#include <stdatomic.h>

#include "transport/tcp/tcp.h"

#define SKI_TCP_HUB_BACKLOG_MAX                                                                    \
    ((size_t)16 << 20) /* bytes that wait for a port, before it is full */

/* Something that one thread has found and another port is to handle. */
struct ski_tcp_hub_event {
    struct ski_tcp_hub_event *next;
    enum {
        SKI_TCP_HUB_COPIED,  /* a packet in `data`                              */
        SKI_TCP_HUB_ARRIVED, /* a packet in memory of the runtime is complete   */
        SKI_TCP_HUB_ABORTED, /* a packet in memory of the runtime will never be */
        SKI_TCP_HUB_LOST,    /* a peer is lost                                  */
    } kind;
    int         pe;     /* the PE that is lost              */
    void       *memory; /* of the runtime, from alloc()     */
    size_t      bytes;  /* of the packet                    */
    const char *why;    /* the peer is lost                 */
    _Alignas(64) char data[];
};

/* The port of a PE. */
struct ski_tcp_hub_port {
    struct ski_tcp_hub       *hub;
    int                       pe;
    unsigned                  number; /* of the port in its hub                                 */
    const struct ski_upcalls *up;
    void                     *owner;
    struct ski_tcp_hub_peer  *peers;   /* changes under the lock                                */
    struct ski_tcp_hub_event *rooms;   /* memory from alloc() that is being filled; likewise     */
    _Atomic bool              closed;  /* changes under the lock                                 */
    unsigned                  pending; /* packets that were sent and not reported as complete    */
    int                       epoll;   /* the descriptor to wait for ...                         */
    int                       wakeup;  /* ... and what other threads write to                    */
    int                       timer;   /* in `epoll`, for a nap; -1: there was none yet          */
    bool                      napping; /* the timer is set                                       */
    bool                      armed;   /* since the last arm()                                   */
    _Alignas(64) _Atomic(struct ski_tcp_hub_event *) events; /* newest first                     */
    _Atomic(struct ski_tcp_send_req *) sent;    /* packets that are complete, newest first       */
    _Atomic size_t                     backlog; /* bytes of the copies in `events`               */
    _Atomic bool                       asleep;
};

/* A port that this port sends to. */
struct ski_tcp_hub_peer {
    struct ski_tcp_hub_port  *port;
    struct ski_peer          *below;  /* the hub of the peer; NULL: it is our own                 */
    struct ski_tcp_hub_port  *inside; /* the port of the peer, if the hub is our own              */
    uint64_t                  target; /* part of the heads of its frames                          */
    struct ski_tcp_hub_event *lost;   /* posted when the peer is lost; NULL: it was               */
    unsigned                  pending; /* packets that were sent and not reported as complete    */
    size_t                    pending_bytes; /* bytes of these in memory of the runtime          */
    char                      why[SKI_REASON_MAX];
    struct ski_tcp_hub_peer  *next;
};

struct ski_tcp_hub {
    struct ski_port         *below;
    struct ski_tcp_hub_port *current; /* has the lock, in progress(); NULL: no upcalls of a port */
    int         opened, open;         /* ports so far, and now                                */
    _Atomic int full;                 /* ports with too many bytes in their events            */
    _Alignas(64) _Atomic bool busy;   /* the lock                                             */
    _Atomic bool                       want_writable; /* a port went to sleep without the lock    */
    _Atomic(struct ski_tcp_send_req *) submitted;     /* newest first                             */
    _Atomic(struct ski_tcp_hub_port *) watcher;       /* changes under `watch`                    */
    pthread_mutex_t                    watch;
    int                                count; /* ports, at most                                   */
    _Atomic(struct ski_tcp_hub_port *) *port; /* by number; NULL: not opened yet                  */
    void *owners[];                           /* for tcp_framing.h, under the lock             */
};

/** Tries to get the lock of a hub.  The load, too, is sequentially consistent: it follows that of a
 *  submission. */
static inline bool ski_tcp_hub_try_lock(struct ski_tcp_hub *hub)
{
    return !atomic_load(&hub->busy) && !atomic_exchange(&hub->busy, true);
}

/* ---- events (tcp_hub_event.c) ----------------------------------------------------------- */

extern const struct ski_upcalls ski_tcp_hub_upcalls;

/** Takes over a request that is complete (on_sent() of a port). */
void ski_tcp_hub_on_sent(struct ski_tcp_send_req *out);

/** Posts a copy of a packet in two parts to a port of the same hub.  Returns false if the port is
 *  full. */
bool ski_tcp_hub_post_copy(struct ski_tcp_hub_port *port, const struct ski_tcp_send_req *out);

/** Handles the events of a port.  Returns their number. */
unsigned ski_tcp_hub_handle(struct ski_tcp_hub_port *port);

/** Drops the events of a port that is closed; the runtime gets its memory back. */
void ski_tcp_hub_discard(struct ski_tcp_hub_port *port);

/** Returns whether a port has no events. */
bool ski_tcp_hub_is_quiet(struct ski_tcp_hub_port *port);

/* ---- the watcher (tcp_hub_watch.c) ------------------------------------------------------ */

/** Adds the connections to what a port sleeps on (EPOLL_CTL_ADD), or sets whether they wake it
 *  (EPOLL_CTL_MOD): @p events is EPOLLIN or 0.  Returns false if the system refuses that. */
bool ski_tcp_hub_set_watch(struct ski_tcp_hub_port *port, int how, uint32_t events);

/** Makes a port that sleeps the watcher if there is none and no port is full.  The search begins
 *  behind the port @p number. */
void ski_tcp_hub_watch(struct ski_tcp_hub *hub, unsigned number);

/** Makes another port that sleeps the watcher, if @p port was and is awake now. */
void ski_tcp_hub_unwatch(struct ski_tcp_hub_port *port);

/** Bounds the sleep of a port whose packets wait, and of the progress thread, while a port is full:
 *  then there is no watcher, so nothing would wake it when packets can be sent. */
void ski_tcp_hub_nap(struct ski_tcp_hub_port *port);

/** Stops the timer of ski_tcp_hub_nap(), if it is set. */
void ski_tcp_hub_end_nap(struct ski_tcp_hub_port *port);

#endif
