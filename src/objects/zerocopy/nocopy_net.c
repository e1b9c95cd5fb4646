/* SPDX-License-Identifier: Apache-2.0 */
/* nocopy_net.c - see nocopy_net.h. */
#include "objects/zerocopy/nocopy_net.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/addr_tag.h"
#include "core/message/message.h"
#include "core/net/packet.h"
#include "core/net/zcopy_send.h"
#include "core/pe/handler.h"
#include "objects/model/objects_pe.h"
#include "onesided/buffer/buffer_data.h"

#define NOCOPY_NET_MIN  16384 /* bytes of an argument; fewer are copied as fast */
#define NOCOPY_NET_MAX  ((size_t)64 << 20)
#define NOCOPY_NET_HEAD 192 /* bytes of the head of a message, at most */

/* Flags of a message that a packet stands for: it has no tail, priority words or holders. */
#define NOCOPY_NET_FLAGS (SKI_MSG_OBJECT | SKI_MSG_INT | SKI_MSG_EXPEDITED)

_Static_assert(sizeof(struct ski_nocopy_packet) + NOCOPY_NET_HEAD <= SKI_PLACE_DATA,
               "the driver shows all before the argument");
_Static_assert(sizeof(struct ski_nocopy_packet) % SKI_NOCOPY_ALIGN == 0, "the head is aligned");

/* ---- the sender ------------------------------------------------------------------------------ */

/* Proves that this PE has made the message at an address for another host. */
static uint64_t nocopy_net_tag(const struct ski_pe *self, const skua_msg *msg)
{
    return ski_addr_tag(self->job, SKI_TAG_NOCOPY_MSG, self->pe, (uintptr_t)msg, msg->bytes);
}

bool ski_nocopy_net_pays(struct ski_pe *self, int pe, size_t first, size_t bytes)
{
    return bytes >= NOCOPY_NET_MIN && bytes <= NOCOPY_NET_MAX && first <= NOCOPY_NET_HEAD &&
           self->net && !self->thread && pe >= 0 && ski_job_index(self->job, pe) < 0 &&
           ski_zcopy_send_takes(sizeof(skua_msg) + SKI_PLACE_DATA + bytes);
}

bool ski_nocopy_net_expect(struct ski_pe *self, int pe, skua_msg *msg)
{
    if (!ski_net_announce_zcopy(self, pe, msg))
        return false;
    ski_nocopy_trailer_at(msg + 1, msg->bytes)->made = nocopy_net_tag(self, msg);
    return true;
}

/* Writes the header of @p msg for the wire: no uninitialised memory leaves the host. */
static void nocopy_net_write_header(struct skua_msg *to, const skua_msg *msg)
{
    memset(to, 0, sizeof *to);
    memcpy(to, msg, msg->flags & SKI_MSG_OBJECT ? sizeof *to : SKI_PACKET_HALF);
    to->link = NULL;
}

/* Returns the message of the packet of @p msg without its argument, with room for what the driver
 * needs after it; sets *@p header to its bytes. */
static skua_msg *nocopy_net_packet(struct ski_pe *self, const skua_msg *msg, size_t first,
                                   size_t bytes, size_t *header)
{
    struct ski_nocopy_packet *packet;
    skua_msg                 *made;

    *header = sizeof *packet + ski_nocopy_align(first);
    made    = skua_msg_alloc(*header + sizeof(struct ski_zcopy_send));
    packet  = skua_msg_data(made);
    nocopy_net_write_header(&packet->msg, msg);
    packet->msg.source = self->pe;
    memset((char *)packet + *header - SKI_NOCOPY_ALIGN, 0, SKI_NOCOPY_ALIGN);
    packet->bytes = bytes;
    packet->first = first;
    if (first > 0)
        memcpy(packet + 1, msg + 1, first);
    made->handler  = SKI_HANDLER_NOCOPY_NET;
    made->source   = self->pe;
    made->flags    = msg->flags & (SKI_MSG_INT | SKI_MSG_EXPEDITED); /* it may be queued itself */
    made->priority = msg->priority;
    return made;
}

