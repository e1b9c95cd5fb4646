/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast_segment.c - large broadcasts between hosts (see broadcast.h). */
#include <string.h>

#include "base/arch.h"
#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/collective/broadcast.h"
#include "core/collective/collective_send.h"
#include "core/pe/builtin.h"
#include "core/net/net.h"
#include "core/net/zcopy_send.h"
#include "core/pe/handler.h"
#include "core/message/message.h"

#define SEGMENTED_FROM     ((size_t)256 << 10) /* bytes of the least message that has segments */
#define SEGMENT_MIN        ((size_t)64 << 10)  /* bytes of a segment that is not the last */
#define SEGMENT_MAX        ((size_t)256 << 10)
#define SEGMENT_WHOLE_FROM ((size_t)2 << 20) /* a message of at least so many bytes is one */
#define SEGMENT_LINE       ((size_t)4 << 10) /* segments begin at multiples of this */
#define FLAT_MAX           ((size_t)8 << 10) /* bytes of a message that goes to all hosts ... */
#define FLAT_HOSTS         8                 /* ... if there are at most so many ...         */
#define FLAT_ARITY         4                 /* ... and the arity is at least this           */

_Static_assert(sizeof(struct ski_segment) < SKI_SEGMENT_MIN, "see builtin.h");
_Static_assert(sizeof(struct ski_segment) <= SKI_PLACE_DATA, "a driver passes the whole head");

/* A message that this PE receives, forwards or sends in segments. */
struct ski_transfer {
    struct ski_transfer  *next;
    struct ski_transfer **link;         /* the pointer to this transfer                   */
    int32_t               parent;       /* the PE that sends it, or -1 at the root        */
    int32_t               root;         /* of the broadcast; not set at the root          */
    uint16_t              handler;      /* of the broadcast; not set at the root          */
    uint16_t              arity;        /* of the tree; not set at the root               */
    uint32_t              order;        /* number of the broadcast; not set at the root   */
    uint64_t              number;       /* of the transfer from the parent                */
    uint64_t              child_number; /* of the transfer to this PE's children          */
    skua_msg             *msg;
    size_t                received;  /* bytes, in order                                */
    size_t                sending;   /* segments that the network still reads          */
    bool                  released;  /* the message waits for these segments only      */
    skua_msg             *local;     /* delivers the message at the root once they are read */
    uint8_t               claimed[]; /* a bit for each segment that has been or is being received */
};

bool ski_segments_used(const struct ski_pe *self, const skua_msg *msg)
{
    return SKI_UNLIKELY(msg->bytes >= SEGMENTED_FROM) && ski_job_is_distributed(self->job) &&
           !msg->bit_room && !(msg->flags & SKI_MSG_SPECIAL);
}

/* Returns the bytes of a segment of a message of @p bytes.  Many small segments cost more than
 * their overlap gains.  Between two hosts nothing is forwarded: a message that the network
 * reads in place is one segment while one system call sends it, and if it is so large that the
 * receipt of further heads costs more than the later begin of the next system call. */
static size_t segment_bytes(const struct ski_pe *self, size_t bytes)
{
    bool   many  = self->job->hosts > 2;
    size_t least = many ? SEGMENT_MIN : 2 * SEGMENT_MIN;
    size_t part  = bytes / (many ? 8 : 4) / SEGMENT_LINE * SEGMENT_LINE;

    if (!many && (bytes <= SKI_BROADCAST_WHOLE || bytes >= SEGMENT_WHOLE_FROM) &&
        ski_zcopy_send_takes(bytes + SEGMENT_LINE))
        return bytes;
    if (part < least)
        return least;
    return part < SEGMENT_MAX ? part : SEGMENT_MAX;
}

/* Returns the relative time of a message of @p segments in a tree of @p arity over all hosts: until
 * the last host has it, and until the next message can follow it.  A host receives a segment once
 * and sends it as often as it has children; the segments form a pipeline as long as the tree is
 * deep. */
