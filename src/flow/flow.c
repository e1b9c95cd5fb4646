/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c - see skua/skuac_flow.h: frames, and the messages that resume them.
 *
 * A flow is idle, or one call of flow_run() is active.  That call runs a frame, then all ready
 * frames, and when none is ready delivers the messages that have arrived meanwhile (deferred
 * messages), one at a time.  So a message is delivered only when no frame is ready, and the frame
 * that it wakes is the next to run.  Therefore the frame can use the data in place: they need not
 * be copied while the sender still owns them.
 *
 * Invariant whenever no frame is ready: no alternative of a waiting frame is complete with the
 * buffered messages alone.  An alternative that becomes complete thus contains the incoming
 * message, and it suffices to search the waits for its when-entry.
 *
 * Assignment of messages to the waits of an alternative: first each wait with a reference number,
 * then each wait for any message, takes the oldest message that is left.  This finds an assignment
 * whenever there is one.
 */
#include "flow/flow.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/msg_share.h"
#include "core/pe/pe.h"
#include "objects/model/object.h"
#include "objects/model/objects_pe.h"
#include "objects/zerocopy/nocopy.h"

/* A message being delivered; it is younger than all buffered ones. */
struct flow_incoming {
    unsigned      when; /* number of the when-entry */
    int64_t       reference;
    skuac_arrival arrival;
};

/* ---- frames -------------------------------------------------------------------------------- */

skuac_frame *ski_frame_new(skuac_flow *flow, void *self, const skuac_frame_type *type)
{
    skuac_frame *frame = ski_malloc(type->bytes);

    ski_assert(type->bytes >= sizeof *frame + type->arrivals * sizeof(skuac_arrival) +
                                  type->waits * sizeof(skuac_wait));
    memset(frame, 0, type->bytes);
    frame->type     = type;
    frame->self     = self;
    frame->wait     = (skuac_wait *)(void *)(ski_frame_arrivals(frame) + type->arrivals);
    frame->flow     = flow;
    frame->previous = flow->last;
    if (flow->first)
        flow->last->next = frame;
    else
        flow->first = frame;
    flow->last = frame;
    return frame;
}

/* Stores the arguments of a frame, which owns or shares their data, because it may wait before it
 * uses them. */
static void flow_set_arguments(skuac_frame *frame, skuac_arrival arrival)
{
    if (frame->type->arrivals == 0) {
        skuac_flow_drop(&arrival);
        return;
    }
    skuac_flow_keep(&arrival);
    *ski_frame_arrivals(frame) = arrival;
}

/* Frees a message that a flow holds.  If the object @p dies, and was not packed, the message will
 * not be used: its nocopy arguments are released. */
static void flow_free_message(skua_msg *msg, bool dies)
{
    if (dies && !ski_msg_is_shared(msg) && ski_nocopy_is_marked(msg))
        ski_nocopy_drop(msg);
    else
        skuac_msg_free_when(msg);
}

static void flow_free_frame(skuac_frame *frame, bool dies)
{
    skuac_arrival *arrival = ski_frame_arrivals(frame);

    for (unsigned i = 0; i < frame->type->arrivals; i++)
        if (arrival[i].msg)
            flow_free_message(arrival[i].msg, dies);
    free(frame);
}

static void flow_make_ready(skuac_flow *flow, skuac_frame *frame)
{
    ski_assert(frame->waiting == 0 && !frame->joining);
    frame->ready = NULL;
    if (flow->ready)
        flow->ready_last->ready = frame;
    else
        flow->ready = frame;
    flow->ready_last = frame;
}

static skuac_frame *flow_next_ready(skuac_flow *flow)
{
    skuac_frame *frame = flow->ready;

    if (frame)
        flow->ready = frame->ready;
    return frame;
}

