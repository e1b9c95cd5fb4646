/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned_slot.h - the records of learned channels (learned_channel.h), for the files that carry
 * messages on them: within a host (learned_channel.c) and between hosts (learned_net.c).
 */
#ifndef SKI_LEARNED_SLOT_H
#define SKI_LEARNED_SLOT_H

#include <stdatomic.h>

#include "objects/zerocopy/inplace_msg.h"
#include "objects/zerocopy/learned_pattern.h"
#include "onesided/rma/copy_plan.h"

struct ski_learned_incoming;

#define SKI_LEARNED_SLOTS   2  /* messages that are expected at a time; a power of two */
#define SKI_LEARNED_LAYOUTS 64 /* of places, on a PE */
#define SKI_LEARNED_COPIES  32 /* copy plans that a PE remembers */

/* States of a slot. */
enum { SKI_LEARNED_IDLE, SKI_LEARNED_ARMED, SKI_LEARNED_BUSY, SKI_LEARNED_FILLED };

/* A layout of places for data; constant until the job ends. */
struct ski_learned_layout {
    skua_layout given; /* by the program */
    skua_layout simple;
    size_t      bytes;
};

/* Where a message is expected. */
struct ski_learned_slot {
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t state;

    int64_t                          reference; /* of the expected message */
    uint64_t                         bytes;     /* of its data */
    char                            *at;        /* where its data goes */
    const struct ski_learned_layout *layout;
    struct ski_object               *object; /* the element that expects it ... */
    skua_msg                        *msg;    /* the message whose data was copied */
    int32_t                          pe;     /* ... and its PE */
};

/* The sender's pattern and a receiver's slots for it. */
struct ski_learned_channel {
    struct ski_learned_slot
        slot[SKI_LEARNED_SLOTS]; /* by number of the message; first, see SKI_LEARNED_LINES */

    /* The rest belongs to the receiver. */
    _Alignas(SKI_CACHE_LINE) struct ski_object *object; /* NULL: the channel has never been used, or
                                                           its receiver has migrated */
    struct ski_learned_receiver *receiver;              /* the record of `object` */
    struct ski_learned_channel  *next;                  /* of the same receiver */
    uint64_t                     last; /* the highest number of a message that has arrived, ... */
    int64_t  reference, step;          /* ... its reference, and the step to the next, ... */
    uint64_t bytes;                    /* ... and the bytes of its data */
    uint32_t missed;                   /* messages before the last that have not arrived */
    uint16_t entry;
    uint8_t  ahead;            /* messages beyond the last that have an armed slot */
    bool     wanted : 1;       /* a slot should be armed */
    bool     same_process : 1; /* the sender is a PE of this process */
    bool     has_rival : 1;    /* the receiver has other channels of its kind */
    bool     from_net : 1;     /* the sender is on another host: `source` */

    _Alignas(SKI_CACHE_LINE) unsigned char head[SKI_LEARNED_HEAD];
    uint64_t tag;    /* core/message/addr_tag.h: a message may name any address as its channel */
    int32_t  source; /* from_net: the PE of the sender */
};

/* An element here that has had messages on channels. */
struct ski_learned_receiver {
    struct ski_hash_link        link;
    struct ski_object          *object;
    struct ski_learned_channel *first;
    unsigned                    channels, wanted; /* how many; those that should be armed */
};

/* The plan for copying from one layout to another. */
struct ski_learned_copy {
    const struct ski_learned_layout *to;
    skua_layout                      from;
    struct ski_copy_plan             path;
};

/* The learned channels of a PE. */
struct ski_learned_channels {
    struct ski_learned_patterns  patterns;
    struct ski_hash_table        receivers;
    struct ski_learned_layout   *layout[SKI_LEARNED_LAYOUTS];
    struct ski_learned_copy      copy[SKI_LEARNED_COPIES];
    unsigned                     layouts, copies; /* copies: all that were ever made */
    uint64_t                     filled;          /* messages whose data was copied to a slot */
    struct ski_learned_incoming *incoming;        /* packets whose data is arriving in a slot */
    struct ski_learned_channel  *unused;          /* channels from other hosts without an element */
};

_Static_assert(SKI_LEARNED_SLOTS == SKI_LEARNED_LINES &&
                   sizeof(struct ski_learned_slot) == SKI_CACHE_LINE,
               "see learned_pattern.h");

/** Returns what PE @p self has learned; NULL: nothing yet. */
static inline struct ski_learned_channels *ski_learned_known(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_LEARNED_CHANNELS];
}

/** Returns the word of a slot that is in @p state for message @p number. */
static inline uint64_t ski_learned_state(uint64_t number, unsigned state)
{
    return number << 2 | state;
}

/** Returns the slot of message @p number of a channel. */
static inline struct ski_learned_slot *ski_learned_slot_of(struct ski_learned_channel *channel,
                                                           uint64_t                    number)
{
    return &channel->slot[number % SKI_LEARNED_SLOTS];
}

/** Returns the plan for copying data from one layout to another; the PE remembers some. */
const struct ski_copy_plan *ski_learned_copy_plan(struct ski_learned_channels     *learned,
                                                  const struct ski_learned_layout *to,
                                                  const skua_layout               *from);

/** Returns the record of @p object; NULL: no message has arrived for it on a channel. */
struct ski_learned_receiver *ski_learned_find_receiver(const struct ski_learned_channels *learned,
                                                       const struct ski_object           *object);

/** Returns whether messages on @p channel are to the entry @p handler, with the @p bytes of head at
 *  @p head. */
static inline bool ski_learned_is_of_kind(const struct ski_learned_channel *channel,
                                          uint32_t handler, const void *head, uint32_t bytes)
{
    return channel->entry == handler && bytes <= SKI_LEARNED_HEAD &&
           memcmp(channel->head, head, bytes) == 0;
}

#endif
