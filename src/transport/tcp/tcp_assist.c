/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_assist.c - the progress thread sends what waits in the send queues of PEs that compute.
 *
 * A port is used by the thread of its PE alone (driver.h).  Packets that the kernel did not accept
 * would wait until that PE enters the runtime again.  In a job with progress threads a PE *offers*
 * its send queues when it leaves the driver with packets in them, and takes them back in its next
 * call:
 *
 *      OWNED -- offer --> OFFERED -- the progress thread --> ASSISTED -- it has written --> OFFERED
 *                         OFFERED -- take --> OWNED
 *
 * The thread of the port accesses its queues, the list of peers that wait and the connections of
 * these only in OWNED, the progress thread only in ASSISTED.  Each change of the state is a
 * release, and the change that follows acquires it, so each thread sees what the other has done.  A
 * PE that finds ASSISTED waits: the progress thread makes one system call for each peer, which does
 * not block and writes ASSIST_BYTES at most.  A packet for a peer whose queue is empty is written
 * without taking anything: the progress thread does not look at such a peer.
 *
 * The progress thread makes no upcalls for other ports and removes nothing from a queue: it counts
 * what it has sent in the requests.  The PE completes them in its next progress().
 *
 * A PE that is in progress() often sends by itself, and two threads would be in each other's way.
 * So a PE that offers starts a timer, and the progress thread sends for a port that has not flushed
 * its queues since the timer expired before.  send() does not flush: a PE that only sends is
 * assisted.  From then on the kernel wakes the progress thread when the connection is writable.  A
 * connection that is broken is left to the PE.
 *
 * No offer is missed: the PE writes the state and then reads `asked`; the progress thread clears
 * `asked` and then reads the state.  All four accesses are sequentially consistent, so either the
 * progress thread finds the offer, or the PE finds that it has to start the timer.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "transport/tcp/tcp.h"

#define ASSIST_BYTES ((size_t)128 << 10) /* bytes written while a PE may wait               */
#define ASSIST_NS    500000              /* until a PE that does not return is assisted     */
#define ASSIST_SPINS 100                 /* until a PE that waits yields its CPU            */

enum assist_owner { ASSIST_OWNED, ASSIST_OFFERED, ASSIST_ASSISTED };

/* The ports of this process that are assisted.  Ports come and go under the lock, which the
 * progress thread holds while it writes, so that none is freed meanwhile. */
static struct {
    pthread_mutex_t       lock;
    struct ski_port      *ports;
    struct ski_tcp_source timer; /* in the epoll of the progress thread; fd -1: there is none */
    _Atomic bool          asked; /* the timer is running, or has expired                      */
} assist = {.lock = PTHREAD_MUTEX_INITIALIZER, .timer = {SKI_TCP_ASSIST, -1}};

/* ---- life --------------------------------------------------------------------------------- */

static void assist_close_timer(void)
{
    if (assist.timer.fd >= 0)
        close(assist.timer.fd);
    assist.timer.fd = -1;
    atomic_store(&assist.asked, false);
}

/* Makes the timer, for the port of the progress thread. */
static bool assist_open_timer(struct ski_port *port)
{
    assert(assist.timer.fd < 0);
    atomic_store(&assist.asked, false);
    assist.timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (assist.timer.fd >= 0 && ski_tcp_epoll_add(port, &assist.timer))
        return true;
    assist_close_timer();
    return false;
}

bool ski_tcp_assist_open(struct ski_port *port)
{
    const struct ski_net *net = ski_tcp.net;

    if (net->progress_pe == 0 || net->share) /* ports that share connections send for each other */
        return true;
    if (port->pe == net->progress_pe)
        return assist_open_timer(port);
    pthread_mutex_lock(&assist.lock);
    port->assisted      = true;
    port->next_assisted = assist.ports;
    assist.ports        = port;
    pthread_mutex_unlock(&assist.lock);
    return true;
}