skuac_frame *skuac_flow_start(skuac_frame *parent, const skuac_frame_type *type,
                              skuac_arrival arrival)
{
    skuac_frame *child = ski_frame_new(parent->flow, parent->self, type);

    ski_assert(parent->flow->running);
    flow_set_arguments(child, arrival);
    child->parent = parent;
    parent->children++;
    flow_make_ready(parent->flow, child);
    return child;
}

static void flow_child_ended(skuac_frame *parent)
{
    ski_assert(parent->children > 0);
    if (--parent->children > 0 || !parent->joining)
        return;
    parent->joining = false;
    flow_make_ready(parent->flow, parent);
}

void skuac_flow_end(skuac_frame *frame)
{
    skuac_flow *flow = frame->flow;

    ski_assert(flow->running);
    ski_assert(frame->children == 0 && frame->waiting == 0);
    if (frame->previous)
        frame->previous->next = frame->next;
    else
        flow->first = frame->next;
    if (frame->next)
        frame->next->previous = frame->previous;
    else
        flow->last = frame->previous;
    if (frame->parent)
        flow_child_ended(frame->parent);
    flow_free_frame(frame, false);
}

void skuac_flow_own(skuac_arrival *arrival)
{
    struct ski_pe *self    = SKI_SELF();
    skua_msg      *offered = self->objects->offered;

    if (arrival->bytes == 0) {
        arrival->data = NULL;
    } else if (offered && ski_msg_has(offered, arrival->data, arrival->bytes)) {
        ski_msg_share(offered);
        arrival->msg = offered;
    } else {
        *arrival = ski_flow_arrival(ski_msg_copy(self, 0, arrival->data, arrival->bytes));
    }
}

/* ---- matching --------------------------------------------------------------------------- */

static skuac_when *flow_when_entry_of(const skuac_wait *wait)
{
    return skuac_flow_whens(wait->frame->flow) + wait->when;
}

/* Returns whether @p n messages that match @p wait are buffered or incoming. */
static bool flow_has_messages(const skuac_wait *wait, unsigned n,
                              const struct flow_incoming *incoming)
{
    skuac_when *entry = flow_when_entry_of(wait);
    skua_msg   *msg;

    if (incoming && incoming->when == wait->when &&
        (wait->any || wait->reference == incoming->reference) && --n == 0)
        return true;
    msg = ski_when_first(entry, wait);
    while (msg && --n > 0)
        msg = ski_when_next(entry, wait, msg);
    return msg != NULL;
}

/* Returns how many of the messages that match @p wait its alternative needs: those for waits with
 * the same reference number, or, because waits for any message choose last, those for all waits. */
static unsigned flow_messages_needed(const skuac_wait *wait, const skuac_wait *all, unsigned waits)
{
    unsigned n = 1;

    for (const skuac_wait *other = all; other < all + waits; other++) {
        if (other == wait || other->alternative != wait->alternative || other->when != wait->when)
            continue;
        if (wait->any)
            n++;
        else
            n += !other->any && other->reference == wait->reference;
    }
    return n;
}

static bool flow_is_complete(const skuac_wait *all, unsigned waits, unsigned alternative,
                             const struct flow_incoming *incoming)
{
    for (const skuac_wait *wait = all; wait < all + waits; wait++)
        if (wait->alternative == alternative &&
            !flow_has_messages(wait, flow_messages_needed(wait, all, waits), incoming))
            return false;
    return true;
}

static void flow_take(skuac_wait *wait, const struct flow_incoming *incoming)
{
    skuac_when *entry = flow_when_entry_of(wait);
    skua_msg   *msg   = ski_when_first(entry, wait);

    if (msg) {
        ski_when_unbuffer(entry, msg);
        wait->got = ski_flow_arrival(msg);
    } else {
        ski_assert(incoming && incoming->when == wait->when);
        wait->got = incoming->arrival;
    }
}

