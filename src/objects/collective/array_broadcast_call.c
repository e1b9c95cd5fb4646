/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_broadcast_call.c - the calls that broadcast to a collection: each is sent to the root,
 * which numbers it and sends it down the tree (array_broadcast.h).
 */
#include "base/assert.h"
#include "core/collective/collective.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/chare/invoke.h"
#include "objects/collective/array_broadcast.h"
#include "objects/collective/array_broadcast_msg.h"
#include "objects/measure/measure.h"
#include "objects/zerocopy/nocopy.h"

/* At the root: numbers a broadcast and sends it down the tree. */
static void array_broadcast_begin(struct ski_collection *all, skua_msg *msg)
{
    struct ski_array_broadcast_head *head = skua_msg_data(msg);

    ski_assert(all->root == all->self->pe && msg->bytes >= sizeof *head);
    head->number           = ++all->broadcast->sent;
    all->broadcast->ending = all->broadcast->ending || head->entry == SKI_ARRAY_BROADCAST_ORDER_END;
    if (SKI_UNLIKELY(head->nocopy))
        ski_nocopy_broadcast(all->self, SKI_HANDLER_ARRAY_BROADCAST, msg);
    else
        ski_broadcast(all->self, SKI_HANDLER_ARRAY_BROADCAST, msg);
}

/* Sends a broadcast to the root, which numbers it. */
static void array_broadcast_to_root(const char *call, skua_collection target, skua_msg *msg)
{
    struct ski_pe         *self = SKI_SELF();
    struct ski_collection *all  = ski_collection_get(self->objects, call, target.id);

    if (all->kind == SKI_CHARES && all->state != SKI_EXPECTED)
        ski_misuse("%s: single objects are in no collection", call);
    if (all->root == self->pe)
        array_broadcast_begin(all, msg);
    else
        skua_send(all->root, (skua_handler){SKI_HANDLER_ARRAY_BROADCAST_ROOT}, msg);
}

static skua_msg *array_broadcast_order_msg(uint64_t id, uint32_t entry, const void *data,
                                           size_t bytes)
{
    struct ski_array_broadcast_head head = {.id = id, .entry = entry};

    return ski_msg_with_header(&head, sizeof head, data, bytes);
}

static void array_broadcast_order(const char *call, skua_collection target, uint32_t entry,
                                  const void *data, size_t bytes)
{
    (void)ski_pe_of_caller(call);
    array_broadcast_to_root(call, target, array_broadcast_order_msg(target.id, entry, data, bytes));
}

void ski_array_broadcast_closed(struct ski_collection *all)
{
    if (!all->broadcast->ending)
        array_broadcast_begin(
            all, array_broadcast_order_msg(all->id, SKI_ARRAY_BROADCAST_ORDER_CLOSED, NULL, 0));
}

static void array_broadcast_check_call(const char *call, skua_collection target, skua_entry entry)
{
    struct ski_collection *all =
        ski_collection_get(ski_pe_of_caller(call)->objects, call, target.id);
    const struct ski_entry *what = ski_entry_find(call, entry);

    if (all->state != SKI_EXPECTED)
        ski_check_entry(call, all, what, NULL);
    if (what->flags & SKUA_ENTRY_SYNC)
        ski_misuse("%s: %s::%s is a sync entry, whose reply a broadcast cannot return; invoke it "
                   "on one element",
                   call, what->of->def.name, what->name);
}

void skua_invoke_all(skua_collection target, skua_entry entry, const void *data, size_t bytes)
{
    array_broadcast_check_call(__func__, target, entry);
    ski_measure_count_all(bytes);
    array_broadcast_order(__func__, target, entry.id, data, bytes);
}

/* Invokes an entry of all elements with a message with nocopy arguments, which is consumed. */
static void array_broadcast_nocopy(skua_collection target, skua_entry entry, skua_msg *msg)
{
    struct ski_array_broadcast_head head = {.id = target.id, .entry = entry.id, .nocopy = 1};

    array_broadcast_check_call("skua_nocopy_invoke_all", target, entry);
    ski_measure_count_all(skua_msg_size(msg));
    array_broadcast_to_root("skua_nocopy_invoke_all", target,
                            ski_nocopy_prepend(&head, sizeof head, msg));
}

void skua_nocopy_invoke_all(skua_collection all, skua_entry entry, skua_msg *msg)
{
    struct ski_pe               *self  = SKI_SELF();
    const struct ski_collection *of    = ski_collection_get(self->objects, __func__, all.id);
    bool                         known = of->state != SKI_EXPECTED;

    if (known && (of->kind == SKI_PROCESS_GROUP || of->kind == SKI_GROUP)) {
        ski_nocopy_invoke_group(self, all, entry, of->kind == SKI_PROCESS_GROUP, msg);
    } else if (ski_nocopy_goes_as_is(msg, ski_entry_find(__func__, entry))) {
        array_broadcast_nocopy(all, entry, msg);
    } else {
        msg = skua_nocopy_copied(msg);
        skua_invoke_all(all, entry, skua_msg_data(msg), skua_msg_size(msg));
        skua_msg_free(msg);
    }
}

void skua_array_close(skua_collection array)
{
    array_broadcast_order(__func__, array, SKI_ARRAY_BROADCAST_ORDER_CLOSE, NULL, 0);
}

void skua_collection_destroy(skua_collection all)
{
    array_broadcast_order(__func__, all, SKI_ARRAY_BROADCAST_ORDER_END, NULL, 0);
}

void ski_on_array_broadcast_root(skua_msg *msg)
{
    struct ski_array_broadcast_head *head = skua_msg_data(msg);
    struct ski_collection           *all;

    if (ski_collection_awaited(ski_self->objects, head->id, msg, &all))
        return;
    if (all->root != ski_self->pe || all->kind == SKI_CHARES)
        ski_net_drop(ski_self, msg);
    else
        array_broadcast_begin(all, msg);
}
