/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_pup.c - packs and unpacks a flow: waiting frames and buffered messages.
 *
 *   head              age of the youngest wait, number of frames
 *   each frame        by age: its record, its waits, each of its messages, its variables
 *   each when-entry   number of buffered messages, and each message
 *   a message         its record, its data
 *
 * A frame refers to its parent by number; a parent precedes its children.  Waits are linked at the
 * end, by age.  The number of children of a frame is not packed but counted.  Data to be unpacked
 * may come from another host and are validated: the job ends if they are invalid.
 */
#include "base/assert.h"
#include "base/memory.h"
#include "core/message/msg_share.h"
#include "flow/flow.h"
#include "objects/zerocopy/inplace.h"
#include "objects/zerocopy/nocopy.h"
#include "objects/model/element.h"
#include "objects/model/pup.h"

struct flow_pup_head {
    uint64_t age, frames;
};

struct flow_pup_frame {
    uint32_t type, at;
    uint32_t parent; /* its number, counted from 1, or 0 */
    uint16_t waiting;
    uint8_t  joining, zero;
};

struct flow_pup_wait {
    uint64_t age;
    int64_t  reference;
    uint16_t when;
    uint8_t  any, alternative;
    uint32_t zero;
};

struct flow_pup_message {
    uint64_t bytes;
    int64_t  reference;
    int32_t  source;
    uint16_t handler;
    uint16_t present; /* of an arrival: 0 if there is no message */
};

/* The flow being packed or unpacked. */
struct flow_pup_context {
    skua_pup               *p;
    const skuac_flow_class *of;
    void                   *self;
    skuac_flow             *flow;
};

static SKI_COLD _Noreturn void flow_pup_invalid(const struct flow_pup_context *context,
                                                const char                    *what)
{
    ski_misuse("pup of %s: %s is invalid; do all processes run the same program, and does pup() "
               "treat the object alike when it packs and unpacks?",
               ski_object_text(ski_object_of(context->self)), what);
}

/* ---- messages --------------------------------------------------------------------------- */

/* Returns the message to pack in place of @p msg, or @p msg itself: data that are in memory which
 * does not migrate, or has another address then, are in the message. */
static skua_msg *flow_pup_whole(skua_msg *msg)
{
    skua_msg *whole = NULL;

    if (msg)
        whole = ski_msg_is_inplace(msg) ? ski_inplace_copy(msg) : ski_nocopy_copy_posted(msg);
    return whole ? whole : msg;
}

static void flow_pack_message(skua_pup *p, skua_msg *msg)
{
    struct flow_pup_message record = {0};
    skua_msg               *whole  = flow_pup_whole(msg);

    if (msg)
        record = (struct flow_pup_message){whole->bytes, ski_when_refnum(msg), msg->source,
                                           msg->handler, true};
    skua_pup_bytes_named(p, &record, sizeof record, "the record of a message");
    if (msg)
        skua_pup_bytes_named(p, skua_msg_data(whole), whole->bytes, "a message");
    if (whole != msg)
        skua_msg_free(whole);
}

/* Packs a message that a frame holds: of one that it shares, the part that is its own. */
static void flow_pack_arrival(skua_pup *p, const skuac_arrival *arrival)
{
    struct flow_pup_message record;

    if (!arrival->msg || !ski_msg_is_shared(arrival->msg)) {
        flow_pack_message(p, arrival->msg);
        return;
    }
    record = (struct flow_pup_message){
        .bytes = arrival->bytes, .source = arrival->msg->source, .present = true};
    skua_pup_bytes_named(p, &record, sizeof record, "the record of a message");
    skua_pup_bytes_named(p, (void *)arrival->data, arrival->bytes, "a message");
}

/* Unpacks a message that a flow has buffered; NULL if there is none. */
static skua_msg *flow_unpack_message(const struct flow_pup_context *context)
{
    struct flow_pup_message record;
    skua_msg               *msg;

    skua_pup_bytes_named(context->p, &record, sizeof record, "the record of a message");
    if (!record.present)
        return NULL;
    if (record.bytes > ski_pup_left(context->p))
        flow_pup_invalid(context, "the length of a message");
    msg          = skua_msg_alloc(record.bytes);
    msg->source  = record.source;
    msg->handler = record.handler;
    msg->target  = (uint64_t)record.reference;
    skua_pup_bytes_named(context->p, skua_msg_data(msg), record.bytes, "a message");
    if (ski_msg_is_inplace(msg) && !ski_inplace_accept(msg))
        flow_pup_invalid(context, "a message");
    return msg;
}