static uint64_t segment_tree_cost(int hosts, int arity, uint64_t segments)
{
    uint64_t depth = 0;

    for (int64_t last = hosts - 2; last > 0; last = (last - 1) / arity)
        depth++;
    return (2 * segments + depth) * ((uint64_t)arity + 1);
}

/* Returns the arity of the tree of a message without segments: @p usual or, unless that is small,
 * as many as there are hosts, if these are few.  Then the next root waits for one message only, and
 * has none to forward; the last host gets it no later than through another one. */
static int broadcast_small_arity(const struct ski_pe *self, const skua_msg *msg, int usual)
{
    int hosts = self->job->hosts;

    return hosts <= FLAT_HOSTS && msg->bytes <= FLAT_MAX && usual >= FLAT_ARITY && usual < hosts
               ? hosts
               : usual;
}

int ski_segments_arity(const struct ski_pe *self, const skua_msg *msg)
{
    int      usual = ski_config.tree_arity < UINT16_MAX ? (int)ski_config.tree_arity : UINT16_MAX;
    int      hosts = self->job->hosts, arity = 1;
    uint64_t segments;

    if (SKI_LIKELY(!ski_segments_used(self, msg)))
        return broadcast_small_arity(self, msg, usual);
    segments = msg->bytes / segment_bytes(self, msg->bytes);
    if (segment_tree_cost(hosts, 2, segments) < segment_tree_cost(hosts, arity, segments))
        arity = 2;
    return segment_tree_cost(hosts, usual, segments) < segment_tree_cost(hosts, arity, segments)
               ? usual
               : arity;
}

/* ---- transfers --------------------------------------------------------------- */

/* Adds a transfer of @p msg with room to claim @p segments. */
static struct ski_transfer *segment_transfer_new(struct ski_pe *self, skua_msg *msg,
                                                 size_t segments)
{
    struct ski_transfer *t = ski_calloc(1, sizeof *t + (segments + 7) / 8);

    t->next         = self->collectives->transfers;
    t->link         = &self->collectives->transfers;
    t->parent       = -1;
    t->child_number = self->collectives->transfers_sent++;
    t->msg          = msg;
    if (t->next)
        t->next->link = &t->next;
    return self->collectives->transfers = t;
}

/* Removes @p t and frees it, without its message. */
static void segment_transfer_free(struct ski_transfer *t)
{
    ski_assert(*t->link == t);
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    free(t);
}

void ski_segments_destroy(struct ski_pe *self)
{
    while (self->collectives->transfers)
        segment_transfer_free(self->collectives->transfers);
}

/* ---- sending ----------------------------------------------------------------- */

bool ski_segments_read(const struct ski_pe *self, const skua_msg *local)
{
    const struct ski_transfer *t = self->collectives->transfers;

    while (t && t->local != local)
        t = t->next;
    return t != NULL;
}

/* Records that the network has read a segment of a transfer.  The delivery of a message runs code
 * of the program, which does not happen inside of the driver. */
static void segment_sent(struct ski_pe *self, void *owner)
{
    struct ski_transfer *t = owner;

    ski_assert(t->sending > 0);
    if (--t->sending > 0 || !t->released)
        return;
    if (!t->local) {
        skua_send_copy(self->pe, (skua_handler){SKI_HANDLER_BROADCAST_SENT}, &t, sizeof t);
        return;
    }
    segment_transfer_free(t);
    ski_broadcast_release_local(self);
}

void ski_on_broadcast_sent(skua_msg *msg)
{
    struct ski_transfer *t    = *(struct ski_transfer **)skua_msg_data(msg);
    skua_msg            *data = t->msg;

    skua_msg_free(msg);
    segment_transfer_free(t);
    ski_broadcast_deliver(ski_self, data);
}

/* Returns a message with the head of a segment and room for @p more bytes. */
static skua_msg *segment_msg(const struct ski_pe *self, const struct ski_segment *segment,
                             size_t more)
{
    skua_msg *msg = skua_msg_alloc(sizeof *segment + more);

    memcpy(skua_msg_data(msg), segment, sizeof *segment);
    msg->handler = SKI_HANDLER_BROADCAST_SEGMENT;
    msg->source  = self->pe;
    return msg;
}

