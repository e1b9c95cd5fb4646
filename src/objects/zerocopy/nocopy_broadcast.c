/* SPDX-License-Identifier: Apache-2.0 */
/* nocopy_broadcast.c - messages with nocopy arguments to many PEs or elements (see nocopy.h). */
#include <stdlib.h>
#include <string.h>

#include <skua/topology.h>

#include "base/assert.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/builtin.h"
#include "core/pe/handler.h"
#include "core/sched/thread.h"
#include "objects/chare/entry.h"
#include "objects/model/class.h"
#include "objects/model/collection.h"
#include "objects/zerocopy/nocopy.h"
#include "onesided/buffer/buffer_share.h"

/* ---- to all ---------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct ski_nocopy_route) % SKI_NOCOPY_ALIGN == 0, "arguments are aligned");

/* Gives each argument a share of @p users. */
static void nocopy_share_args(skua_msg *msg, uint32_t users)
{
    struct ski_nocopy_walk       walk = ski_nocopy_walk(msg);
    const struct ski_nocopy_arg *arg;

    while ((arg = ski_nocopy_walk_buffer(&walk)))
        ski_buffer_share(ski_self, ski_nocopy_buffer(arg), users);
}

/* Drops a message to a group that was destroyed meanwhile.  Returns false if it is none. */
static bool nocopy_drop_ended(skua_msg *msg, const struct ski_nocopy_route *to)
{
    const struct ski_collection *all =
        to->all.id ? ski_collection_find(ski_self->objects, to->all.id) : NULL;

    if (!all || all->state != SKI_ENDED)
        return false;
    msg->handler = (uint16_t)to->id; /* it is one to that entry */
    ski_collection_drop(all, msg);
    return true;
}

/* Sends a message to all PEs of this host, or to one of each process; all reach the arguments. */
static void nocopy_spread_here(skua_msg *msg, const struct ski_nocopy_route *to)
{
    const struct ski_job *job   = ski_self->job;
    int                   count = to->processes ? job->local_processes : job->local_pes;

    if (nocopy_drop_ended(msg, to))
        return;
    nocopy_share_args(msg, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        int       pe   = to->processes ? job->process[i].number : ski_job_pe_at(job, i);
        skua_msg *copy = skua_msg_alloc(msg->bytes);

        memcpy(skua_msg_data(copy), skua_msg_data(msg), msg->bytes);
        if (to->all.id)
            skua_invoke(skua_member(to->all, pe), (skua_entry){to->id}, copy);
        else
            skua_send(pe, (skua_handler){to->id}, copy);
    }
    skua_msg_free(msg);
}

static void nocopy_spread_pending(struct ski_nocopy_pending *pending)
{
    nocopy_spread_here(pending->msg, &pending->to.route);
    free(pending);
}

/* Fetches the arguments that some PE of the host does not reach into the arena. Returns whether
 * none is being fetched. */
static bool nocopy_fetch_unshared(struct ski_nocopy_pending *pending)
{
    struct ski_nocopy_walk walk = ski_nocopy_walk(pending->msg);
    struct ski_nocopy_arg *arg;

    while ((arg = ski_nocopy_walk_buffer(&walk)))
        if (!ski_buffer_is_shared(ski_self, ski_nocopy_buffer(arg)))
            ski_nocopy_fetch(pending, arg, NULL);
    return ski_nocopy_fetched(pending);
}

static void nocopy_to_host(skua_msg *msg, const struct ski_nocopy_route *to)
{
    struct ski_nocopy_pending *pending = ski_nocopy_pending_new(msg, nocopy_spread_pending);

    pending->to.route = *to;
    if (nocopy_fetch_unshared(pending))
        nocopy_spread_here(msg, to);
}

/* Returns whether a message for a host, which may come from another host, is valid and names a
 * handler or an entry. */
static bool nocopy_is_sound(const struct ski_nocopy_route *to, const void *data, size_t bytes)
{
    if (!ski_nocopy_trailer(data, bytes) || !ski_pe_has_handler(ski_self, to->id))
        return false;
    return to->all.id ? ski_entries[to->id].of != NULL : ski_builtin_accepts(to->id, bytes);
}

void ski_on_nocopy(skua_msg *msg)
{
    struct ski_nocopy_route to;
    size_t                  bytes = msg->bytes - sizeof to;
    skua_msg               *inner;

    memcpy(&to, skua_msg_data(msg), sizeof to);
    if (!nocopy_is_sound(&to, (char *)skua_msg_data(msg) + sizeof to, bytes)) {
        ski_net_drop(ski_self, msg);
        return;
    }
    inner =
        ski_msg_copy(ski_self, SKI_HANDLER_NOCOPY, (char *)skua_msg_data(msg) + sizeof to, bytes);
    skua_msg_free(msg);
    nocopy_to_host(inner, &to);
}

