/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_hub_event.c - packets and other events that one PE finds for another: see tcp_hub.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "transport/tcp/tcp_hub.h"

/* Returns an event with room for @p bytes of a packet.  A packet that cannot be kept would leave
 * its receiver waiting forever. */
static struct ski_tcp_hub_event *hub_event_new(size_t bytes)
{
    struct ski_tcp_hub_event *event = aligned_alloc(64, sizeof *event + (bytes + 63) / 64 * 64);

    if (event) {
        *event = (struct ski_tcp_hub_event){.bytes = bytes};
        return event;
    }
    ski_tcp.net->log(SKI_LOG_ERROR, "no memory for a packet of %zu bytes that has arrived", bytes);
    abort();
}

/* ---- waking up ------------------------------------------------------------------------ */

/* Wakes a port if it sleeps. */
static void hub_wake(struct ski_tcp_hub_port *port)
{
    if (atomic_load(&port->asleep) && atomic_exchange(&port->asleep, false))
        (void)eventfd_write(port->wakeup, 1);
}

/* ---- posting ---------------------------------------------------------------------------- */

/* Wakes all ports that sleep. */
static void hub_wake_all(struct ski_tcp_hub *hub)
{
    for (int i = 0; i < hub->count; i++) {
        struct ski_tcp_hub_port *port = atomic_load(&hub->port[i]);

        if (port)
            hub_wake(port);
    }
}

/* Counts a copy for a port.  If it is the first that is full, the sleep of others may have to be
 * bounded. */
static void hub_backlog_add(struct ski_tcp_hub_port *port, size_t bytes)
{
    size_t before = atomic_fetch_add(&port->backlog, bytes);

    if (before < SKI_TCP_HUB_BACKLOG_MAX && before + bytes >= SKI_TCP_HUB_BACKLOG_MAX &&
        atomic_fetch_add(&port->hub->full, 1) == 0)
        hub_wake_all(port->hub);
}

/* Counts a copy of a port as handled.  If no port is full, one of the sleepers watches the
 * connections again. */
static void hub_backlog_remove(struct ski_tcp_hub_port *port, size_t bytes)
{
    size_t before = atomic_fetch_sub(&port->backlog, bytes);

    assert(before >= bytes);
    if (before < SKI_TCP_HUB_BACKLOG_MAX || before - bytes >= SKI_TCP_HUB_BACKLOG_MAX)
        return;
    if (atomic_fetch_sub(&port->hub->full, 1) == 1)
        ski_tcp_hub_watch(port->hub, port->number);
}

static void hub_event_post(struct ski_tcp_hub_port *port, struct ski_tcp_hub_event *event)
{
    event->next = atomic_load_explicit(&port->events, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&port->events, &event->next, event))
        ;
    hub_wake(port);
}

static void hub_event_post_copied(struct ski_tcp_hub_port *port, struct ski_tcp_hub_event *event)
{
    event->kind = SKI_TCP_HUB_COPIED;
    hub_backlog_add(port, event->bytes);
    hub_event_post(port, event);
}

bool ski_tcp_hub_post_copy(struct ski_tcp_hub_port *port, const struct ski_tcp_send_req *out)
{
    struct ski_tcp_hub_event *event;

    if (port->closed)
        return true;
    if (atomic_load_explicit(&port->backlog, memory_order_relaxed) >= SKI_TCP_HUB_BACKLOG_MAX)
        return false;
    event = hub_event_new(out->bytes[0] + out->bytes[1]);
    memcpy(event->data, out->part[0], out->bytes[0]);
    if (out->bytes[1] > 0)
        memcpy(event->data + out->bytes[0], out->part[1], out->bytes[1]);
    hub_event_post_copied(port, event);
    return true;
}

void ski_tcp_hub_on_sent(struct ski_tcp_send_req *out)
{
    struct ski_tcp_hub_port *port = out->owner;

    if (port->closed) {
        free(out);
        return;
    }
    out->next = atomic_load_explicit(&port->sent, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&port->sent, &out->next, out))
        ;
    hub_wake(port);
}