/* Returns the data of a segment in the message of its transfer. */
static const char *segment_data(const struct ski_transfer *t, const struct ski_segment *segment)
{
    return (const char *)skua_msg_data(t->msg) + segment->offset;
}

/* Sends a segment that the network reads from the message of its transfer.  Returns false if the
 * network cannot take it now. */
static bool segment_send_in_place(struct ski_pe *self, struct ski_transfer *t, int pe,
                                  const struct ski_segment *segment)
{
    struct ski_collective_packet packet = {.handler    = SKI_HANDLER_BROADCAST_SEGMENT,
                                           .head       = segment,
                                           .head_bytes = sizeof *segment,
                                           .data       = segment_data(t, segment),
                                           .bytes      = segment->length,
                                           .sent       = segment_sent,
                                           .owner      = t};

    t->sending++; /* segment_sent() may be called before the call returns */
    if (ski_collective_send(self, pe, &packet))
        return true;
    t->sending--;
    return false;
}

/* Sends a segment to @p pe, as a copy if the network cannot read it in place. */
static void segment_send(struct ski_pe *self, struct ski_transfer *t, int pe,
                         const struct ski_segment *segment)
{
    skua_msg *msg;

    if (segment_send_in_place(self, t, pe, segment))
        return;
    msg = segment_msg(self, segment, segment->length);
    memcpy((char *)skua_msg_data(msg) + sizeof *segment, segment_data(t, segment), segment->length);
    ski_msg_post(self, pe, SKI_HANDLER_BROADCAST_SEGMENT, msg);
}

/* Sends a segment to child @p i of @p tree if it is on another host. */
static void segment_send_to_child(struct ski_pe *self, struct ski_transfer *t,
                                  const struct ski_broadcast_tree *tree, int i,
                                  const struct ski_segment *segment)
{
    int pe = ski_broadcast_tree_child(tree, i);

    if (ski_job_index(self->job, pe) < 0)
        segment_send(self, t, pe, segment);
}

/* Sends a segment, which has been received, to the children of @p tree on other hosts. */
static void segment_forward(struct ski_pe *self, struct ski_transfer *t,
                            const struct ski_broadcast_tree *tree, struct ski_segment segment)
{
    segment.number = t->child_number;
    for (int i = 0; i < tree->children; i++)
        segment_send_to_child(self, t, tree, i, &segment);
}

/* Segments of a message that are sent to some children. */
struct segment_range {
    uint64_t offset;     /* of the first segment      */
    int      burst;      /* segments, at most         */
    int      first, end; /* children first .. end - 1 */
};

/* Sends the segments of @p range, and moves its offset past them. */
static void segment_send_some(struct ski_pe *self, struct ski_transfer *t,
                              const struct ski_broadcast_tree *tree,
                              const struct ski_broadcast_tail *tail, struct segment_range *range)
{
    struct ski_segment segment = {
        .bytes = t->msg->bytes, .offset = range->offset, .number = t->child_number, .tail = *tail};
    size_t most = segment_bytes(self, segment.bytes);

    for (int n = 0; n < range->burst && segment.offset < segment.bytes; n++) {
        uint64_t left = segment.bytes - segment.offset;

        segment.length           = left < most ? left : most;
        segment.tail.parent_node = segment.length == left ? tail->parent_node : 0;
        for (int i = range->first; i < range->end; i++)
            segment_send_to_child(self, t, tree, i, &segment);
        segment.offset += segment.length;
    }
    range->offset = segment.offset;
}

/* The host after the root's, which is a leaf and may have the next root, gets two segments for each
 * one of the other children. */