static void flow_pack_buffered(skua_pup *p, const skuac_when *entry)
{
    uint64_t count = 0;

    for (const skua_msg *msg = entry->first; msg; msg = msg->link)
        count++;
    skua_pup_value(p, &count);
    for (skua_msg *msg = entry->first; msg; msg = msg->link)
        flow_pack_message(p, msg);
}

static void flow_unpack_buffered(const struct flow_pup_context *context, unsigned number)
{
    uint64_t count;

    skua_pup_value(context->p, &count);
    while (count-- > 0) { /* a count that is too large ends with an error: the data run out */
        skua_msg *msg = flow_unpack_message(context);

        if (!msg)
            flow_pup_invalid(context, "an absent message");
        msg->kept.when = number;
        ski_when_buffer(skuac_flow_whens(context->flow) + number, msg);
    }
}

/* ---- frames -------------------------------------------------------------------------------- */

static void flow_pup_variables(skua_pup *p, skuac_frame *frame)
{
    char *from = (char *)(frame->wait + frame->type->waits);
    char *end  = (char *)frame + frame->type->bytes;

    skua_pup_bytes_named(p, from, (size_t)(end - from), "the variables of a frame");
}

static uint32_t flow_pup_type_number(const struct flow_pup_context *context,
                                     const skuac_frame_type        *type)
{
    for (uint32_t i = 0; i < context->of->types; i++)
        if (context->of->type[i] == type)
            return i;
    flow_pup_invalid(context, type->name);
}

static void flow_pack_waits(skua_pup *p, skuac_frame *frame)
{
    for (const skuac_wait *wait = frame->wait, *end = wait + frame->waiting; wait < end; wait++) {
        struct flow_pup_wait record = {wait->age,         wait->any ? 0 : wait->reference,
                                       wait->when,        wait->any,
                                       wait->alternative, 0};

        skua_pup_value(p, &record);
    }
}

static void flow_pack_frame(const struct flow_pup_context *context, skuac_frame *frame)
{
    struct flow_pup_frame record = {.type    = flow_pup_type_number(context, frame->type),
                                    .at      = frame->at,
                                    .parent  = frame->parent ? frame->parent->number : 0,
                                    .waiting = frame->waiting,
                                    .joining = frame->joining};

    ski_assert(record.parent < frame->number);
    ski_assert(frame->waiting > 0 || frame->joining); /* idle flow: every frame waits */
    skua_pup_value(context->p, &record);
    flow_pack_waits(context->p, frame);
    for (unsigned i = 0; i < frame->type->arrivals; i++)
        flow_pack_arrival(context->p, &ski_frame_arrivals(frame)[i]);
    flow_pup_variables(context->p, frame);
}

static void flow_unpack_waits(const struct flow_pup_context *context, skuac_frame *frame)
{
    for (skuac_wait *wait = frame->wait, *end = wait + frame->waiting; wait < end; wait++) {
        struct flow_pup_wait record;

        skua_pup_value(context->p, &record);
        if (record.when >= context->of->whens || record.age > context->flow->age)
            flow_pup_invalid(context, "a wait");
        wait->frame       = frame;
        wait->age         = record.age;
        wait->reference   = record.reference;
        wait->when        = record.when;
        wait->any         = record.any;
        wait->alternative = record.alternative;
    }
}

/* @p before are the @p count frames unpacked so far. */
static skuac_frame *flow_unpack_frame(const struct flow_pup_context *context, skuac_frame **before,
                                      uint64_t count)
{
    struct flow_pup_frame record;
    skuac_frame          *frame;

    skua_pup_value(context->p, &record);
    if (record.type >= context->of->types || record.parent > count ||
        record.waiting > context->of->type[record.type]->waits)
        flow_pup_invalid(context, "a frame");
    frame          = ski_frame_new(context->flow, context->self, context->of->type[record.type]);
    frame->at      = record.at;
    frame->waiting = record.waiting;
    frame->joining = record.joining;
    if (record.parent) {
        frame->parent = before[record.parent - 1];
        frame->parent->children++;
    }
    flow_unpack_waits(context, frame);
    for (unsigned i = 0; i < frame->type->arrivals; i++) {
        skua_msg *msg = flow_unpack_message(context);

        if (msg)
            ski_frame_arrivals(frame)[i] = ski_flow_arrival(msg);
    }
    flow_pup_variables(context->p, frame);
    return frame;
}

/* ---- waits ------------------------------------------------------------------------------ */

static int flow_pup_compare_age(const void *a, const void *b)
{
    const skuac_wait *left = *(skuac_wait *const *)a, *right = *(skuac_wait *const *)b;

    return (left->age > right->age) - (left->age < right->age);
}

