/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast_segment.c - large broadcasts between hosts (see broadcast.h). */
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/collective/broadcast.h"
#include "core/pe/builtin.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/message.h"
#include "transport/driver.h"

#define SEGMENT_LEAST ((size_t)128 << 10)
#define SEGMENT_MOST  ((size_t)512 << 10)
#define SEGMENT_LINE  ((size_t)4 << 10) /* segments begin at multiples of it */
#define SEGMENTS      4                 /* of a message that is not large, or fewer */

_Static_assert(sizeof(struct ski_segment) < SKI_SEGMENT_LEAST, "see builtin.h");
_Static_assert(sizeof(struct ski_segment) <= SKI_PLACE_DATA, "a driver looks at no more");

/* A message that comes or goes in segments. */
struct ski_transfer {
    struct ski_transfer *next, **at;
    int32_t              parent;  /* the PE that it comes from, or -1            */
    int32_t              root;    /* of the broadcast ...                        */
    uint32_t             handler; /* ... and what it is for, if it comes         */
    uint64_t             number;  /* that the parent gave it                     */
    uint64_t             sent_as; /* its number at this PE's children            */
    skua_msg            *msg;
    size_t               got;       /* bytes that have come                        */
    size_t               sending;   /* segments that the network still reads       */
    bool                 released;  /* they are all that the message is needed for */
    uint8_t              claimed[]; /* a bit for each segment that is, or is being, written */
};

/* A segment that the network reads from its message. */
struct segment_out {
    struct ski_far_done  done; /* first */
    struct ski_pe       *self;
    struct ski_transfer *transfer;
    skua_msg            *msg; /* that this lies in, behind the head of the segment */
};

bool ski_segments_used(const struct ski_pe *self, const skua_msg *msg)
{
    return SKI_UNLIKELY(msg->bytes >= 2 * SEGMENT_LEAST) && ski_job_spread(self->job) &&
           !msg->bit_room && !(msg->flags & SKI_MSG_SPECIAL);
}

/* Many small segments cost more than they gain from each other. */
static size_t segment_bytes(size_t bytes)
{
    size_t part = bytes / SEGMENTS / SEGMENT_LINE * SEGMENT_LINE;

    if (part < SEGMENT_LEAST)
        return SEGMENT_LEAST;
    return part < SEGMENT_MOST ? part : SEGMENT_MOST;
}

/* ---- transfers --------------------------------------------------------------- */

/* Adds a transfer with bits for @p segments that come. */
static struct ski_transfer *transfer_new(struct ski_pe *self, skua_msg *msg, size_t segments)
{
    struct ski_transfer *t = ski_calloc(1, sizeof *t + (segments + 7) / 8);

    t->next    = self->collectives->transfers;
    t->at      = &self->collectives->transfers;
    t->parent  = -1;
    t->sent_as = self->collectives->transfers_sent++;
    t->msg     = msg;
    if (t->next)
        t->next->at = &t->next;
    return self->collectives->transfers = t;
}

static void transfer_free(struct ski_transfer *t)
{
    *t->at = t->next;
    if (t->next)
        t->next->at = t->at;
    free(t);
}

void ski_segments_destroy(struct ski_pe *self)
{
    while (self->collectives->transfers)
        transfer_free(self->collectives->transfers);
}

/* Ends @p t.  Returns its message, or a copy while the network reads from that. */
static skua_msg *transfer_release(struct ski_transfer *t, const struct ski_broadcast_tail *tail)
{
    skua_msg *msg = t->msg;

    if (t->sending == 0) {
        transfer_free(t);
        return msg;
    }
    t->released = true;
    return ski_broadcast_copy(msg, tail);
}

/* ---- sending ----------------------------------------------------------------- */

static void segment_out_done(struct ski_far_done *done, skua_status_t status)
{
    struct segment_out  *out  = (struct segment_out *)done;
    struct ski_pe       *self = out->self;
    struct ski_transfer *t    = out->transfer;

    (void)status; /* a peer that is lost is reported elsewhere */
    ski_pool_free(&self->pool, out->msg);
    if (--t->sending > 0 || !t->released)
        return;
    ski_pool_free(&self->pool, t->msg);
    transfer_free(t);
}

/* Returns a message with the head of a segment, and room for @p more bytes. */
static skua_msg *segment_msg(const struct ski_pe *self, const struct ski_segment *segment,
                             size_t more)
{
    skua_msg *msg = skua_msg_alloc(sizeof *segment + more);

    memcpy(skua_msg_data(msg), segment, sizeof *segment);
    msg->handler = SKI_HANDLER_BROADCAST_SEGMENT;
    msg->source  = self->pe;
    return msg;
}

