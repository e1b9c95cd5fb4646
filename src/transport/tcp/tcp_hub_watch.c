/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_hub_watch.c - which of the ports that sleep watches the connections of a hub: see tcp_hub.h.
 *
 * The watcher, and whether connections wake a port, change under `watch`.  A port that goes to
 * sleep while there is a watcher, or wakes up and is not the watcher, does without that lock:
 *
 *   - a port sets `asleep` before it reads `full` and `watcher`.  Another thread clears `full` or
 *     `watcher` before it looks for ports that are asleep.
 *   - a port clears `asleep` before it reads `watcher`.  Another thread writes `watcher` before it
 *     reads `asleep` of that port once more.
 *
 * All these accesses are sequentially consistent, so one of the two threads finds the other.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "transport/tcp/tcp_hub.h"

#define HUB_NAP_NS 1000000 /* sleep at most, while packets wait and a port is full */

/* The connections stay in the epoll of a port: to add them would take the longer the more
 * connections there are. */
bool ski_tcp_hub_set_watch(struct ski_tcp_hub_port *port, int how, uint32_t events)
{
    struct epoll_event event = {.events = events};

    return epoll_ctl(port->epoll, how, port->hub->below->epoll, &event) == 0;
}

/* Returns a port that is asleep, or NULL. */
static struct ski_tcp_hub_port *hub_sleeper(struct ski_tcp_hub *hub, unsigned number)
{
    for (int i = 1; i <= hub->count; i++) {
        struct ski_tcp_hub_port *port = atomic_load(&hub->port[((int)number + i) % hub->count]);

        if (port && atomic_load(&port->asleep))
            return port;
    }
    return NULL;
}

/* Chooses a watcher if there is none, under `watch`.  A port that has woken up since it was found
 * need not have seen that it was chosen. */
static void hub_choose_watcher(struct ski_tcp_hub *hub, unsigned number)
{
    struct ski_tcp_hub_port *port;

    while (!atomic_load(&hub->watcher) && atomic_load(&hub->full) == 0 &&
           (port = hub_sleeper(hub, number))) {
        atomic_store(&hub->watcher, port);
        if (atomic_load(&port->asleep))
            ski_tcp_hub_set_watch(port, EPOLL_CTL_MOD, EPOLLIN);
        else
            atomic_store(&hub->watcher, NULL);
    }
}

void ski_tcp_hub_watch(struct ski_tcp_hub *hub, unsigned number)
{
    if (atomic_load(&hub->full) > 0 || atomic_load(&hub->watcher))
        return;
    pthread_mutex_lock(&hub->watch);
    hub_choose_watcher(hub, number);
    pthread_mutex_unlock(&hub->watch);
}

void ski_tcp_hub_unwatch(struct ski_tcp_hub_port *port)
{
    struct ski_tcp_hub *hub = port->hub;

    if (atomic_load(&hub->watcher) != port)
        return;
    pthread_mutex_lock(&hub->watch);
    if (atomic_load(&hub->watcher) == port) {
        ski_tcp_hub_set_watch(port, EPOLL_CTL_MOD, 0);
        atomic_store(&hub->watcher, NULL);
        hub_choose_watcher(hub, port->number);
    }
    pthread_mutex_unlock(&hub->watch);
}

/* ---- naps ------------------------------------------------------------------------------- */

/* Returns whether a port has its timer, which is made at its first use: few ports need one. */
static bool hub_timer_make(struct ski_tcp_hub_port *port)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (port->timer < 0) {
        port->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (port->timer >= 0)
            epoll_ctl(port->epoll, EPOLL_CTL_ADD, port->timer, &event);
    }
    return port->timer >= 0;
}

/* Returns whether packets may wait that a port is to send when it wakes up: its own, or, if it is
 * that of the progress thread, those of any port. */
static bool hub_port_may_send(const struct ski_tcp_hub_port *port)
{
    return port->pending > 0 ||
           (ski_tcp.net->progress_pe > 0 && port->pe == ski_tcp.net->progress_pe);
}

void ski_tcp_hub_nap(struct ski_tcp_hub_port *port)
{
    struct itimerspec soon = {.it_value.tv_nsec = HUB_NAP_NS};

    if (!hub_port_may_send(port) || atomic_load(&port->hub->full) == 0)
        return;
    port->napping = hub_timer_make(port) && timerfd_settime(port->timer, 0, &soon, NULL) == 0;
    if (!port->napping)
        eventfd_write(port->wakeup, 1);
}

void ski_tcp_hub_end_nap(struct ski_tcp_hub_port *port)
{
    struct itimerspec never = {.it_value.tv_nsec = 0};

    if (!port->napping)
        return;
    timerfd_settime(port->timer, 0, &never, NULL);
    port->napping = false;
}
