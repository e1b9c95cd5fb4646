/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup.c - a flow that moves: strands that wait, and messages that are kept.
 *
 *   head            age of the youngest wait, strands
 *   each strand     by age: its record; its waits; each arrival; its variables
 *   each trigger    messages, and each message
 *   a message       its record; its data
 *
 * A strand names its parent by its place, which is before its own.  Waits are linked at the
 * end, by age.  How many children a strand has is counted, not packed.  What is unpacked
 * may come from another host and is checked: the job ends if it makes no sense.
 */
#include <assert.h>

#include "base/memory.h"
#include "flow/flow.h"
#include "objects/zerocopy/inplace.h"
#include "objects/chare/object.h"
#include "objects/chare/pup.h"

struct head {
    uint64_t age, strands;
};

struct strand_record {
    uint32_t type, at;
    uint32_t parent; /* its number, from 1 on, or 0 */
    uint16_t waiting;
    uint8_t  joining, zero;
};

struct wait_record {
    uint64_t age;
    int64_t  reference;
    uint16_t trigger;
    uint8_t  any, alternative;
    uint32_t zero;
};

struct message_record {
    uint64_t bytes;
    int64_t  reference;
    int32_t  source;
    uint16_t handler;
    uint16_t there; /* of an arrival: 0 if there is none */
};

/* What the parts below need. */
struct journey {
    skua_pup              *p;
    const skua_flow_class *of;
    void                  *self;
    skua_flow             *flow;
};

static SKI_COLD _Noreturn void nonsense(const struct journey *trip, const char *what)
{
    ski_misuse("pup of %s: %s makes no sense; is all pupped alike on both sides?",
               ski_object_text(ski_object_of(trip->self)), what);
}

/* ---- messages --------------------------------------------------------------------------- */

static void pack_message(skua_pup *p, skua_msg *msg)
{
    struct message_record record = {0};
    skua_msg             *whole  = msg;

    if (msg && ski_msg_lands(msg)) /* in what does not come along, or to another place */
        whole = ski_landing_copy(msg);
    if (msg)
        record = (struct message_record){whole->bytes, ski_kept_reference(msg), msg->source,
                                         msg->handler, true};
    skua_pup_value(p, &record);
    if (msg)
        skua_pup_bytes(p, skua_msg_data(whole), whole->bytes);
    if (whole != msg)
        skua_msg_free(whole);
}

static skua_msg *unpack_message(const struct journey *trip)
{
    struct message_record record;
    skua_msg             *msg;

    skua_pup_value(trip->p, &record);
    if (!record.there)
        return NULL;
    if (record.bytes > ski_pup_left(trip->p))
        nonsense(trip, "the length of a message");
    msg          = skua_msg_alloc(record.bytes);
    msg->source  = record.source;
    msg->handler = record.handler;
    msg->target  = (uint64_t)record.reference;
    skua_pup_bytes(trip->p, skua_msg_data(msg), record.bytes);
    if (ski_msg_lands(msg) && !ski_landing_came(msg))
        nonsense(trip, "a message");
    return msg;
}

static void pack_kept(skua_pup *p, const skua_trigger *trigger)
{
    uint64_t count = 0;

    for (const skua_msg *msg = trigger->first; msg; msg = msg->link)
        count++;
    skua_pup_value(p, &count);
    for (skua_msg *msg = trigger->first; msg; msg = msg->link)
        pack_message(p, msg);
}

static void unpack_kept(const struct journey *trip, unsigned number)
{
    uint64_t count;

    skua_pup_value(trip->p, &count);
    while (count-- > 0) { /* too large: the bytes will end before */
        skua_msg *msg = unpack_message(trip);

        if (!msg)
            nonsense(trip, "a message that is not there");
        msg->kept.trigger = number;
        ski_kept_add(skua_flow_triggers(trip->flow) + number, msg);
    }
}

/* ---- strands ---------------------------------------------------------------------------- */

static void pup_variables(skua_pup *p, skua_strand *strand)
{
    char *from = (char *)(strand->wait + strand->type->waits);
    char *end  = (char *)strand + strand->type->bytes;

    skua_pup_bytes(p, from, (size_t)(end - from));
}

static uint32_t type_number(const struct journey *trip, const skua_strand_type *type)
{
    for (uint32_t i = 0; i < trip->of->types; i++)
        if (trip->of->type[i] == type)
            return i;
    nonsense(trip, type->name);
}

static void pack_waits(skua_pup *p, skua_strand *strand)
{
    for (const skua_wait *wait = strand->wait, *end = wait + strand->waiting; wait < end; wait++) {
        struct wait_record record = {wait->age,         wait->any ? 0 : wait->reference,
                                     wait->trigger,     wait->any,
                                     wait->alternative, 0};

        skua_pup_value(p, &record);
    }
}