struct ski_transfer *ski_segments_send(struct ski_pe *self, skua_msg *msg,
                                       const struct ski_broadcast_tree *tree,
                                       const struct ski_broadcast_tail *tail)
{
    struct ski_transfer *t     = segment_transfer_new(self, msg, 0);
    bool                 root  = tree->root == self->pe;
    struct segment_range next  = {.first = 0, .end = root, .burst = 2};
    struct segment_range other = {.first = root, .end = tree->children, .burst = 1};

    while (next.offset < msg->bytes || other.offset < msg->bytes) {
        segment_send_some(self, t, tree, tail, &next);
        segment_send_some(self, t, tree, tail, &other);
    }
    if (t->sending > 0)
        return t;
    segment_transfer_free(t);
    return NULL;
}

void ski_segments_await(struct ski_transfer *t, skua_msg *local)
{
    ski_assert(t->sending > 0 && !t->released);
    t->released = true;
    t->local    = local;
}

/* ---- receiving --------------------------------------------------------------- */

/* Returns the position of this PE in the tree of a broadcast with @p tail. */
static struct ski_broadcast_tree segment_tree(const struct ski_pe             *self,
                                              const struct ski_broadcast_tail *tail)
{
    return ski_broadcast_tree_of(self, tail->root, tail->arity);
}

/* Returns whether the offset and the length of a segment are what a sender computes for segments
 * of a message of this size. */
static bool segment_range_valid(const struct ski_pe *self, const struct ski_segment *segment)
{
    size_t most = segment_bytes(self, segment->bytes), left;

    if (segment->bytes < SEGMENTED_FROM || segment->bytes > self->job->arena->bytes ||
        segment->offset >= segment->bytes || segment->offset % most)
        return false;
    left = segment->bytes - segment->offset;
    return segment->length == (left < most ? left : most);
}

/* Returns whether the source of @p msg, which may be a header alone, could have sent @p segment. */
static bool segment_is_valid(const struct ski_pe *self, const skua_msg *msg,
                             const struct ski_segment *segment)
{
    struct ski_broadcast_tree tree;

    if (segment->tail.parent != msg->source || segment->length != msg->bytes - sizeof *segment ||
        !segment_range_valid(self, segment) ||
        !ski_broadcast_is_valid(self, &segment->tail, segment->bytes))
        return false;
    tree = segment_tree(self, &segment->tail);
    return ski_broadcast_tree_parent(&tree) == msg->source;
}

/* Returns the transfer that a segment belongs to, or NULL.  A PE receives few transfers at a time,
 * so a list is enough. */
static struct ski_transfer *segment_transfer_find(const struct ski_pe      *self,
                                                  const struct ski_segment *segment)
{
    struct ski_transfer *t = self->collectives->transfers;

    while (t && (t->parent != segment->tail.parent || t->number != segment->number || t->released))
        t = t->next;
    return t;
}

/* Begins the transfer of which @p segment is the first segment. */
static struct ski_transfer *segment_transfer_begin(struct ski_pe            *self,
                                                   const struct ski_segment *segment)
{
    size_t               room = ((segment->bytes + 7) & ~(uint64_t)7) + SKI_MSG_TAIL_BYTES;
    size_t               most = segment_bytes(self, segment->bytes);
    struct ski_transfer *t =
        segment_transfer_new(self, skua_msg_alloc(room), (segment->bytes + most - 1) / most);

    t->msg->bytes = segment->bytes;
    t->parent     = segment->tail.parent;
    t->root       = segment->tail.root;
    t->handler    = segment->tail.handler;
    t->arity      = segment->tail.arity;
    t->order      = segment->tail.number;
    t->number     = segment->number;
    return t;
}

/* Returns the byte of t->claimed that has the bit of a segment; *@p bit is that bit. */
static uint8_t *segment_claim_byte(const struct ski_pe *self, struct ski_transfer *t,
                                   const struct ski_segment *segment, uint8_t *bit)
{
    size_t i = segment->offset / segment_bytes(self, segment->bytes);

    ski_assert(segment->bytes == t->msg->bytes && segment->offset < segment->bytes);
    *bit = (uint8_t)(1 << i % 8);
    return &t->claimed[i / 8];
}

