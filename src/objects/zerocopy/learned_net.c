/* SPDX-License-Identifier: Apache-2.0 */
/* learned_net.c - see learned_net.h. */
#include "objects/zerocopy/learned_net.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "objects/chare/element_lookup.h"

#define LEARNED_NET_MAX                                                                            \
    64 /* channels of an element, above which it gets no more of other hosts                       \
        */

/* A packet whose data is arriving in a slot, or in a message of its own. */
struct ski_learned_incoming {
    struct ski_learned_incoming *next;
    struct ski_learned_slot     *slot; /* NULL: withdrawn, and `msg` has room for the data */
    struct ski_learned_channel  *channel;
    skua_msg                    *msg; /* what is left to run when all data have arrived */
    uint64_t                     number;
    int32_t                      source;   /* the PE of the sender ... */
    uint32_t                     sequence; /* ... and the number of its packet */
};

/* The beginning of a packet for in-place delivery. */
struct learned_net_packet {
    struct ski_inplace inplace;
    unsigned char      head[SKI_LEARNED_HEAD];
};

_Static_assert(((sizeof(struct learned_net_packet) + sizeof(skua_layout) + 15) & ~(size_t)15) <=
                   SKI_PLACE_DATA,
               "all before the data is in the first bytes of a packet");

/* ---- channels -------------------------------------------------------------------------------- */

/* Returns the channel of an element for messages of one kind from PE @p source; NULL: none. */
static struct ski_learned_channel *learned_net_find(const struct ski_learned_channels *learned,
                                                    const struct ski_object *object, int32_t source,
                                                    uint32_t handler, const void *head,
                                                    uint32_t bytes)
{
    const struct ski_learned_receiver *receiver = ski_learned_find_receiver(learned, object);
    struct ski_learned_channel        *channel  = receiver ? receiver->first : NULL;

    while (channel && !(channel->from_net && channel->source == source &&
                        ski_learned_is_of_kind(channel, handler, head, bytes)))
        channel = channel->next;
    return channel;
}

/* Returns a new channel, whose first message is @p number; NULL: the element has too many. */
static struct ski_learned_channel *learned_net_new(struct ski_learned_channels *learned,
                                                   const struct ski_object *object, int32_t source,
                                                   uint64_t number)
{
    const struct ski_learned_receiver *receiver = ski_learned_find_receiver(learned, object);
    struct ski_learned_channel        *channel  = learned->unused;

    if (receiver && receiver->channels >= LEARNED_NET_MAX)
        return NULL;
    if (channel)
        learned->unused = channel->next;
    else if (!(channel = ski_pool_alloc(&ski_self->pool, sizeof *channel)))
        return NULL;
    memset(channel, 0, sizeof *channel);
    channel->from_net = true;
    channel->source   = source;
    channel->last     = number - 1;
    return channel;
}