static void pack_strand(const struct journey *trip, skua_strand *strand)
{
    struct strand_record record = {.type    = type_number(trip, strand->type),
                                   .at      = strand->at,
                                   .parent  = strand->parent ? strand->parent->number : 0,
                                   .waiting = strand->waiting,
                                   .joining = strand->joining};

    skua_pup_value(trip->p, &record);
    pack_waits(trip->p, strand);
    for (unsigned i = 0; i < strand->type->arrivals; i++)
        pack_message(trip->p, ski_strand_arrivals(strand)[i].msg);
    pup_variables(trip->p, strand);
}

static void unpack_waits(const struct journey *trip, skua_strand *strand)
{
    for (skua_wait *wait = strand->wait, *end = wait + strand->waiting; wait < end; wait++) {
        struct wait_record record;

        skua_pup_value(trip->p, &record);
        if (record.trigger >= trip->of->triggers || record.age > trip->flow->age)
            nonsense(trip, "a wait");
        wait->strand      = strand;
        wait->age         = record.age;
        wait->reference   = record.reference;
        wait->trigger     = record.trigger;
        wait->any         = record.any;
        wait->alternative = record.alternative;
    }
}

/* @p strand are those that came before it. */
static skua_strand *unpack_strand(const struct journey *trip, skua_strand **before, uint64_t count)
{
    struct strand_record record;
    skua_strand         *strand;

    skua_pup_value(trip->p, &record);
    if (record.type >= trip->of->types || record.parent > count ||
        record.waiting > trip->of->type[record.type]->waits)
        nonsense(trip, "a strand");
    strand          = ski_strand_new(trip->flow, trip->self, trip->of->type[record.type]);
    strand->at      = record.at;
    strand->waiting = record.waiting;
    strand->joining = record.joining;
    if (record.parent) {
        strand->parent = before[record.parent - 1];
        strand->parent->children++;
    }
    unpack_waits(trip, strand);
    for (unsigned i = 0; i < strand->type->arrivals; i++) {
        skua_msg *msg = unpack_message(trip);

        if (msg)
            ski_strand_arrivals(strand)[i] = ski_arrival_of(msg);
    }
    pup_variables(trip->p, strand);
    return strand;
}

/* ---- waits ------------------------------------------------------------------------------ */

static int by_age(const void *a, const void *b)
{
    const skua_wait *left = *(skua_wait *const *)a, *right = *(skua_wait *const *)b;

    return (left->age > right->age) - (left->age < right->age);
}

/* Link what the strands wait for; ages begin anew. */
static void link_waits(skua_flow *flow)
{
    size_t      count = 0, i = 0;
    skua_wait **wait;

    for (const skua_strand *strand = flow->first; strand; strand = strand->next)
        count += strand->waiting;
    wait = ski_malloc((count + 1) * sizeof(skua_wait *));
    for (skua_strand *strand = flow->first; strand; strand = strand->next)
        for (unsigned k = 0; k < strand->waiting; k++)
            wait[i++] = strand->wait + k;
    qsort(wait, count, sizeof *wait, by_age);
    flow->age = 0;
    for (i = 0; i < count; i++)
        ski_wait_add(skua_flow_triggers(flow) + wait[i]->trigger, wait[i]);
    free(wait);
}

/* ---- all of it ---------------------------------------------------------------------------- */

static void pack(const struct journey *trip)
{
    struct head head = {.age = trip->flow->age};

    assert(!trip->flow->ready && !trip->flow->late);
    for (skua_strand *strand = trip->flow->first; strand; strand = strand->next)
        strand->number = (uint32_t)++head.strands;
    skua_pup_value(trip->p, &head);
    for (skua_strand *strand = trip->flow->first; strand; strand = strand->next)
        pack_strand(trip, strand);
    for (unsigned i = 0; i < trip->of->triggers; i++)
        pack_kept(trip->p, skua_flow_triggers(trip->flow) + i);
}

static void unpack(const struct journey *trip)
{
    struct head   head;
    skua_strand **strand;

    skua_pup_value(trip->p, &head);
    if (head.strands > ski_pup_left(trip->p) / sizeof(struct strand_record))
        nonsense(trip, "the number of its strands");
    trip->flow->age = head.age;
    strand          = ski_malloc((head.strands + 1) * sizeof(skua_strand *));
    for (uint64_t i = 0; i < head.strands; i++)
        strand[i] = unpack_strand(trip, strand, i);
    free(strand);
    link_waits(trip->flow);
    for (unsigned i = 0; i < trip->of->triggers; i++)
        unpack_kept(trip, i);
}

void skua_flow_pup(const skua_flow_class *of, skua_pup *p, void *self)
{
    struct journey trip = {p, of, self, ski_flow_of(of, self)};

    if (skua_pup_unpacking(p))
        unpack(&trip);
    else
        pack(&trip);
}