/* Sends @p msg with its argument without a copy.  Returns false if that is not possible now. */
static bool nocopy_net_send_zcopy(struct ski_pe *self, int pe, const skua_msg *msg, size_t first,
                                  const skua_buffer *from)
{
    size_t    header;
    skua_msg *packet;

    if (self->thread)
        return false;
    packet = nocopy_net_packet(self, msg, first, from->bytes, &header);
    if (ski_buffer_send_zcopy(self, pe, packet, header, from, from->bytes))
        return true;
    skua_msg_free(packet);
    return false;
}

/* Returns a message with the header @p like, a head of @p first bytes at @p head, and room for one
 * argument of @p bytes, *@p arg. */
static skua_msg *nocopy_net_message(const struct skua_msg *like, const void *head, size_t first,
                                    size_t bytes, struct ski_nocopy_arg **arg)
{
    skua_msg *made = ski_nocopy_new(first, 1, ski_nocopy_extent(SKI_NOCOPY_DATA, bytes));
    size_t    all  = made->bytes;

    *made           = *like;
    made->bytes     = all;
    made->link      = NULL;
    made->announced = 0;
    if (first > 0)
        memcpy(made + 1, head, first);
    *arg  = (struct ski_nocopy_arg *)(void *)((char *)(made + 1) + ski_nocopy_align(first));
    **arg = (struct ski_nocopy_arg){.bytes = bytes, .kind = SKI_NOCOPY_DATA};
    return made;
}

/* Returns the message with a copy of its argument in place of the buffer.  The completion follows
 * by a message: it may run code of the program, which must not send before this message. */
static skua_msg *nocopy_net_copied(struct ski_pe *self, skua_msg *msg, size_t first,
                                   const skua_buffer *from)
{
    struct ski_nocopy_arg *arg;
    skua_msg              *made = nocopy_net_message(msg, msg + 1, first, from->bytes, &arg);

    memcpy(arg + 1, from->at, from->bytes);
    ski_buffer_post_sent(self, from);
    ski_pool_free(&self->pool, msg);
    return made;
}

/* Returns whether the one argument of a message is memory of this PE.  The tag of a message that
 * went as it was, and came back to the address where it was made, does not prove that: a PE on its
 * way may have fetched the argument, and described its copy. */
static bool nocopy_net_is_own(const struct ski_pe *self, const struct ski_nocopy_trailer *trailer,
                              const struct ski_nocopy_arg *arg)
{
    return trailer->count == 1 && arg->kind == SKI_NOCOPY_BUFFER &&
           ski_nocopy_buffer(arg)->pe == self->pe &&
           ski_buffer_is_valid(self, ski_nocopy_buffer(arg));
}

skua_msg *ski_nocopy_net_send(struct ski_pe *self, int pe, skua_msg *msg)
{
    struct ski_nocopy_trailer   *trailer = ski_nocopy_trailer(msg + 1, msg->bytes);
    const struct ski_nocopy_arg *arg;
    size_t                       first;

    if (!trailer || !trailer->made || trailer->made != nocopy_net_tag(self, msg))
        return msg;
    msg->announced = 0;
    trailer->made  = 0;
    arg            = ski_nocopy_walk_in(msg + 1, trailer).next;
    first          = trailer->first;
    if (msg->handler < SKI_HANDLERS || msg->flags & ~NOCOPY_NET_FLAGS || msg->bit_room ||
        !nocopy_net_is_own(self, trailer, arg))
        return msg;
    if (!nocopy_net_send_zcopy(self, pe, msg, first, ski_nocopy_buffer(arg)))
        return nocopy_net_copied(self, msg, first, ski_nocopy_buffer(arg));
    ski_pool_free(&self->pool, msg);
    return NULL;
}

/* ---- the receiver ---------------------------------------------------------------------------- */

/* A packet whose argument is arriving in its message. */
struct ski_nocopy_incoming {
    struct ski_nocopy_incoming *next;
    skua_msg                   *msg;
    int32_t                     source;   /* the PE of the sender ...       */
    uint32_t                    sequence; /* ... and the number of its packet */
};

/* Copies the beginning of a packet, and sets the bytes of its message.  Returns false if it is
 * malformed. */
static bool nocopy_net_read(const struct ski_pe *self, const skua_msg *head, const char *data,
                            struct ski_nocopy_packet *to)
{
    size_t before;