void ski_tcp_assist_close(struct ski_port *port)
{
    struct ski_port **at = &assist.ports;

    if (port->pe == ski_tcp.net->progress_pe && ski_tcp.net->progress_pe > 0)
        assist_close_timer();
    if (!port->assisted)
        return;
    pthread_mutex_lock(&assist.lock);
    while (*at != port)
        at = &(*at)->next_assisted;
    *at            = port->next_assisted;
    port->assisted = false;
    pthread_mutex_unlock(&assist.lock);
}

/* ---- a PE ------------------------------------------------------------------------------------ */

static void assist_start_timer(void)
{
    struct itimerspec soon = {.it_value.tv_nsec = ASSIST_NS};

    if (!atomic_load(&assist.asked) && !atomic_exchange(&assist.asked, true))
        timerfd_settime(assist.timer.fd, 0, &soon, NULL);
}

void ski_tcp_assist_take_back(struct ski_port *port)
{
    unsigned expected = ASSIST_OFFERED;

    assert(port->offered);
    for (unsigned i = 0; !atomic_compare_exchange_weak(&port->queue_owner, &expected, ASSIST_OWNED);
         i++) {
        expected = ASSIST_OFFERED;
        if (i >= ASSIST_SPINS)
            sched_yield();
    }
    port->offered = false;
}

void ski_tcp_assist_offer(struct ski_port *port, bool flushed)
{
    if (!port->assisted || !port->waiting)
        return;
    assert(!port->offered && atomic_load(&port->queue_owner) == ASSIST_OWNED);
    port->offered = true;
    atomic_fetch_add_explicit(&port->flushes, flushed, memory_order_relaxed);
    atomic_store(&port->queue_owner, ASSIST_OFFERED);
    assist_start_timer();
}

/* ---- the progress thread ----------------------------------------------------------------------
 */

/* Makes the kernel wake the progress thread, once, when a connection is writable. */
static void assist_want_writable(const struct ski_port *port, const struct ski_tcp_conn *conn)
{
    struct epoll_event event = {.events = EPOLLOUT | EPOLLONESHOT, .data.ptr = &assist.timer};

    if (epoll_ctl(port->epoll, EPOLL_CTL_ADD, conn->source.fd, &event) != 0 &&
        (errno != EEXIST || epoll_ctl(port->epoll, EPOLL_CTL_MOD, conn->source.fd, &event) != 0))
        assist_start_timer(); /* and looks again */
}

/* Sends for a port whose queues belong to the progress thread now.  Returns whether anything was
 * sent. */
static bool assist_port(const struct ski_port *self, struct ski_port *port)
{
    bool any = false;

    assert(atomic_load(&port->queue_owner) == ASSIST_ASSISTED);
    for (struct ski_peer *peer = port->waiting; peer; peer = peer->next_waiting) {
        bool more;

        any |= ski_tcp_sendq_write_ahead(peer, ASSIST_BYTES, &more);
        if (more)
            assist_want_writable(self, peer->conn);
    }
    return any;
}

/* Returns whether the queues of a port are offered, and now belong to the progress thread.  A port
 * that has flushed them lately is looked at again later. */
static bool assist_claim(struct ski_port *port)
{
    unsigned flushes  = atomic_load_explicit(&port->flushes, memory_order_relaxed);
    unsigned expected = ASSIST_OFFERED;

    if (atomic_load(&port->queue_owner) != ASSIST_OFFERED)
        return false; /* the PE starts the timer when it offers */
    if (flushes != port->flushes_seen) {
        port->flushes_seen = flushes;
        assist_start_timer();
        return false;
    }
    return atomic_compare_exchange_strong(&port->queue_owner, &expected, ASSIST_ASSISTED);
}

bool ski_tcp_assist_all(struct ski_port *self)
{
    uint64_t expired;
    bool     any = false;

    if (read(assist.timer.fd, &expired, sizeof expired) > 0)
        atomic_store(&assist.asked, false);
    pthread_mutex_lock(&assist.lock);
    for (struct ski_port *port = assist.ports; port; port = port->next_assisted)
        if (assist_claim(port)) {
            any |= assist_port(self, port);
            atomic_store(&port->queue_owner, ASSIST_OFFERED);
        }
    pthread_mutex_unlock(&assist.lock);
    return any;
}