/* ---- upcalls of the hub: the calling thread has the lock ------------------------------------ */

/* Returns whether the calling thread may make upcalls of a port. */
static bool hub_port_is_current(const struct ski_tcp_hub_port *port)
{
    return port == port->hub->current;
}

/* Memory of the runtime is listed, since another thread may find its packet complete. */
static void *hub_on_alloc(void *owner, size_t bytes)
{
    struct ski_tcp_hub_port  *port = owner;
    struct ski_tcp_hub_event *event;
    void                     *room;

    if (port->closed)
        return NULL;
    if (!hub_port_is_current(port))
        return hub_event_new(bytes)->data;
    room = port->up->alloc(port->owner, bytes);
    if (!room)
        return NULL;
    event         = hub_event_new(0);
    event->memory = room;
    event->next   = port->rooms;
    port->rooms   = event;
    return room;
}

/* Removes memory of the runtime from the list.  Returns NULL if @p packet is in an event. */
static struct ski_tcp_hub_event *hub_room_take(struct ski_tcp_hub_port *port, const void *packet)
{
    struct ski_tcp_hub_event **at = &port->rooms, *event;

    while (*at && (*at)->memory != packet)
        at = &(*at)->next;
    event = *at;
    if (event)
        *at = event->next;
    return event;
}

/* Returns the event that has @p packet in its data. */
static struct ski_tcp_hub_event *hub_event_of(void *packet)
{
    return (void *)((char *)packet - offsetof(struct ski_tcp_hub_event, data)); /* NOLINT */
}

static void hub_on_arrived(void *owner, void *packet, size_t bytes)
{
    struct ski_tcp_hub_port  *port = owner;
    struct ski_tcp_hub_event *room = hub_room_take(port, packet);

    if (!room) {
        if (port->closed)
            free(hub_event_of(packet));
        else
            hub_event_post_copied(port, hub_event_of(packet));
    } else if (hub_port_is_current(port)) {
        free(room);
        port->up->arrived(port->owner, packet, bytes);
    } else {
        room->kind  = SKI_TCP_HUB_ARRIVED;
        room->bytes = bytes;
        hub_event_post(port, room);
    }
}

static void hub_on_abort(void *owner, void *packet)
{
    struct ski_tcp_hub_port  *port = owner;
    struct ski_tcp_hub_event *room = hub_room_take(port, packet);

    if (!room) {
        free(hub_event_of(packet));
    } else {
        room->kind = SKI_TCP_HUB_ABORTED;
        hub_event_post(port, room);
    }
}

static bool hub_on_recv_inline(void *owner, const void *packet, size_t bytes)
{
    struct ski_tcp_hub_port  *port = owner;
    struct ski_tcp_hub_event *event;

    if (hub_port_is_current(port))
        return port->up->recv_inline && port->up->recv_inline(port->owner, packet, bytes);
    if (port->closed)
        return true;
    event = hub_event_new(bytes);
    memcpy(event->data, packet, bytes);
    hub_event_post_copied(port, event);
    return true;
}

/* Tells all ports that have connected to a hub that it is lost. */
static void hub_on_lost(void *owner, int pe, const char *reason)
{
    struct ski_tcp_hub *hub = owner;

    for (int i = 0; i < hub->count; i++) {
        struct ski_tcp_hub_port *port = atomic_load(&hub->port[i]);

        if (!port || port->closed)
            continue;
        for (struct ski_tcp_hub_peer *peer = port->peers; peer; peer = peer->next) {
            struct ski_tcp_hub_event *event = peer->lost;

            if (!peer->below || peer->below->pe != pe || !event)
                continue;
            strncpy(peer->why, reason, sizeof peer->why - 1);
            peer->lost = NULL;
            hub_event_post(port, event);
        }
    }
}

/* There is no recv_direct(): the bytes after the first ones may be received by another thread,
 * which cannot ask the runtime of the PE whether their target is still there. */