/* Links the waits of all frames in the order of age and renumbers them. */
static void flow_pup_link_waits(skuac_flow *flow)
{
    size_t       count = 0, i = 0;
    skuac_wait **wait;

    for (const skuac_frame *frame = flow->first; frame; frame = frame->next)
        count += frame->waiting;
    wait = ski_malloc((count + 1) * sizeof(skuac_wait *));
    for (skuac_frame *frame = flow->first; frame; frame = frame->next)
        for (unsigned k = 0; k < frame->waiting; k++)
            wait[i++] = frame->wait + k;
    ski_assert(i == count);
    qsort(wait, count, sizeof *wait, flow_pup_compare_age);
    flow->age = 0;
    for (i = 0; i < count; i++)
        ski_when_add_wait(skuac_flow_whens(flow) + wait[i]->when, wait[i]);
    free(wait);
}

/* ---- flows --------------------------------------------------------------------------------- */

static void flow_pack(const struct flow_pup_context *context)
{
    struct flow_pup_head head = {.age = context->flow->age};

    ski_assert(!context->flow->running && !context->flow->ready && !context->flow->late);
    for (skuac_frame *frame = context->flow->first; frame; frame = frame->next)
        frame->number = (uint32_t)++head.frames;
    skua_pup_value(context->p, &head);
    for (skuac_frame *frame = context->flow->first; frame; frame = frame->next)
        flow_pack_frame(context, frame);
    for (unsigned i = 0; i < context->of->whens; i++)
        flow_pack_buffered(context->p, skuac_flow_whens(context->flow) + i);
}

/* Unpacks the frames of a flow, and the messages that it has buffered. */
static void flow_unpack(const struct flow_pup_context *context)
{
    struct flow_pup_head head;
    skuac_frame        **frame;

    ski_assert(!context->flow->first && !context->flow->running);
    skua_pup_value(context->p, &head);
    if (head.frames > ski_pup_left(context->p) / sizeof(struct flow_pup_frame))
        flow_pup_invalid(context, "the number of frames");
    context->flow->age = head.age;
    frame              = ski_malloc((head.frames + 1) * sizeof(skuac_frame *));
    for (uint64_t i = 0; i < head.frames; i++)
        frame[i] = flow_unpack_frame(context, frame, i);
    free(frame);
    flow_pup_link_waits(context->flow);
    for (unsigned i = 0; i < context->of->whens; i++)
        flow_unpack_buffered(context, i);
}

void skuac_flow_pup(const skuac_flow_class *of, skua_pup *p, void *self)
{
    struct flow_pup_context context = {p, of, self, ski_flow_of(of, self)};

    skua_pup_begin(p, "its control flow");
    if (skua_pup_unpacking(p))
        flow_unpack(&context);
    else
        flow_pack(&context);
    skua_pup_end(p);
}

/* ---- by pointer ---------------------------------------------------------------------------- */

/* Frames are in memory of the process and point to its static variables, so the flow of an object
 * that migrates by pointer is packed all the same. */
static void flow_pup_part(skua_pup *p, void *self)
{
    skuac_flow_pup(ski_object_of(self)->of->class->flow, p, self);
}

static size_t flow_baggage_bytes(const struct ski_object *object)
{
    return ski_pup_part_measure(flow_pup_part, (void *)(object + 1));
}

/* The object leaves with its flow: what is packed is freed here. */
static void flow_baggage_pack(struct ski_object *object, void *to)
{
    void *self = object + 1;

    ski_pup_part_pack(flow_pup_part, self, to, ski_pup_part_measure(flow_pup_part, self));
    skuac_flow_destroy(object->of->class->flow, self);
}

/* flow_unpack() checks what it reads. */
static bool flow_baggage_valid(const struct ski_collection *all, const void *from, size_t bytes)
{
    (void)all, (void)from;
    return bytes >= sizeof(struct flow_pup_head);
}

static void flow_baggage_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    ski_pup_part_unpack(flow_pup_part, object + 1, from, bytes);
}

static const struct ski_baggage flow_baggage = {.least  = sizeof(struct flow_pup_head),
                                                .bytes  = flow_baggage_bytes,
                                                .pack   = flow_baggage_pack,
                                                .valid  = flow_baggage_valid,
                                                .unpack = flow_baggage_unpack};

void skuac_flow_register(const skuac_flow_class *of, skua_class which)
{
    ski_class_set_flow(which, of, of->at + offsetof(skuac_flow, first), ski_flow_report,
                       &flow_baggage);
}
