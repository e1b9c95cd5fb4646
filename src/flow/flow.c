/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c - see skua/flow.h: strands and the messages that they go on with.
 *
 * A flow is at rest, or one call of go_on() is under way: it runs a strand, then those that
 * are ready, and when there is none delivers what came late, one message at a time.  Thus a
 * message is delivered only when nothing is ready, and the strand that it wakes is the next
 * to run: a message may stay its sender's meanwhile, and need not be copied.
 *
 * Invariant, whenever nothing is ready: no alternative of a waiting strand is complete with
 * the messages kept.  So one that becomes complete needs the message that has just come, and
 * to search among those that wait for its trigger is enough.
 *
 * Which messages an alternative gets: first each wait with a reference, then each without
 * one, takes the oldest that is left.  This finds messages for all whenever it is possible.
 */
#include "flow/flow.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "core/pe/pe.h"

/* A message that has just come, and is younger than all that are kept. */
struct news {
    unsigned     trigger;
    int64_t      reference;
    skua_arrival arrival;
};

/* ---- strands ---------------------------------------------------------------------------- */

skua_strand *ski_strand_new(skua_flow *flow, void *self, const skua_strand_type *type)
{
    skua_strand *strand = ski_malloc(type->bytes);

    memset(strand, 0, type->bytes);
    strand->type     = type;
    strand->self     = self;
    strand->wait     = (skua_wait *)(void *)(ski_strand_arrivals(strand) + type->arrivals);
    strand->flow     = flow;
    strand->previous = flow->last;
    if (flow->first)
        flow->last->next = strand;
    else
        flow->first = strand;
    flow->last = strand;
    return strand;
}

/* What it was invoked with: kept, as there is no telling when it waits. */
static void give(skua_strand *strand, skua_arrival arrival)
{
    if (strand->type->arrivals == 0) {
        skua_flow_drop(&arrival);
        return;
    }
    skua_flow_keep(&arrival);
    *ski_strand_arrivals(strand) = arrival;
}

static void free_strand(skua_strand *strand)
{
    skua_arrival *arrival = ski_strand_arrivals(strand);

    for (unsigned i = 0; i < strand->type->arrivals; i++)
        if (arrival[i].msg)
            skua_msg_free_when(arrival[i].msg);
    free(strand);
}

static void make_ready(skua_flow *flow, skua_strand *strand)
{
    strand->ready = NULL;
    if (flow->ready)
        flow->ready_last->ready = strand;
    else
        flow->ready = strand;
    flow->ready_last = strand;
}

static skua_strand *next_ready(skua_flow *flow)
{
    skua_strand *strand = flow->ready;

    if (strand)
        flow->ready = strand->ready;
    return strand;
}

skua_strand *skua_flow_start(skua_strand *parent, const skua_strand_type *type,
                             skua_arrival arrival)
{
    skua_strand *child = ski_strand_new(parent->flow, parent->self, type);

    give(child, arrival);
    child->parent = parent;
    parent->children++;
    make_ready(parent->flow, child);
    return child;
}

static void child_ended(skua_strand *parent)
{
    if (--parent->children > 0 || !parent->joining)
        return;
    parent->joining = false;
    make_ready(parent->flow, parent);
}

void skua_flow_end(skua_strand *strand)
{
    skua_flow *flow = strand->flow;

    assert(strand->children == 0 && strand->waiting == 0);
    if (strand->previous)
        strand->previous->next = strand->next;
    else
        flow->first = strand->next;
    if (strand->next)
        strand->next->previous = strand->previous;
    else
        flow->last = strand->previous;
    if (strand->parent)
        child_ended(strand->parent);
    free_strand(strand);
}

void skua_flow_own(skua_arrival *arrival)
{
    if (arrival->bytes > 0)
        *arrival = ski_arrival_of(ski_msg_copy(SKI_SELF(), 0, arrival->data, arrival->bytes));
    else
        arrival->data = NULL;
}

/* ---- matching --------------------------------------------------------------------------- */

static skua_trigger *trigger_of(const skua_wait *wait)
{
    return skua_flow_triggers(wait->strand->flow) + wait->trigger;
}