/* Reads and checks the head of a segment and claims the segment, so that no other packet writes it.
 * The first segment begins its transfer.  Returns the transfer, or NULL if the segment is not one
 * that is missing. */
static struct ski_transfer *segment_read(struct ski_pe *self, const skua_msg *msg, const char *data,
                                         struct ski_segment *segment)
{
    struct ski_transfer *t;
    uint8_t             *claimed, bit;

    memcpy(segment, data, sizeof *segment);
    if (!segment_is_valid(self, msg, segment))
        return NULL;
    t = segment_transfer_find(self, segment);
    if (!t && segment->offset == 0)
        t = segment_transfer_begin(self, segment);
    if (!t || t->msg->bytes != segment->bytes || t->root != segment->tail.root ||
        t->handler != segment->tail.handler || t->arity != segment->tail.arity ||
        t->order != segment->tail.number)
        return NULL;
    claimed = segment_claim_byte(self, t, segment, &bit);
    if (*claimed & bit)
        return NULL;
    *claimed |= bit;
    return t;
}

size_t ski_segment_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to)
{
    struct ski_segment   segment;
    struct ski_transfer *t = segment_read(self, msg, data, &segment);

    if (!t)
        return 0; /* the segment is invalid, or its transfer has not begun: its handler decides */
    *to = (char *)skua_msg_data(t->msg) + segment.offset;
    return segment.length;
}

/* The message has this PE as its source, which no packet from another PE has. */
skua_msg *ski_segment_placed(struct ski_pe *self, const skua_msg *msg, const char *data, bool whole)
{
    struct ski_segment   segment;
    struct ski_transfer *t;
    uint8_t             *claimed, bit;

    memcpy(&segment, data, sizeof segment);
    if (whole)
        return segment_msg(self, &segment, 0);
    t = segment_is_valid(self, msg, &segment) ? segment_transfer_find(self, &segment) : NULL;
    if (t && t->msg->bytes == segment.bytes) {
        claimed = segment_claim_byte(self, t, &segment, &bit);
        *claimed &= (uint8_t)~bit;
    }
    return NULL;
}

/* Copies the data of @p msg to the message of its transfer, unless it was received in place.
 * Returns the transfer, or NULL if the segment is invalid or out of order. */
static struct ski_transfer *segment_accept(struct ski_pe *self, skua_msg *msg,
                                           struct ski_segment *segment)
{
    const char          *data   = skua_msg_data(msg);
    bool                 placed = msg->source == self->pe;
    struct ski_transfer *t;

    if (placed) {
        memcpy(segment, data, sizeof *segment);
        t           = segment_transfer_find(self, segment);
        msg->source = segment->tail.parent;
    } else {
        t = segment_read(self, msg, data, segment);
    }
    if (!t || t->received != segment->offset) {
        ski_net_drop(self, msg);
        return NULL;
    }
    if (!placed)
        memcpy((char *)skua_msg_data(t->msg) + segment->offset, data + sizeof *segment,
               segment->length);
    t->received += segment->length;
    ski_assert(t->received <= t->msg->bytes);
    skua_msg_free(msg);
    return t;
}

void ski_on_broadcast_segment(skua_msg *msg)
{
    struct ski_pe            *self = ski_self;
    struct ski_segment        segment;
    struct ski_transfer      *t = segment_accept(self, msg, &segment);
    struct ski_broadcast_tree tree;
    bool                      last;

    if (!t)
        return;
    tree                     = segment_tree(self, &segment.tail);
    last                     = t->received == segment.bytes;
    segment.tail.parent_node = last ? ski_broadcast_node(self, &tree, &segment.tail) : 0;
    segment.tail.parent      = self->pe;
    segment_forward(self, t, &tree, segment);
    if (!last)
        return;
    ski_broadcast_prepare(self, t->msg, &tree, &segment.tail);
    if (t->sending > 0) {
        ski_segments_await(t, NULL);
        return;
    }
    msg = t->msg;
    segment_transfer_free(t);
    ski_broadcast_deliver(self, msg);
}