    memcpy(to, data, sizeof *to);
    if (to->first > NOCOPY_NET_HEAD)
        return false;
    before = sizeof *to + ski_nocopy_align(to->first);
    if (head->bytes <= before || head->bytes - before != to->bytes ||
        to->msg.handler < SKI_HANDLERS || to->msg.source != head->source ||
        to->msg.flags & ~NOCOPY_NET_FLAGS || to->msg.bit_room || to->msg.bit_words)
        return false;
    to->msg.bytes = ski_nocopy_align(to->first) + ski_nocopy_extent(SKI_NOCOPY_DATA, to->bytes) +
                    sizeof(struct ski_nocopy_trailer);
    return !ski_packet_error(self->job, ski_handlers.count, &to->msg,
                             sizeof to->msg + to->msg.bytes);
}

/* Returns where the record of a packet is linked, or could be. */
static struct ski_nocopy_incoming **nocopy_net_incoming(const struct ski_pe *self,
                                                        const skua_msg      *head)
{
    struct ski_nocopy_incoming **at =
        (struct ski_nocopy_incoming **)&self->objects->slot[SKI_SLOT_NOCOPY];

    while (*at && ((*at)->source != head->source || (*at)->sequence != head->stamp.sequence))
        at = &(*at)->next;
    return at;
}

/* Lets the driver receive the argument of a packet in the message that is made for it.  Returns the
 * bytes of the argument, or 0 if the packet is not valid or this thread is not its PE, or the PE
 * exits. */
static size_t nocopy_net_place(struct ski_pe *self, const skua_msg *head, const char *data,
                               void **to)
{
    struct ski_nocopy_packet     packet;
    struct ski_nocopy_incoming **at, *incoming;
    struct ski_nocopy_arg       *arg;

    if (self != ski_self || ski_pe_exiting(self) || !self->objects ||
        !nocopy_net_read(self, head, data, &packet))
        return 0;
    at = nocopy_net_incoming(self, head);
    ski_assert(!*at);
    incoming = ski_malloc(sizeof *incoming);
    *incoming =
        (struct ski_nocopy_incoming){.msg    = nocopy_net_message(&packet.msg, data + sizeof packet,
                                                                  packet.first, packet.bytes, &arg),
                                     .source = head->source,
                                     .sequence = head->stamp.sequence};
    *at = incoming;
    *to = arg + 1;
    return packet.bytes;
}

static skua_msg *nocopy_net_placed(struct ski_pe *self, const skua_msg *head, const char *data,
                                   bool whole)
{
    struct ski_nocopy_incoming **at, incoming;

    (void)data;
    if (!self->objects || !*(at = nocopy_net_incoming(self, head)))
        return NULL;
    incoming = **at;
    free(*at);
    *at = incoming.next;
    if (whole)
        return incoming.msg;
    ski_pool_free(&self->pool, incoming.msg);
    return NULL;
}

const struct ski_placement ski_nocopy_placement = {.place  = nocopy_net_place,
                                                   .placed = nocopy_net_placed};

void ski_on_nocopy_net(skua_msg *msg)
{
    struct ski_pe           *self = ski_self;
    const char              *data = skua_msg_data(msg);
    struct ski_nocopy_packet packet;
    struct ski_nocopy_arg   *arg;
    skua_msg                *made;

    if (!nocopy_net_read(self, msg, data, &packet)) {
        ski_net_drop(self, msg);
        return;
    }
    made = nocopy_net_message(&packet.msg, data + sizeof packet, packet.first, packet.bytes, &arg);
    memcpy(arg + 1, data + msg->bytes - packet.bytes, packet.bytes);
    skua_msg_free(msg);
    self->handler[made->handler](made);
}

/* The messages go with the arena. */
static void nocopy_net_pe_end(struct ski_objects *objects)
{
    struct ski_nocopy_incoming *incoming = objects->slot[SKI_SLOT_NOCOPY];

    while (incoming) {
        struct ski_nocopy_incoming *next = incoming->next;

        free(incoming);
        incoming = next;
    }
    objects->slot[SKI_SLOT_NOCOPY] = NULL;
}

const struct ski_lifecycle ski_nocopy_net_lifecycle = {.pe_end = nocopy_net_pe_end};