/* Sends a message to one PE of each other host, and to the PEs of this one. */
static void nocopy_to_all(struct ski_pe *self, skua_msg *msg, const struct ski_nocopy_route *to)
{
    int hosts = skua_hosts(), own = skua_host_of(self->pe);

    if (hosts > 1)
        nocopy_share_args(msg, (uint32_t)hosts);
    for (int host = 0; host < hosts; host++) {
        skua_msg *outer;

        if (host == own)
            continue;
        outer = skua_msg_alloc(sizeof *to + msg->bytes);
        memcpy(skua_msg_data(outer), to, sizeof *to);
        memcpy((char *)skua_msg_data(outer) + sizeof *to, skua_msg_data(msg), msg->bytes);
        outer->handler = SKI_HANDLER_NOCOPY;
        outer->source  = self->pe;
        ski_msg_post(self, skua_host_pe(host, 0), SKI_HANDLER_NOCOPY, outer);
    }
    nocopy_to_host(msg, to);
}

void skua_nocopy_broadcast(skua_handler handler, skua_msg *msg)
{
    nocopy_to_all(SKI_SELF(), msg, &(struct ski_nocopy_route){.id = handler.id});
}

/* ---- after a header of another module -------------------------------------------------------- */

skua_msg *ski_nocopy_prepend(const void *head, size_t bytes, skua_msg *msg)
{
    skua_msg *made;

    ski_assert(bytes % SKI_NOCOPY_ALIGN == 0);
    made = ski_msg_with_header(head, bytes, skua_msg_data(msg), msg->bytes);
    ski_nocopy_trailer_at(made + 1, made->bytes)->first += bytes;
    skua_msg_free(msg);
    return made;
}

void ski_nocopy_broadcast(struct ski_pe *self, uint32_t handler, skua_msg *msg)
{
    nocopy_to_all(self, msg, &(struct ski_nocopy_route){.id = handler});
}

/* Queues a message again, whose arguments all PEs of this host reach now. */
static void nocopy_requeue(struct ski_nocopy_pending *pending)
{
    ski_msg_post(ski_self, ski_self->pe, pending->msg->handler, pending->msg);
    free(pending);
}

bool ski_nocopy_reachable(skua_msg *msg)
{
    return nocopy_fetch_unshared(ski_nocopy_pending_new(msg, nocopy_requeue));
}

void ski_nocopy_hold(skua_msg *msg)
{
    nocopy_share_args(msg, 1);
}

void ski_nocopy_count_copy(const void *data, size_t bytes)
{
    struct ski_nocopy_walk walk = ski_nocopy_walk_in(data, ski_nocopy_trailer_at(data, bytes));
    const struct ski_nocopy_arg *arg;

    while ((arg = ski_nocopy_walk_buffer(&walk)))
        ski_buffer_share_add(ski_self, ski_nocopy_buffer(arg));
}

/* Returns a copy of a message that is held, counted, without its first @p head bytes. */
static skua_msg *nocopy_copy(uint32_t handler, const void *data, size_t bytes, size_t head)
{
    skua_msg *msg;

    if (ski_nocopy_trailer_at(data, bytes)->first < head)
        ski_misuse("a message of %zu bytes has nocopy arguments that begin before its data", bytes);
    msg = ski_msg_copy(ski_self, handler, (const char *)data + head, bytes - head);
    ski_nocopy_trailer_at(msg + 1, msg->bytes)->first -= head;
    ski_nocopy_count_copy(data, bytes);
    return msg;
}

void ski_nocopy_run_on(struct ski_object *object, uint32_t handler, const void *head,
                       size_t head_bytes, size_t bytes, bool nocopy)
{
    const struct ski_entry *entry = &ski_self->objects->run[handler];

    ski_thread_pin(ski_self); /* if a user thread sends, and the entry waits */
    if (SKI_UNLIKELY(nocopy))
        ski_entry_run(object, entry, nocopy_copy(handler, head, head_bytes + bytes, head_bytes));
    else
        ski_entry_run_on(object, entry, handler, (const char *)head + head_bytes, bytes);
    ski_thread_unpin(ski_self);
}

void ski_nocopy_invoke_group(struct ski_pe *self, skua_collection all, skua_entry entry,
                             bool processes, skua_msg *msg)
{
    nocopy_to_all(self, msg, &(struct ski_nocopy_route){all, entry.id, processes});
}