static const char *segment_data(const struct ski_transfer *t, const struct ski_segment *segment)
{
    return (const char *)skua_msg_data(t->msg) + segment->offset;
}

/* Lets the network read a segment from its message; false: it cannot now. */
static bool segment_lend(struct ski_pe *self, struct ski_transfer *t, int pe,
                         const struct ski_segment *segment)
{
    skua_msg           *msg = segment_msg(self, segment, sizeof(struct segment_out));
    struct segment_out *out =
        (struct segment_out *)(void *)((char *)skua_msg_data(msg) + sizeof *segment);

    *out       = (struct segment_out){{segment_out_done}, self, t, msg};
    msg->bytes = sizeof *segment + segment->length; /* on the way */
    t->sending++;                                   /* it may be done before the call returns */
    if (ski_far_send_split(self, pe, msg, segment_data(t, segment), segment->length, &out->done))
        return true;
    t->sending--;
    skua_msg_free(msg);
    return false;
}

static void segment_send(struct ski_pe *self, struct ski_transfer *t, int pe,
                         const struct ski_segment *segment)
{
    skua_msg *msg;

    if (ski_far_driver()->send_split && segment_lend(self, t, pe, segment))
        return;
    msg = segment_msg(self, segment, segment->length);
    memcpy((char *)skua_msg_data(msg) + sizeof *segment, segment_data(t, segment), segment->length);
    ski_msg_post(self, pe, SKI_HANDLER_BROADCAST_SEGMENT, msg);
}

/* Sends a segment, which is here, to the children of @p tree on other hosts. */
static void segment_pass(struct ski_pe *self, struct ski_transfer *t, const struct ski_tree *tree,
                         struct ski_segment segment)
{
    segment.number = t->sent_as;
    for (int i = 0; i < tree->children; i++) {
        int pe = ski_tree_child(tree, i);

        if (ski_job_index(self->job, pe) < 0)
            segment_send(self, t, pe, &segment);
    }
}

skua_msg *ski_segments_send(struct ski_pe *self, skua_msg *msg, const struct ski_tree *tree,
                            const struct ski_broadcast_tail *tail)
{
    struct ski_transfer *t       = transfer_new(self, msg, 0);
    struct ski_segment   segment = {.bytes = msg->bytes, .tail = *tail};
    size_t               most    = segment_bytes(msg->bytes);

    for (; segment.offset < segment.bytes; segment.offset += segment.length) {
        uint64_t left = segment.bytes - segment.offset;

        segment.length     = left < most ? left : most;
        segment.tail.above = segment.length == left ? tail->above : 0;
        segment_pass(self, t, tree, segment);
    }
    msg = transfer_release(t, tail);
    msg->flags &= (uint8_t)~SKI_MSG_TAIL; /* a copy has one */
    return msg;
}

/* ---- receiving --------------------------------------------------------------- */

static struct ski_tree segment_tree(const struct ski_pe *self, int root)
{
    return ski_tree_at(self->pe, self->pes, root, (int)ski_config.tree_arity);
}

/* Returns whether a segment lies where the sender of such a message would have begun one, and is as
 * long as it would have been. */
static bool segment_fits(const struct ski_pe *self, const struct ski_segment *segment)
{
    size_t most = segment_bytes(segment->bytes), left;

    if (segment->bytes < 2 * SEGMENT_LEAST || segment->bytes > self->job->arena->bytes ||
        segment->offset >= segment->bytes || segment->offset % most)
        return false;
    left = segment->bytes - segment->offset;
    return segment->length == (left < most ? left : most);
}

/* Returns whether @p msg, or its header, is one of a segment that its sender could have sent. */
static bool segment_possible(const struct ski_pe *self, const skua_msg *msg,
                             const struct ski_segment *segment)
{
    struct ski_tree tree;

    if (segment->tail.parent != msg->source || segment->length != msg->bytes - sizeof *segment ||
        !segment_fits(self, segment) ||
        !ski_broadcast_is_sound(self, &segment->tail, segment->bytes))
        return false;
    tree = segment_tree(self, segment->tail.root);
    return ski_tree_parent(&tree) == msg->source;
}

/* Returns the transfer that a segment belongs to, or NULL.  A PE receives few at a time. */
static struct ski_transfer *transfer_find(const struct ski_pe      *self,
                                          const struct ski_segment *segment)
{
    struct ski_transfer *t = self->collectives->transfers;

    while (t && (t->parent != segment->tail.parent || t->number != segment->number || t->released))
        t = t->next;
    return t;
}

