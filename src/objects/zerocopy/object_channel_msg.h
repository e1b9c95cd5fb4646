/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_channel_msg.h - the messages between the two ends of an object channel.
 *
 * A message is addressed to the object at the other end and follows it wherever it is, so two
 * messages may overtake each other.  Each therefore names the epoch of the end that sends it and
 * the epoch that it is about; object_channel.h explains how the ends use them.
 */
#ifndef SKI_OBJECT_CHANNEL_MSG_H
#define SKI_OBJECT_CHANNEL_MSG_H

#include "objects/zerocopy/object_channel_end.h"

/* The kinds of messages.  Those to the sending end come last: ski_object_channel_to_sender(). */
enum ski_object_channel_kind {
    /* To the receiving end. */
    SKI_OBJECT_CHANNEL_OPEN,          /* the sender, in its epoch, wants an offer */
    SKI_OBJECT_CHANNEL_OPENED,        /* an offer was accepted */
    SKI_OBJECT_CHANNEL_STOPPED,       /* the answer to STOP, with the number of puts so far */
    SKI_OBJECT_CHANNEL_DRAIN,         /* the sender is to leave; with the number of puts so far */
    SKI_OBJECT_CHANNEL_SENDER_CLOSED, /* the sender is closed; with the number of puts */
    /* To the sending end. */
    SKI_OBJECT_CHANNEL_OFFER,           /* the channel, for one epoch of the sender */
    SKI_OBJECT_CHANNEL_STOP,            /* the receiver is to leave */
    SKI_OBJECT_CHANNEL_DRAINED,         /* the answer to DRAIN: all puts have arrived */
    SKI_OBJECT_CHANNEL_RECEIVER_CLOSED, /* the receiver is closed */
};

/* A message between the ends of a channel. */
struct ski_object_channel_head {
    uint64_t     id;
    uint32_t     kind;  /* enum ski_object_channel_kind */
    uint32_t     epoch; /* of the end that sends the message */
    uint32_t     about; /* the epoch of the end that the message is for; or that it answers */
    uint32_t     zero;
    uint64_t     puts;    /* STOPPED, DRAIN, SENDER_CLOSED: that the sender has made */
    uint64_t     bytes;   /* OFFER: of the buffer */
    skua_channel channel; /* OFFER */
    skua_ref     from;    /* the object that sends the message */
};

/** Returns whether a message of @p kind is for the sending end of a channel. */
static inline bool ski_object_channel_to_sender(uint32_t kind)
{
    return kind >= SKI_OBJECT_CHANNEL_OFFER;
}

/** Returns the PE of an end: this one. */
static inline struct ski_pe *ski_object_channel_pe(const struct ski_object_end *end)
{
    return end->of->object->of->self;
}

/** Sends a message to the object @p to, wherever it is.  A message is dropped if the collection of
 *  the object was destroyed, or can have no object of that index, which a packet or a file has
 *  named. */
void ski_object_channel_post_to(struct ski_pe *self, const skua_ref *to,
                                const struct ski_object_channel_head *head);

/** Sends a message of @p kind from @p end to the other end; @p about is the epoch that it is about.
 */
void ski_object_channel_post(const struct ski_object_end *end, enum ski_object_channel_kind kind,
                             uint32_t about);

/** Offers the channel of the receiving end @p end to its sender. */
void ski_object_end_offer(struct ski_object_end *end);

#endif