/* Assigns the messages of a complete alternative to its waits. */
static void flow_take_all(skuac_frame *frame, unsigned waits, unsigned alternative,
                          const struct flow_incoming *incoming)
{
    skuac_wait *all = frame->wait;

    for (skuac_wait *wait = all; wait < all + waits; wait++)
        if (wait->alternative == alternative && !wait->any)
            flow_take(wait, incoming);
    for (skuac_wait *wait = all; wait < all + waits; wait++)
        if (wait->alternative == alternative && wait->any)
            flow_take(wait, incoming);
    frame->chosen = (uint8_t)alternative;
}

bool skuac_flow_match_slow(skuac_frame *frame, unsigned waits, uint32_t at)
{
    skuac_wait *all  = frame->wait;
    int         seen = -1; /* the waits of an alternative are adjacent */

    ski_assert(waits > 0 && waits <= frame->type->waits && frame->waiting == 0);
    for (unsigned i = 0; i < waits; i++) {
        if (all[i].alternative == seen)
            continue;
        seen = all[i].alternative;
        if (flow_is_complete(all, waits, all[i].alternative, NULL)) {
            flow_take_all(frame, waits, all[i].alternative, NULL);
            return true;
        }
    }
    for (unsigned i = 0; i < waits; i++)
        ski_when_add_wait(flow_when_entry_of(&all[i]), &all[i]);
    frame->waiting = (uint16_t)waits;
    frame->at      = at;
    return false;
}

/* ---- delivery ------------------------------------------------------------------------------ */

/* Assigns the incoming message to the oldest frame that it completes an alternative of.  Returns
 * that frame, or NULL. */
static skuac_frame *flow_match_incoming(skuac_flow *flow, const struct flow_incoming *incoming)
{
    struct ski_when_search search;
    skuac_wait            *wait;

    ski_when_search_begin(&search, skuac_flow_whens(flow) + incoming->when, incoming->reference);
    while ((wait = ski_when_search_next(&search))) {
        skuac_frame *frame = wait->frame;
        skuac_wait  *all   = frame->wait;
        unsigned     waits = frame->waiting;

        ski_assert(wait >= all && wait < all + waits);
        if (!flow_is_complete(all, waits, wait->alternative, incoming))
            continue;
        for (unsigned i = 0; i < waits; i++)
            ski_when_remove_wait(flow_when_entry_of(&all[i]), &all[i]);
        frame->waiting = 0;
        flow_take_all(frame, waits, wait->alternative, incoming);
        return frame;
    }
    return NULL;
}

/* Returns the incoming message, or a copy of its data, as a message that the flow owns. */
static skua_msg *flow_make_message(struct flow_incoming *incoming)
{
    skua_msg *msg = incoming->arrival.msg;

    if (!msg)
        msg = ski_msg_copy(SKI_SELF(), 0, incoming->arrival.data, incoming->arrival.bytes);
    ski_assert(!ski_msg_is_shared(msg)); /* `target` would be its holders */
    msg->target    = (uint64_t)incoming->reference;
    msg->kept.when = incoming->when;
    return msg;
}

/* Queues a message that arrives while a frame of the object runs. */
static void flow_defer(skuac_flow *flow, skua_msg *msg)
{
    msg->link = NULL;
    if (flow->late)
        flow->late_last->link = msg;
    else
        flow->late = msg;
    flow->late_last = msg;
}

/* Delivers a message: returns the frame that it wakes, or buffers the message and returns NULL. */
static skuac_frame *flow_deliver(skuac_flow *flow, struct flow_incoming *incoming)
{
    skuac_frame *frame = flow_match_incoming(flow, incoming);

    ski_assert(!flow->ready);
    if (!frame)
        ski_when_buffer(skuac_flow_whens(flow) + incoming->when, flow_make_message(incoming));
    return frame;
}

/* Delivers the oldest deferred message.  Returns the frame that it wakes, or NULL. */
static skuac_frame *flow_deliver_deferred(skuac_flow *flow)
{
    skua_msg            *msg      = flow->late;
    struct flow_incoming incoming = {msg->kept.when, ski_when_refnum(msg), ski_flow_arrival(msg)};

    flow->late = msg->link;
    return flow_deliver(flow, &incoming);
}

