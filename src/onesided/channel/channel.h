/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - channels (skua/channel.h): what the receiver has, what a sender has, and what
 * travels between them.
 *
 * The receiver's record of a channel lies in the arena, so that senders of the host can look at
 * it when they open the channel.  Its place is in the channel's key:
 *
 *      | generation, 24 bits | place in the arena / 64, 40 bits |
 *
 * Records are used again, with the next generation, and never for anything else, so a key
 * that outlived its channel is recognised.
 *
 * A *doorbell* is a cell in the receiver's inbox (core/message/message.h) with the key where
 * messages have source and priority.  It is answered when it is taken out of the inbox, past the
 * queue; channels that nobody rings cost nothing.  The data of a put go one of these ways, chosen
 * when the channel is opened:
 *
 *   cell       in the doorbell itself, if they are few: one cache line moves
 *   lent       they stay where they are, and the receiver looks at them there
 *   direct     the sender copies them to where they belong, then rings
 *   staged     the sender copies them to memory of its own in the arena, and rings; the
 *              receiver copies them from there
 *   together   as one of these two, but for large data, which the receiver helps to copy
 *   message    in a message, which carries all that the receiver must know: between hosts, and
 *              everywhere with the setting channels=message
 *
 * A put is locally complete when its memory may change (channel_local.c): all of these are when the
 * call returns, but for those that are lent, and large messages to other hosts, which are sent from
 * where the data lie.
 *
 * A doorbell that finds no room in the inbox becomes a message as well, and waits with others.
 */
#ifndef SKI_CHANNEL_H
#define SKI_CHANNEL_H

#include <skua/channel.h>

#include "core/pe/pe.h"
#include "onesided/rma/layout.h"
#include "onesided/sync/notify.h"
#include "onesided/rma/accumulate.h"

#define SKI_KEY_PLACE_BITS 40

/* ---- receivers ---------------------------------------------------------------- */

/* How the buffer of a channel lies, if it is not one block. */
struct ski_pattern {
    skua_layout     layout; /* simple */
    struct ski_path unpack; /* from one block */
};

/* What many senders put is combined. */
struct ski_combine {
    ski_update_fn fn;
    skua_op       op;
    skua_type     type;
    size_t        element;
};

struct ski_channel {
    /* What an arrival touches. */
    _Alignas(SKI_CACHE_LINE) uint64_t key; /* 0: none */
    char            *to;
    struct ski_lent *lent; /* where the data are, unless in the buffer */
    skua_channel_fn  fn;
    void            *arg;
    _Atomic uint64_t arrived; /* puts; written by the receiver alone */
    uint64_t         reported;
    bool             polled; /* we want to hear of the next */
    bool             combines;
    uint32_t         senders;

    /* What is looked at when it is opened. */
    size_t              bytes;   /* in all */
    struct ski_pattern *pattern; /* NULL: one block */
    const skua_layout  *view;    /* the layout as it was given, if data may be lent; or NULL */
    const char         *name;    /* in the arena, or NULL */
    int32_t             pe;
    int32_t             process; /* that has the buffer; -1: it is in the arena */
    int32_t             home;    /* the receiver's process */
    struct ski_combine  combine;
    uint32_t            generation;
    uint64_t            tag; /* core/message/addr_tag.h: its key may come from another host */
    struct ski_channel *next, **link; /* of those of this PE; or the next that is free */

    /* What senders write, of those that combine, and in checked mode. */
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t puts; /* begun, ever                      */
    _Atomic uint32_t came;                          /* of a round of many               */
    _Atomic uint64_t ready;                         /* times that the buffer was marked */
    _Atomic uint32_t freed;                         /* the buffer is gone               */
};

/* What a sender lends, in the arena: the receiver's layout, with the sender's strides. */
struct ski_lent {
    skua_layout view;
    uint64_t    sum, put; /* of the data and their number, in checked mode */
    int32_t     pe;       /* the sender's */
    /* Puts that the receiver has given back.  Only the receiver writes it, so its line moves only
     * when the sender looks. */
    _Alignas(SKI_CACHE_LINE) skua_notify returned;
};

/* A doorbell that a PE rings itself. */
struct ski_bell {
    uint64_t         key;
    struct ski_lent *lent; /* or NULL: the data are in their place */
};

/* Those that wait: a ring, its size a power of two, that grows. */
struct ski_bells {
    struct ski_bell *at;
    uint32_t         room, first, end; /* first and end run freely */
    uint32_t         turn;             /* answered so far */
};

/* What a PE knows of its channels. */
struct ski_channels {
    struct ski_bells    bells;
    struct ski_channel *first, *free;
    skua_sender        *senders; /* of it, in checked mode */
    struct ski_due     *due;     /* completions that are to take place (channel_local.c) */
};