const struct ski_upcalls ski_tcp_hub_upcalls = {.alloc       = hub_on_alloc,
                                                .arrived     = hub_on_arrived,
                                                .abort       = hub_on_abort,
                                                .lost        = hub_on_lost,
                                                .recv_inline = hub_on_recv_inline};

/* ---- handling ------------------------------------------------------------------------------- */

/* Delivers a packet that was copied. */
static void hub_deliver(struct ski_tcp_hub_port *port, const struct ski_tcp_hub_event *event)
{
    void *room;

    if (port->up->recv_inline && port->up->recv_inline(port->owner, event->data, event->bytes))
        return;
    room = port->up->alloc(port->owner, event->bytes);
    if (room)
        port->up->arrived(port->owner, memcpy(room, event->data, event->bytes), event->bytes);
}

static void hub_event_handle(struct ski_tcp_hub_port *port, struct ski_tcp_hub_event *event)
{
    switch (event->kind) {
    case SKI_TCP_HUB_COPIED:
        hub_deliver(port, event);
        hub_backlog_remove(port, event->bytes);
        break;
    case SKI_TCP_HUB_ARRIVED: port->up->arrived(port->owner, event->memory, event->bytes); break;
    case SKI_TCP_HUB_ABORTED: port->up->abort(port->owner, event->memory); break;
    case SKI_TCP_HUB_LOST: port->up->lost(port->owner, event->pe, event->why); break;
    }
    free(event);
}

/* Takes all events of a port, in the order of posting. */
static struct ski_tcp_hub_event *hub_events_take(struct ski_tcp_hub_port *port)
{
    struct ski_tcp_hub_event *newest = NULL, *oldest = NULL;

    if (atomic_load_explicit(&port->events, memory_order_relaxed))
        newest = atomic_exchange(&port->events, NULL);
    while (newest) {
        struct ski_tcp_hub_event *next = newest->next;

        newest->next = oldest;
        oldest       = newest;
        newest       = next;
    }
    return oldest;
}

/* Counts a packet as complete. */
static void hub_uncount_sent(const struct ski_tcp_send_req *out)
{
    struct ski_tcp_hub_peer *peer = out->to;

    assert(peer->port->pending > 0 && peer->pending > 0 &&
           peer->pending_bytes >= ski_tcp_send_req_held(out));
    peer->port->pending--;
    peer->pending--;
    peer->pending_bytes -= ski_tcp_send_req_held(out);
}

/* Reports packets that are complete.  Returns their number. */
static unsigned hub_report_sent(struct ski_tcp_hub_port *port)
{
    struct ski_tcp_send_req *out = NULL;
    unsigned                 n   = 0;

    if (atomic_load_explicit(&port->sent, memory_order_relaxed))
        out = atomic_exchange(&port->sent, NULL);
    for (struct ski_tcp_send_req *next; out; out = next, n++) {
        next = out->next;
        hub_uncount_sent(out);
        if (out->split)
            port->up->done(port->owner, out->cookie, SKUA_OK);
        else
            port->up->sent(port->owner, (void *)(uintptr_t)out->part[0]);
        free(out);
    }
    return n;
}

unsigned ski_tcp_hub_handle(struct ski_tcp_hub_port *port)
{
    unsigned n = hub_report_sent(port);

    for (struct ski_tcp_hub_event *event = hub_events_take(port), *next; event; event = next, n++) {
        next = event->next;
        hub_event_handle(port, event);
    }
    return n;
}

void ski_tcp_hub_discard(struct ski_tcp_hub_port *port)
{
    hub_report_sent(port);
    for (struct ski_tcp_hub_event *event = hub_events_take(port), *next; event; event = next) {
        next = event->next;
        if (event->kind == SKI_TCP_HUB_COPIED)
            hub_backlog_remove(port, event->bytes);
        else if (event->kind != SKI_TCP_HUB_LOST)
            port->up->abort(port->owner, event->memory);
        free(event);
    }
}

bool ski_tcp_hub_is_quiet(struct ski_tcp_hub_port *port)
{
    return !atomic_load(&port->events) && !atomic_load(&port->sent);
}