/* Runs until no frame is ready and no message is deferred. */
static SKI_COLD void flow_run_ready(skuac_flow *flow)
{
    while (flow->ready || flow->late) {
        skuac_frame *frame = flow->ready ? flow_next_ready(flow) : flow_deliver_deferred(flow);

        if (frame)
            frame->type->go(frame);
    }
}

static inline void flow_run(skuac_flow *flow, skuac_frame *frame)
{
    ski_assert(!flow->running);
    flow->running = true;
    frame->type->go(frame);
    if (SKI_UNLIKELY(flow->ready || flow->late))
        flow_run_ready(flow);
    ski_assert(!flow->ready && !flow->late);
    flow->running = false;
}

static __attribute__((noinline)) void flow_arrive_slow(skuac_flow           *flow,
                                                       struct flow_incoming *incoming)
{
    skuac_frame *frame;

    if (flow->running) {
        flow_defer(flow, flow_make_message(incoming));
        return;
    }
    frame = flow_deliver(flow, incoming);
    if (frame)
        flow_run(flow, frame);
}

/* Fast path: the oldest wait matches, and its frame waits for nothing else. */
static inline void flow_arrive(skuac_flow *flow, unsigned entry, int64_t reference,
                               skuac_arrival arrival)
{
    skuac_when  *when = skuac_flow_whens(flow) + entry;
    skuac_wait  *wait = when->waits;
    skuac_frame *frame;

    if (SKI_UNLIKELY(!wait || flow->running || when->index || wait->frame->waiting != 1 ||
                     (!wait->any && wait->reference != reference))) {
        flow_arrive_slow(flow, &(struct flow_incoming){entry, reference, arrival});
        return;
    }
    when->waits = wait->next;
    if (wait->next)
        wait->next->previous = NULL;
    else
        when->waits_last = NULL;
    frame          = wait->frame;
    frame->waiting = 0;
    frame->chosen  = wait->alternative;
    wait->got      = arrival;
    flow_run(flow, frame);
}

void skuac_flow_arrive(const skuac_flow_class *of, void *self, unsigned entry, int64_t reference,
                       const void *data, size_t bytes)
{
    flow_arrive(ski_flow_of(of, self), entry, reference, (skuac_arrival){data, bytes, NULL});
}

void skuac_flow_arrive_msg(const skuac_flow_class *of, void *self, unsigned entry,
                           int64_t reference, skua_msg *msg)
{
    flow_arrive(ski_flow_of(of, self), entry, reference, ski_flow_arrival(msg));
}

/* ---- start and destruction ----------------------------------------------------------------- */

void skuac_flow_begin(const skuac_flow_class *of, void *self, const skuac_frame_type *type,
                      skuac_arrival arrival)
{
    skuac_flow  *flow  = ski_flow_of(of, self);
    skuac_frame *frame = ski_frame_new(flow, self, type);

    flow_set_arguments(frame, arrival);
    if (flow->running)
        flow_make_ready(flow, frame);
    else
        flow_run(flow, frame);
}

static void flow_free_messages(skua_msg *msg, bool dies)
{
    while (msg) {
        skua_msg *next = msg->link;

        flow_free_message(msg, dies);
        msg = next;
    }
}

void skuac_flow_destroy(const skuac_flow_class *of, void *self)
{
    skuac_flow *flow  = ski_flow_of(of, self);
    skuac_when *entry = skuac_flow_whens(flow);
    bool        dies  = ski_object_of(self)->state == SKI_DEAD;

    while (flow->first) {
        skuac_frame *frame = flow->first;

        flow->first = frame->next;
        flow_free_frame(frame, dies);
    }
    flow_free_messages(flow->late, dies);
    for (unsigned i = 0; i < of->whens; i++) {
        flow_free_messages(entry[i].first, dies);
        ski_when_destroy(&entry[i]);
    }
    memset(flow, 0, sizeof *flow + of->whens * sizeof *entry);
}