static inline struct ski_channel *ski_channel_at(const struct ski_arena *arena, uint64_t key)
{
    uint64_t place = key & ((UINT64_C(1) << SKI_KEY_PLACE_BITS) - 1);

    return (struct ski_channel *)(void *)((char *)arena->base + place * SKI_CACHE_LINE);
}

/** The record of a channel of this host, or NULL: there is none any more, or never was. */
struct ski_channel *ski_channel_find(const struct ski_job *job, uint64_t key);

/** The name of a channel, for errors. */
static inline const char *ski_channel_name(const struct ski_channel *channel)
{
    return channel->name ? channel->name : "(no name)";
}

/* ---- senders ------------------------------------------------------------------- */

/* What a put, or a message about one, brings. */
enum ski_channel_kind {
    SKI_CHANNEL_DATA,    /* the data are behind the head                         */
    SKI_CHANNEL_PLACED,  /* they are in their place                              */
    SKI_CHANNEL_STAGED,  /* they are at the address behind the head, on this host */
    SKI_CHANNEL_LENT,    /* as described at the address behind the head          */
    SKI_CHANNEL_PIECES,  /* in pieces, as described there (channel_coop.c)   */
    SKI_CHANNEL_HELP,    /* doorbells alone: such pieces are to be copied        */
    SKI_CHANNEL_POLLED,  /* to oneself: report what has come                     */
    SKI_CHANNEL_MANY,    /* for several channels (channel_multicast.c)                */
    SKI_CHANNEL_SENT,    /* to oneself: puts are locally complete (channel_local.c)  */
    SKI_CHANNEL_OPENED,  /* to another host: the channel is opened for so many bytes */
    SKI_CHANNEL_REFUSED, /* the answer to that or to a put: there is none such      */
};

typedef void (*ski_put_fn)(skua_sender *sender, const char *from);

struct skua_sender {
    /* What a put touches. */
    ski_put_fn        put;
    const char       *from;
    char             *to;    /* direct, staged */
    struct ski_lent  *lent;  /* what the receiver looks at, or NULL */
    struct ski_inbox *inbox; /* the receiver's, or NULL: it is we */
    struct ski_credit credit;
    uint64_t          key;
    uint32_t          cells;
    int32_t           index, pe; /* the receiver's: on this host, or -1, and in the job */
    size_t            bytes;

    /* The rest. */
    ski_put_fn           copied;  /* the way of what cannot be lent */
    char                *staging; /* memory of ours, of so many places, or NULL */
    uint32_t             places, place;
    struct ski_together *together; /* for who copies with us, or NULL */
    bool                 once;     /* it is used once, and then forgotten */
    bool                 lends;    /* the data stay as they are until the receiver is ready */
    struct ski_channel  *channel;  /* of this host, or NULL */
    struct ski_path      path;     /* to its place, or to one block */
    skua_layout          layout;   /* simple, of our buffer */
    ski_put_fn           unchecked;
    struct ski_many     *many;

    /* Of local completion. */
    uint32_t            sending;  /* puts whose data the network still reads */
    uint32_t            waiting;  /* for that */
    uint64_t            lendings; /* puts that were lent */
    skua_completion     local;    /* what shall take place then, or nothing */
    struct ski_expected expected; /* of lent->returned */
    bool                closed;   /* it is freed when nothing is being sent */

    /* In checked mode. */
    uint64_t     puts; /* of this sender */
    int32_t      owner;
    bool         freed; /* our buffer is gone */
    skua_sender *next;  /* of this PE */
};

#define SKI_STAGE_BYTES(bytes) (((bytes) + SKI_CACHE_LINE - 1) & ~(size_t)(SKI_CACHE_LINE - 1))

/** Ring, when the data are in their place or, with another @p kind, where @p at tells. */
void ski_channel_ring(struct ski_pe *self, skua_sender *sender, enum ski_channel_kind kind,
                      void *at);

/** Ask the receiver for help, if there is room for a doorbell. */
void ski_channel_ask(struct ski_pe *self, skua_sender *sender, struct ski_together *all);

/** A put that the sender copies. */
void ski_put_block(skua_sender *sender, const char *from);

/** A put that the receiver may help to copy; its help; and what is left to it at the end.
 *  @p staging is where the sender copies to, or NULL: to where the data belong. */
void                 ski_put_together(skua_sender *sender, const char *from);
void                 ski_together_help(struct ski_together *all);
void                 ski_together_end(struct ski_together *all);
struct ski_together *ski_together_new(struct ski_pe *self, char *to, char *staging, size_t bytes);

/** Ring for a channel of our own PE. */
void ski_bell_push(struct ski_pe *self, uint64_t key, struct ski_lent *lent);