static struct ski_transfer *transfer_begin(struct ski_pe *self, const struct ski_segment *segment)
{
    size_t               room = ((segment->bytes + 7) & ~(uint64_t)7) + SKI_MSG_TAIL_BYTES;
    size_t               most = segment_bytes(segment->bytes);
    struct ski_transfer *t =
        transfer_new(self, skua_msg_alloc(room), (segment->bytes + most - 1) / most);

    t->msg->bytes = segment->bytes;
    t->parent     = segment->tail.parent;
    t->root       = segment->tail.root;
    t->handler    = segment->tail.handler;
    t->number     = segment->number;
    return t;
}

/* Returns the byte with the bit of a segment, which is *@p bit. */
static uint8_t *segment_claim(struct ski_transfer *t, const struct ski_segment *segment,
                              uint8_t *bit)
{
    size_t i = segment->offset / segment_bytes(segment->bytes);

    *bit = (uint8_t)(1 << i % 8);
    return &t->claimed[i / 8];
}

/* Reads and checks the head of a segment and claims its place, once: no other is written there,
 * and the message is not delivered before.  The first segment begins a transfer.  NULL: it is not
 * a segment that is missing. */
static struct ski_transfer *segment_read(struct ski_pe *self, const skua_msg *msg, const char *data,
                                         struct ski_segment *segment)
{
    struct ski_transfer *t;
    uint8_t             *claimed, bit;

    memcpy(segment, data, sizeof *segment);
    if (!segment_possible(self, msg, segment))
        return NULL;
    t = transfer_find(self, segment);
    if (!t && segment->offset == 0)
        t = transfer_begin(self, segment);
    if (!t || t->msg->bytes != segment->bytes || t->root != segment->tail.root ||
        t->handler != segment->tail.handler)
        return NULL;
    claimed = segment_claim(t, segment, &bit);
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
        return 0; /* it is wrong, or its transfer has not begun: its handler will see */
    *to = (char *)skua_msg_data(t->msg) + segment.offset;
    return segment.length;
}

/* A message from this PE itself: none such comes from another. */
skua_msg *ski_segment_placed(struct ski_pe *self, const skua_msg *msg, const char *data, bool whole)
{
    struct ski_segment   segment;
    struct ski_transfer *t;
    uint8_t             *claimed, bit;

    memcpy(&segment, data, sizeof segment);
    if (whole)
        return segment_msg(self, &segment, 0);
    t = segment_possible(self, msg, &segment) ? transfer_find(self, &segment) : NULL;
    if (t && t->msg->bytes == segment.bytes) {
        claimed = segment_claim(t, &segment, &bit);
        *claimed &= (uint8_t)~bit;
    }
    return NULL;
}

/* Puts the bytes that @p msg brings into their place, if they are not there.  NULL: something is
 * wrong. */
static struct ski_transfer *segment_accept(struct ski_pe *self, skua_msg *msg,
                                           struct ski_segment *segment)
{
    const char          *data   = skua_msg_data(msg);
    bool                 placed = msg->source == self->pe;
    struct ski_transfer *t;

    if (placed) {
        memcpy(segment, data, sizeof *segment);
        t           = transfer_find(self, segment);
        msg->source = segment->tail.parent;
    } else {
        t = segment_read(self, msg, data, segment);
    }
    if (!t || t->got != segment->offset) {
        ski_far_drop(self, msg);
        return NULL;
    }
    if (!placed)
        memcpy((char *)skua_msg_data(t->msg) + segment->offset, data + sizeof *segment,
               segment->length);
    t->got += segment->length;
    skua_msg_free(msg);
    return t;
}

void ski_on_broadcast_segment(skua_msg *msg)
{
    struct ski_pe       *self = ski_self;
    struct ski_segment   segment;
    struct ski_transfer *t = segment_accept(self, msg, &segment);
    struct ski_tree      tree;
    bool                 last;

    if (!t)
        return;
    tree                = segment_tree(self, segment.tail.root);
    last                = t->got == segment.bytes;
    segment.tail.above  = last ? ski_broadcast_node(self, &tree, &segment.tail) : 0;
    segment.tail.zero   = 0;
    segment.tail.parent = self->pe;
    segment_pass(self, t, &tree, segment);
    if (last)
        ski_broadcast_deliver(self, transfer_release(t, &segment.tail), &tree, &segment.tail);
}