/* Whether @p n messages that @p wait may have are kept, or just come. */
static bool there_are(const skua_wait *wait, unsigned n, const struct news *news)
{
    skua_trigger *trigger = trigger_of(wait);
    skua_msg     *msg;

    if (news && news->trigger == wait->trigger &&
        (wait->any || wait->reference == news->reference) && --n == 0)
        return true;
    msg = ski_kept_first(trigger, wait);
    while (msg && --n > 0)
        msg = ski_kept_next(trigger, wait, msg);
    return msg != NULL;
}

/* How many messages its alternative needs of those that @p wait may have: of its reference,
 * or, as waits for any choose last, of all. */
static unsigned needed(const skua_wait *wait, const skua_wait *all, unsigned waits)
{
    unsigned n = 1;

    for (const skua_wait *other = all; other < all + waits; other++) {
        if (other == wait || other->alternative != wait->alternative ||
            other->trigger != wait->trigger)
            continue;
        if (wait->any)
            n++;
        else
            n += !other->any && other->reference == wait->reference;
    }
    return n;
}

static bool is_complete(const skua_wait *all, unsigned waits, unsigned alternative,
                        const struct news *news)
{
    for (const skua_wait *wait = all; wait < all + waits; wait++)
        if (wait->alternative == alternative && !there_are(wait, needed(wait, all, waits), news))
            return false;
    return true;
}

static void take(skua_wait *wait, const struct news *news)
{
    skua_trigger *trigger = trigger_of(wait);
    skua_msg     *msg     = ski_kept_first(trigger, wait);

    if (msg) {
        ski_kept_take(trigger, msg);
        wait->got = ski_arrival_of(msg);
    } else {
        assert(news && news->trigger == wait->trigger);
        wait->got = news->arrival;
    }
}

/* The messages of an alternative that is complete. */
static void take_all(skua_strand *strand, unsigned waits, unsigned alternative,
                     const struct news *news)
{
    skua_wait *all = strand->wait;

    for (skua_wait *wait = all; wait < all + waits; wait++)
        if (wait->alternative == alternative && !wait->any)
            take(wait, news);
    for (skua_wait *wait = all; wait < all + waits; wait++)
        if (wait->alternative == alternative && wait->any)
            take(wait, news);
    strand->chosen = (uint8_t)alternative;
}

bool skua_flow_match_slow(skua_strand *strand, unsigned waits, uint32_t at)
{
    skua_wait *all  = strand->wait;
    int        seen = -1; /* alternatives come one after the other */

    for (unsigned i = 0; i < waits; i++) {
        if (all[i].alternative == seen)
            continue;
        seen = all[i].alternative;
        if (is_complete(all, waits, all[i].alternative, NULL)) {
            take_all(strand, waits, all[i].alternative, NULL);
            return true;
        }
    }
    for (unsigned i = 0; i < waits; i++)
        ski_wait_add(trigger_of(&all[i]), &all[i]);
    strand->waiting = (uint16_t)waits;
    strand->at      = at;
    return false;
}

/* ---- arriving --------------------------------------------------------------------------- */

/* Give the news to a strand that waits for them; NULL: there is none. */
static skua_strand *deliver(skua_flow *flow, const struct news *news)
{
    struct ski_search search;
    skua_wait        *wait;

    ski_search_begin(&search, skua_flow_triggers(flow) + news->trigger, news->reference);
    while ((wait = ski_search_next(&search))) {
        skua_strand *strand = wait->strand;
        skua_wait   *all    = strand->wait;
        unsigned     waits  = strand->waiting;

        if (!is_complete(all, waits, wait->alternative, news))
            continue;
        for (unsigned i = 0; i < waits; i++)
            ski_wait_remove(trigger_of(&all[i]), &all[i]);
        strand->waiting = 0;
        take_all(strand, waits, wait->alternative, news);
        return strand;
    }
    return NULL;
}

/* As a message of our own, with what we need to know of it. */
static skua_msg *message_of(struct news *news)
{
    skua_msg *msg = news->arrival.msg;

    if (!msg)
        msg = ski_msg_copy(SKI_SELF(), 0, news->arrival.data, news->arrival.bytes);
    msg->target       = (uint64_t)news->reference;
    msg->kept.trigger = news->trigger;
    return msg;
}