/** Put in a message. */
void ski_put_message(skua_sender *sender, const char *from);

/** Choose the way to a channel, and prepare it.  SKUA_ERR_INVAL, logged for @p call. */
skua_status_t ski_sender_aim(struct ski_pe *self, const char *call, skua_sender *sender,
                             skua_channel channel);
void          ski_sender_drop(struct ski_pe *self, skua_sender *sender);

/** A sender without a channel yet; NULL, logged for @p call. */
skua_sender *ski_sender_new(const char *call, const skua_layout *from);

/* ---- what travels --------------------------------------------------------------- */

struct ski_channel_head {
    uint64_t key;
    uint32_t kind;  /* enum ski_channel_kind */
    uint32_t sum;   /* in checked mode, of data that are sent from where they are; or 0 */
    uint64_t bytes; /* of all data, wherever they are */
    uint64_t put;   /* the sender's number for it, in checked mode */
};

#define SKI_CHANNEL_LEAST sizeof(struct ski_channel_head)

/* In `bytes` of a doorbell that carries an address. */
#define SKI_BELL(kind) (0xf0 + (kind))

void ski_on_channel(skua_msg *msg);

/** As ski_request_take(). */
skua_msg *ski_channel_take(struct ski_pe *self, const skua_msg *head, const char *data);

/* ---- local completion -------------------------------------------------------------- */

/** A put of @p sender does not need its memory any more; within the driver. */
void ski_channel_sent(struct ski_pe *self, skua_sender *sender);

/** Lets the completions of puts that have been sent take place, and wakes what waits for them. */
void ski_channel_settle(struct ski_pe *self);

/** The receiver does not look at what was lent any more. */
void ski_lent_return(struct ski_lent *lent);

/** Nothing of @p sender is asked for any more; false: it is freed later. */
bool ski_channel_unlocal(struct ski_pe *self, skua_sender *sender);

/* ---- channels of other hosts (channel_net.c) --------------------------------------- */

/** Tell PE @p pe of another host that its channel @p key has been opened for so many bytes. */
void ski_channel_tell_opened(struct ski_pe *self, int pe, uint64_t key, size_t bytes);

/** That was told; @p channel is NULL if there is none. */
void ski_on_channel_opened(struct ski_pe *self, const skua_msg *msg,
                           const struct ski_channel_head *head, const struct ski_channel *channel);

/** A put has come for a channel that does not exist. */
void ski_channel_none(struct ski_pe *self, int source, const struct ski_channel_head *head);

/** The answer to these two. */
void ski_on_channel_refused(const skua_msg *msg, const struct ski_channel_head *head);

/* ---- one to many ------------------------------------------------------------------ */

void ski_many_close(struct ski_pe *self, skua_sender *sender);
void ski_on_channel_many(skua_msg *msg);

/* ---- lending ---------------------------------------------------------------------- */

/** Let the puts of a sender, whose way is known, lend where that can be. */
void ski_sender_lend(struct ski_pe *self, skua_sender *sender, const struct ski_channel *channel);

/* ---- many to one ------------------------------------------------------------------ */

/** Put into a channel that combines. */
void ski_put_combined(skua_sender *sender, const char *from);

/** What a put brought, in one block, is combined with the buffer; true: it was the last. */
bool ski_channel_combine(struct ski_channel *channel, const char *from);

/** The buffer begins anew. */
void ski_channel_clear(struct ski_channel *channel);

/* ---- checked mode ------------------------------------------------------------------ */

/** Check each put of @p sender from now on. */
void ski_check_sender(struct ski_pe *self, skua_sender *sender);

/** Check one, which PE @p source has begun. */
void ski_check_put(const skua_sender *sender, int source);
void ski_check_no_more(struct ski_pe *self, skua_sender *sender);

/** Say that a sender has another size than its channel: SKUA_ERR_INVAL, or the end of the job. */
skua_status_t ski_check_size(struct ski_pe *self, const char *call, const skua_sender *sender,
                             const struct ski_channel *channel);

/** What a put from @p from would lend, and, when the receiver is ready again, was lent: it must
 *  be the same. */
void ski_check_lending(struct ski_lent *lent, const skua_sender *sender, const char *from);
void ski_check_returned(const struct ski_channel *channel);

/** The sum of data that are sent from where they are; not 0. */
uint32_t ski_check_sum(const char *from, size_t bytes);

/** A put has come by message, which may be the first to be looked at. */
void ski_check_arrival(struct ski_channel *channel, int source,
                       const struct ski_channel_head *head);

/** Memory has been given back. */
void ski_check_freed(struct ski_pe *self, const char *memory, size_t bytes);

/** Begin and end on each PE. */
void ski_channels_begin(struct ski_pe *self);
void ski_channels_end(struct ski_pe *self);

#endif