struct ski_learned_channel *ski_learned_net_channel(struct ski_learned_channels *learned,
                                                    const struct ski_object     *object,
                                                    const skua_msg              *msg)
{
    const struct ski_inplace   *inplace = ski_inplace_of(msg);
    struct ski_learned_channel *channel;

    if (inplace->head > SKI_LEARNED_HEAD || ski_job_index(ski_self->job, msg->source) >= 0)
        return NULL;
    channel = learned_net_find(learned, object, msg->source, msg->handler,
                               ski_inplace_head(inplace), inplace->head);
    return channel ? channel : learned_net_new(learned, object, msg->source, inplace->number);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* Copies the beginning of a packet. Returns false if it is none for in-place delivery, or is
 * malformed; the slow path finds out which. */
static bool learned_net_read(const skua_msg *head, const char *data, struct learned_net_packet *to)
{
    size_t before;

    if (!(head->flags & SKI_MSG_OBJECT) || head->flags & (SKI_MSG_TAIL | SKI_MSG_BITS) ||
        head->bit_room || ski_target_bytes(head->target) > SKI_MSG_INDEX_BYTES ||
        head->bytes < SKI_LEARNED_NET_MIN || !ski_msg_is_inplace(head))
        return false;
    memcpy(to, data, sizeof *to);
    if (to->inplace.number == 0 || to->inplace.head > SKI_LEARNED_HEAD)
        return false;
    before = ski_inplace_bytes_before(&to->inplace);
    return head->bytes > before && head->bytes - before == to->inplace.bytes;
}

/* Returns the element that a packet is for; NULL: it is not here. */
static struct ski_object *learned_net_target(const struct ski_pe *self, const skua_msg *head)
{
    skua_msg               copy = *head;
    skua_ref               ref  = {.of = {head->target >> 8}, .index = ski_msg_index(&copy)};
    struct ski_collection *all;
    struct ski_object     *object = ski_element_find_here(self->objects, &ref, &all);

    return object && object->state == SKI_ALIVE ? object : NULL;
}

/* Returns the slot that expects a packet; NULL: none. */
static struct ski_learned_slot *learned_net_expects(struct ski_pe *self, const skua_msg *head,
                                                    const struct learned_net_packet *packet,
                                                    struct ski_learned_channel     **channel)
{
    const struct ski_inplace *inplace = &packet->inplace;
    struct ski_object        *object  = learned_net_target(self, head);
    struct ski_learned_slot  *slot;

    *channel = object ? learned_net_find(ski_learned_known(self), object, head->source,
                                         head->handler, packet->head, inplace->head)
                      : NULL;
    if (!*channel)
        return NULL;
    slot = ski_learned_slot_of(*channel, inplace->number);
    if (atomic_load_explicit(&slot->state, memory_order_relaxed) !=
            ski_learned_state(inplace->number, SKI_LEARNED_ARMED) ||
        slot->reference != inplace->reference || slot->bytes != inplace->bytes)
        return NULL;
    ski_assert(slot->object == object && slot->layout->bytes == slot->bytes);
    return slot;
}

/* Returns the slot that expects a packet whose data may be delivered within the driver; NULL: the
 * packet is received like any other. */
static struct ski_learned_slot *learned_net_slot(struct ski_pe *self, const skua_msg *head,
                                                 const char *data, struct learned_net_packet *to,
                                                 struct ski_learned_channel **channel)
{
    if (self != ski_self || ski_pe_exiting(self) || !self->objects || !ski_learned_known(self) ||
        !learned_net_read(head, data, to))
        return NULL;
    return learned_net_expects(self, head, to, channel);
}

/* Returns the message of a packet, with room for @p room bytes of data. */
static skua_msg *learned_net_message(const skua_msg *head, const struct ski_inplace *inplace,
                                     const void *inplace_head, size_t room)
{
    struct ski_inplace like = *inplace;
    skua_msg          *msg;
    size_t             bytes;

    like.apart   = 0;
    like.channel = NULL;
    like.whole   = NULL;
    msg          = ski_inplace_new(&like, inplace_head, room);
    bytes        = msg->bytes;
    *msg         = *head;
    msg->bytes   = bytes;
    return msg;
}

/* Marks the slot of @p msg as filled: its data has arrived there. */
static void learned_net_fill(struct ski_learned_slot *slot, skua_msg *msg, uint64_t number)
{
    slot->msg = msg;
    atomic_store_explicit(&slot->state, ski_learned_state(number, SKI_LEARNED_FILLED),
                          memory_order_relaxed);
}

/* Copies the data of a packet from the memory of the driver to where the receiver expects
 * them.  Returns the message without them, or NULL if they are not expected. */
static skua_msg *learned_net_take(struct ski_pe *self, const skua_msg *head, const char *data)
{
    struct learned_net_packet   packet;
    struct ski_learned_channel *channel;
    struct ski_learned_slot    *slot = learned_net_slot(self, head, data, &packet, &channel);
    skua_layout                 from;
    skua_msg                   *msg;

    if (!slot)
        return NULL;
    from = skua_layout_contiguous(NULL, slot->bytes);
    ski_copy_plan_run(ski_learned_copy_plan(ski_learned_known(self), slot->layout, &from), slot->at,
                      data + head->bytes - slot->bytes);
    msg = learned_net_message(head, &packet.inplace, packet.head, 0);
    learned_net_fill(slot, msg, packet.inplace.number);
    return msg;
}

/* ---- data that are arriving ------------------------------------------------------------------ */

/* Returns where the record of a packet is linked, or could be; NULL: the PE ends. */
static struct ski_learned_incoming **learned_net_incoming(const struct ski_pe *self,
                                                          const skua_msg      *head)
{
    struct ski_learned_incoming **at;

    if (!self->objects || !ski_learned_known(self))
        return NULL;
    at = &ski_learned_known(self)->incoming;
    while (*at && ((*at)->source != head->source || (*at)->sequence != head->stamp.sequence))
        at = &(*at)->next;
    return at;
}

/* Lets the driver receive the data of a packet where the receiver expects them.  Returns their
 * number, or 0 if they are not expected, or in several blocks. */
static size_t learned_net_place(struct ski_pe *self, const skua_msg *head, const char *data,
                                void **to)
{
    struct learned_net_packet    packet;
    struct ski_learned_channel  *channel;
    struct ski_learned_slot     *slot = learned_net_slot(self, head, data, &packet, &channel);
    struct ski_learned_incoming *incoming;

    if (!slot || slot->layout->simple.kind != SKUA_LAYOUT_CONTIGUOUS)
        return 0;
    incoming  = ski_malloc(sizeof *incoming);
    *incoming = (struct ski_learned_incoming){
        .next     = ski_learned_known(self)->incoming,
        .slot     = slot,
        .channel  = channel,
        .msg      = learned_net_message(head, &packet.inplace, packet.head, 0),
        .number   = packet.inplace.number,
        .source   = head->source,
        .sequence = head->stamp.sequence};
    ski_learned_known(self)->incoming = incoming;
    atomic_store_explicit(&slot->state, ski_learned_state(incoming->number, SKI_LEARNED_BUSY),
                          memory_order_relaxed);
    *to = slot->at;
    return slot->bytes;
}

static void *learned_net_moved(struct ski_pe *self, const skua_msg *head)
{
    struct ski_learned_incoming *const *at = learned_net_incoming(self, head);

    if (!at || !*at)
        return NULL;
    return (*at)->slot ? (*at)->slot->at : ski_inplace_room(ski_inplace_of((*at)->msg));
}

/* A packet that has not arrived whole leaves its slot armed: it may arrive again. */
static skua_msg *learned_net_placed(struct ski_pe *self, const skua_msg *head, const char *data,
                                    bool whole)
{
    struct ski_learned_incoming **at = learned_net_incoming(self, head), incoming;

    (void)data;
    if (!at || !*at)
        return NULL;
    incoming = **at;
    free(*at);
    *at = incoming.next;
    if (whole && incoming.slot)
        learned_net_fill(incoming.slot, incoming.msg, incoming.number);
    if (whole)
        return incoming.msg;
    if (incoming.slot)
        atomic_store_explicit(&incoming.slot->state,
                              ski_learned_state(incoming.number, SKI_LEARNED_ARMED),
                              memory_order_relaxed);
    ski_pool_free(&self->pool, incoming.msg);
    return NULL;
}

const struct ski_placement ski_learned_placement = {
    .place      = learned_net_place,
    .placed     = learned_net_placed,
    .take       = learned_net_take,
    .moved      = learned_net_moved,
    .until_exit = true,
};

/* ---- taking back ----------------------------------------------------------------------------- */

/* Moves data that are arriving into a message; how many have arrived is not known here. */
static void learned_net_move(struct ski_learned_incoming *incoming)
{
    const struct ski_inplace *inplace = ski_inplace_of(incoming->msg);
    skua_msg                 *msg =
        learned_net_message(incoming->msg, inplace, ski_inplace_head(inplace), inplace->bytes);

    memcpy(ski_inplace_room(ski_inplace_of(msg)), incoming->slot->at, inplace->bytes);
    ski_pool_free(&ski_self->pool, incoming->msg);
    incoming->msg = msg;
    atomic_store_explicit(&incoming->slot->state, ski_learned_state(0, SKI_LEARNED_IDLE),
                          memory_order_relaxed);
    incoming->slot = NULL;
}

void ski_learned_net_withdraw(struct ski_learned_channels *learned,
                              struct ski_learned_channel  *channel)
{
    for (struct ski_learned_incoming *each = learned->incoming; each; each = each->next)
        if (each->slot && each->channel == channel)
            learned_net_move(each);
}

void ski_learned_net_keep(struct ski_learned_channels *learned, struct ski_learned_channel *channel)
{
    ski_assert(channel->from_net && !channel->object);
    channel->next   = learned->unused;
    learned->unused = channel;
}

static void learned_net_drop_of(struct ski_hash_link *link, void *msg)
{
    struct ski_learned_channel *channel = ((struct ski_learned_receiver *)link)->first;

    for (; channel; channel = channel->next)
        for (struct ski_learned_slot *slot = channel->slot;
             slot < channel->slot + SKI_LEARNED_SLOTS; slot++)
            if (channel->from_net && slot->msg == msg &&
                (atomic_load_explicit(&slot->state, memory_order_relaxed) & 3) ==
                    SKI_LEARNED_FILLED)
                atomic_store_explicit(&slot->state, ski_learned_state(0, SKI_LEARNED_IDLE),
                                      memory_order_relaxed);
}

/* Rare: a message is nearly always delivered, or its element has withdrawn. */
void ski_learned_net_dropped(struct ski_learned_channels *learned, const skua_msg *msg)
{
    if (ski_inplace_of(msg)->number && ski_job_index(ski_self->job, msg->source) < 0)
        ski_hash_each(&learned->receivers, learned_net_drop_of, (void *)(uintptr_t)msg);
}

void ski_learned_net_end(struct ski_learned_channels *learned)
{
    while (learned->incoming) {
        struct ski_learned_incoming *next = learned->incoming->next;

        free(learned->incoming);
        learned->incoming = next;
    }
}