static void add_late(skua_flow *flow, skua_msg *msg)
{
    msg->link = NULL;
    if (flow->late)
        flow->late_last->link = msg;
    else
        flow->late = msg;
    flow->late_last = msg;
}

static skua_strand *deliver_or_keep(skua_flow *flow, struct news *news)
{
    skua_strand *strand = deliver(flow, news);

    if (!strand)
        ski_kept_add(skua_flow_triggers(flow) + news->trigger, message_of(news));
    return strand;
}

/* The strand that the first of the late messages wakes, or NULL. */
static skua_strand *deliver_late(skua_flow *flow)
{
    skua_msg   *msg  = flow->late;
    struct news news = {msg->kept.trigger, ski_kept_reference(msg), ski_arrival_of(msg)};

    flow->late = msg->link;
    return deliver_or_keep(flow, &news);
}

/* Until all wait. */
static SKI_COLD void go_on(skua_flow *flow)
{
    while (flow->ready || flow->late) {
        skua_strand *strand = flow->ready ? next_ready(flow) : deliver_late(flow);

        if (strand)
            strand->type->go(strand);
    }
}

static inline void run(skua_flow *flow, skua_strand *strand)
{
    flow->running = true;
    strand->type->go(strand);
    if (SKI_UNLIKELY(flow->ready || flow->late))
        go_on(flow);
    flow->running = false;
}

static __attribute__((noinline)) void arrive_slow(skua_flow *flow, struct news *news)
{
    skua_strand *strand;

    if (flow->running) {
        add_late(flow, message_of(news));
        return;
    }
    strand = deliver_or_keep(flow, news);
    if (strand)
        run(flow, strand);
}

/* The most frequent case in few instructions: the oldest wait is for this message alone. */
static inline void arrive(skua_flow *flow, unsigned trigger, int64_t reference,
                          skua_arrival arrival)
{
    skua_trigger *at   = skua_flow_triggers(flow) + trigger;
    skua_wait    *wait = at->waits;
    skua_strand  *strand;

    if (SKI_UNLIKELY(!wait || flow->running || at->index || wait->strand->waiting != 1 ||
                     (!wait->any && wait->reference != reference))) {
        arrive_slow(flow, &(struct news){trigger, reference, arrival});
        return;
    }
    at->waits = wait->next;
    if (wait->next)
        wait->next->previous = NULL;
    else
        at->waits_last = NULL;
    strand          = wait->strand;
    strand->waiting = 0;
    strand->chosen  = wait->alternative;
    wait->got       = arrival;
    run(flow, strand);
}

void skua_flow_arrive(const skua_flow_class *of, void *self, unsigned trigger, int64_t reference,
                      const void *data, size_t bytes)
{
    arrive(ski_flow_of(of, self), trigger, reference, (skua_arrival){data, bytes, NULL});
}

void skua_flow_arrive_msg(const skua_flow_class *of, void *self, unsigned trigger,
                          int64_t reference, skua_msg *msg)
{
    arrive(ski_flow_of(of, self), trigger, reference, ski_arrival_of(msg));
}

/* ---- begin and end ------------------------------------------------------------------------ */

void skua_flow_begin(const skua_flow_class *of, void *self, const skua_strand_type *type,
                     skua_arrival arrival)
{
    skua_flow   *flow   = ski_flow_of(of, self);
    skua_strand *strand = ski_strand_new(flow, self, type);

    give(strand, arrival);
    if (flow->running)
        make_ready(flow, strand);
    else
        run(flow, strand);
}

static void free_messages(skua_msg *msg)
{
    while (msg) {
        skua_msg *next = msg->link;

        skua_msg_free(msg);
        msg = next;
    }
}

void skua_flow_destroy(const skua_flow_class *of, void *self)
{
    skua_flow    *flow    = ski_flow_of(of, self);
    skua_trigger *trigger = skua_flow_triggers(flow);

    while (flow->first) {
        skua_strand *strand = flow->first;

        flow->first = strand->next;
        free_strand(strand);
    }
    free_messages(flow->late);
    for (unsigned i = 0; i < of->triggers; i++) {
        free_messages(trigger[i].first);
        ski_trigger_destroy(&trigger[i]);
    }
    memset(flow, 0, sizeof *flow + of->triggers * sizeof *trigger);
}
