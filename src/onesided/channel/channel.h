/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - channels (skua/channel.h): the record of the receiver, the state of a sender, and the
 * messages between them.
 *
 * The record of a channel is in the arena, so that senders of the host can read it when they open
 * the channel.  Its position is part of the channel's key:
 *
 *      | generation, 24 bits | position in the arena / 64, 40 bits |
 *
 * Records are reused, with the next generation, and only as records, so that a key that outlived
 * its channel is recognised.
 *
 * A *doorbell* is a cell in the receiver's inbox (core/message/inbox_recv.h) with the key in place
 * of source and priority.  The receiver handles it when it takes it out of the inbox, before the
 * messages in its queue; an idle channel costs nothing.  The data of a put take one of these paths,
 * chosen when the channel is opened:
 *
 *   inline     in the doorbell itself, up to 48 bytes: one cache line moves
 *   zcopy      the data stay where they are, and the receiver reads them there
 *   direct     the sender copies them to the receiver's buffer, then rings
 *   staged     the sender copies them to staging memory in the arena and rings; the receiver copies
 *              them from there
 *   attached   the system copies them to the receiver's buffer, which is in memory of its process
 *              alone, where that takes less time than two copies (x86-64)
 *   coop       as direct or staged, for large data that the receiver helps to copy
 *   reduce     the sender combines them with the receiver's buffer
 *   packet     in a packet to another host, which the receiver answers as a doorbell
 *              (channel_packet.c)
 *   message    in a message, with all that the receiver must know: with the setting
 *              channels=message, and between hosts in checked mode
 *
 * A put is locally complete when its memory may change (channel_local.c).  That is when the call
 * returns, except for zcopy and for large messages to other hosts, which are sent without a copy.
 *
 * A doorbell that finds no room in the inbox becomes a message in the send backlog.
 */
#ifndef SKI_CHANNEL_H
#define SKI_CHANNEL_H

#include <skua/channel.h>

#include "core/pe/pe.h"
#include "onesided/rma/accumulate.h"
#include "onesided/rma/copy_plan.h"
#include "onesided/sync/notify.h"

#define SKI_CHANNEL_KEY_BITS 40

/* ---- receivers ---------------------------------------------------------------- */

/* The layout of a channel's buffer that is not one block. */
struct ski_channel_layout {
    skua_layout layout; /* simplified (layout.h); its list, if it has one, follows this struct */
    struct ski_copy_plan unpack; /* from one block */
};

/* How a channel combines the data of several senders. */
struct ski_channel_reduction {
    ski_accumulate_fn fn;
    skua_op           op;
    skua_type         type;
    size_t            element;
};

/* A channel, at its receiver. */
struct ski_channel {
    /* Used by an arrival. */
    _Alignas(SKI_CACHE_LINE) uint64_t key; /* 0: the record is free */
    char                  *to;
    struct ski_zcopy_desc *zcopy; /* where the data are, unless in the buffer */
    skua_channel_fn        fn;
    void                  *arg;
    _Atomic uint64_t       arrived; /* puts; only the receiver writes it */
    uint64_t               reported;
    bool                   polled; /* the next arrival is to be reported */
    bool                   reduces;
    uint32_t               senders;

    /* Read when the channel is opened. */
    size_t                     bytes;   /* of all data */
    struct ski_channel_layout *pattern; /* NULL: one block */
    const skua_layout *view; /* the layout of the program, if senders may use zcopy; or NULL */
    const char        *name; /* in the arena, or NULL */
    int32_t            pe;
    int32_t            process; /* the process that owns the buffer; -1: the arena */
    int32_t            home;    /* process of the receiver */
    struct ski_channel_reduction reduction;
    uint32_t                     generation;
    uint64_t tag; /* core/message/addr_tag.h: proves a key that comes from another host */
    struct ski_channel *next, **link; /* in the list of this PE, or of free records */

    /* Written by senders: in reductions, and in checked mode. */
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t puts; /* puts that were begun, ever */
    _Atomic uint32_t contributed;                   /* puts of the current reduction */
    _Atomic uint64_t ready;                         /* times that the receiver marked the buffer */
    _Atomic uint32_t freed;                         /* 1: the buffer has been freed */
};

/* The data of a zcopy put, in the arena: the receiver's layout with the sender's strides. */
struct ski_zcopy_desc {
    skua_layout view;
    uint64_t    sum, put; /* checksum and number of the put, in checked mode */
    int32_t     pe;       /* of the sender */
    /* Puts that the receiver has released.  Only the receiver writes it, so its cache line moves
     * only when the sender looks. */
    _Alignas(SKI_CACHE_LINE) skua_notify returned;
};

/** Returns the record that a key names, which may be of another channel: the caller compares
 *  `key`. */
static inline struct ski_channel *ski_channel_at(const struct ski_arena *arena, uint64_t key)
{
    uint64_t position = key & ((UINT64_C(1) << SKI_CHANNEL_KEY_BITS) - 1);

    return (struct ski_channel *)(void *)((char *)arena->base + position * SKI_CACHE_LINE);
}

/** Returns the record of a channel of this host; NULL: the channel does not exist. */
struct ski_channel *ski_channel_find(const struct ski_job *job, uint64_t key);

/** Returns the name of a channel, for errors. */
static inline const char *ski_channel_name(const struct ski_channel *channel)
{
    return channel->name ? channel->name : "(no name)";
}

/* ---- senders ------------------------------------------------------------------- */

/* The kinds of doorbells and of messages about a channel. */
enum ski_channel_kind {
    SKI_CHANNEL_DATA,      /* data after the header */
    SKI_CHANNEL_PLACED,    /* nothing: the data are in the buffer */
    SKI_CHANNEL_STAGED,    /* after the header: the address of the staged data, on this host */
    SKI_CHANNEL_ZCOPY,     /* after the header: the address of a struct ski_zcopy_desc */
    SKI_CHANNEL_COOP,      /* after the header: the address of a struct ski_coop (channel_coop.c) */
    SKI_CHANNEL_HELP,      /* doorbells only: requests that the receiver helps with the copy */
    SKI_CHANNEL_POLLED,    /* to the PE itself: report what has arrived */
    SKI_CHANNEL_MULTICAST, /* data for several channels (channel_multicast.c) */
    SKI_CHANNEL_SENT,      /* to the PE itself: puts are locally complete (channel_local.c) */
    SKI_CHANNEL_OPENED,    /* to another host: the channel was opened for so many bytes */
    SKI_CHANNEL_REFUSED,   /* the reply to OPENED or to a put: there is no such channel */
};

typedef void (*ski_channel_put_fn)(skua_sender *sender, const char *from);

/* The sending end of a channel: the path of its puts, and what that path needs. */
struct skua_sender {
    /* Used by a put. */
    ski_channel_put_fn     put;
    const char            *from;
    char                  *to;    /* direct, staged, attached: where the data are copied to */
    struct ski_zcopy_desc *zcopy; /* zcopy: what the receiver reads, or NULL */
    struct ski_inbox      *inbox; /* of the receiver; NULL: the receiver is this PE */
    struct ski_credit      credit;
    uint64_t               key;
    uint32_t               cells;
    int32_t index, pe; /* of the receiver: its index on this host, or -1, and its number */
    size_t  bytes;

    /* The rest. */
    ski_channel_put_fn copied;  /* zcopy: the path for data that the receiver does not reach */
    char              *staging; /* staging memory of this sender, `slots` times the data, or NULL */
    uint32_t           slots, slot;
    struct ski_coop   *coop;  /* or NULL */
    bool               once;  /* used for one put, then freed */
    bool               known; /* the channel exists and has the size of the sender's buffer */
    bool wants_zcopy;         /* the program keeps the data unchanged until the receiver is ready */
    struct ski_channel           *channel; /* of this host, or NULL */
    struct ski_copy_plan          plan;    /* to the buffer, or to one block */
    skua_layout                   layout;  /* simplified, of the sender's buffer */
    void                         *list;    /* of the layout; or NULL */
    ski_channel_put_fn            unchecked;
    struct ski_channel_multicast *multicast;

    /* Local completion. */
    uint32_t                sending;    /* puts whose data the driver still reads */
    uint32_t                waiting;    /* threads that wait for `sending` */
    uint64_t                zcopy_puts; /* zcopy puts, ever */
    skua_completion         local;      /* performed at the next local completion, or empty */
    struct ski_notify_watch expected;   /* of zcopy->returned */
    bool                    closed;     /* freed as soon as nothing is being sent */

    /* Checked mode. */
    uint64_t     puts; /* of this sender */
    int32_t      owner;
    bool         freed; /* the sender's buffer has been freed */
    skua_sender *next;  /* in the list of this PE */
};

#define SKI_STAGE_BYTES(bytes) (((bytes) + SKI_CACHE_LINE - 1) & ~(size_t)(SKI_CACHE_LINE - 1))

/** Rings the doorbell: the data are in the buffer or, for another @p kind, described by @p at. */
void ski_channel_ring(struct ski_pe *self, skua_sender *sender, enum ski_channel_kind kind,
                      void *at);

/** Requests the help of the receiver, if there is room for a doorbell. */
void ski_channel_ask_help(struct ski_pe *self, skua_sender *sender, struct ski_coop *all);

/** Performs a put of one block that the sender copies. */
void ski_channel_put_block(skua_sender *sender, const char *from);

/** Performs a put that the receiver may help to copy. */
void ski_channel_put_coop(skua_sender *sender, const char *from);

/** Helps the sender of a coop put to copy, as long as there is something to do. */
void ski_coop_help(struct ski_coop *all);

/** Copies what is left to the receiver at the end of a coop put. */
void ski_coop_finish(struct ski_coop *all);

/** Prepares coop puts into @p to; @p staging is where the sender copies to, or NULL: into @p to
 *  itself.  NULL: there is no memory. */
struct ski_coop *ski_coop_new(struct ski_pe *self, char *to, char *staging, size_t bytes);

/** Rings the doorbell of a channel of the calling PE. */
void ski_doorbell_push(struct ski_pe *self, uint64_t key, struct ski_zcopy_desc *zcopy);

/** Rings the doorbell of a channel of the calling PE for a packet of another host, which its sender
 *  has counted.  May be called within the driver. */
void ski_doorbell_push_arrived(struct ski_pe *self, uint64_t key);

/** Chooses the path to a channel and prepares it.  SKUA_ERR_INVAL, logged for @p call. */
skua_status ski_sender_select(struct ski_pe *self, const char *call, skua_sender *sender,
                              skua_channel channel);

/** Frees a sender that has nothing in the arena. */
void ski_sender_free(skua_sender *sender);

/** Opens a channel as skua_channel_open() does.  The caller knows that the channel exists and has
 * the size of @p from, so a receiver on another host is not asked. */
skua_sender *ski_channel_open_known(skua_channel channel, const skua_layout *from);

/** Creates a sender that has no channel yet; NULL, logged for @p call. */
skua_sender *ski_sender_new(const char *call, const skua_layout *from);

/* ---- messages ------------------------------------------------------------------- */

/* The header of the messages of channels. */
struct ski_channel_head {
    uint64_t key;
    uint32_t kind;  /* enum ski_channel_kind */
    uint32_t sum;   /* checksum in checked mode, of data that are sent without a copy; or 0 */
    uint64_t bytes; /* of all data, wherever they are */
    uint64_t put;   /* the sender's number of the put, in checked mode */
};

#define SKI_CHANNEL_MIN sizeof(struct ski_channel_head)

/* In `bytes` of a doorbell that carries an address. */
#define SKI_DOORBELL(kind) (0xf0 + (kind))

/** Handles a message about a channel. */
void ski_on_channel(skua_msg *msg);

/** Sends a message that is only the header @p head to @p pe. */
void ski_channel_send_head(struct ski_pe *self, int pe, const struct ski_channel_head *head);

/** Copies data of one block into the buffer. */
void ski_channel_unpack(struct ski_channel *channel, const char *from);

/** Counts a put whose data are in the buffer, and reports it if the program has requested that. */
void ski_channel_count_arrival(struct ski_pe *self, struct ski_channel *channel);

/* ---- puts between hosts (channel_packet.c) ----------------------------------------------------
 */

#define SKI_CHANNEL_PUT_MIN sizeof(uint64_t) /* the key */

/** Returns the path of a sender, whose copy plan is made, to another host. */
ski_channel_put_fn ski_channel_packet_path(const skua_sender *sender);

/** Returns whether puts of a sender to another host are sent without a copy. */
bool ski_channel_packet_is_zcopy_send(const skua_sender *sender);

/** Sends @p msg, which has a header of @p header bytes and room for a struct ski_zcopy_send, with
 * the data of a put at @p from.  Returns false if that is not possible now; @p msg
 * is freed. */
bool ski_channel_zcopy_send(struct ski_pe *self, skua_sender *sender, skua_msg *msg, size_t header,
                            const char *from);

/** How packets of puts are delivered in place. */
extern const struct ski_placement ski_channel_placement;

/** Handles the packet of a put that has arrived as a message. */
void ski_on_channel_put(skua_msg *msg);

/* ---- local completion (channel_local.c) ----------------------------------------------------- */

/** Returns whether all puts of @p sender are locally complete. */
bool ski_channel_put_complete(skua_sender *sender);

/** Records that the driver is done with the memory of a put of @p sender, a skua_sender.  Runs
 *  within the driver. */
void ski_channel_send_done(struct ski_pe *self, void *sender);

/** Performs the completions of puts that are locally complete, and wakes threads that wait for
 *  them. */
void ski_channel_local_complete(struct ski_pe *self);

/** Releases the data of a zcopy put: the receiver no longer reads them. */
void ski_zcopy_desc_release(struct ski_zcopy_desc *zcopy);

/** Ends local completion for a sender that is closed. Returns false if it is freed later. */
bool ski_channel_local_close(struct ski_pe *self, skua_sender *sender);

/* ---- channels of other hosts (channel_net.c) --------------------------------------- */

/** Notifies PE @p pe of another host that its channel @p key was opened for @p bytes. */
void ski_channel_tell_opened(struct ski_pe *self, int pe, uint64_t key, size_t bytes);

/** Handles OPENED; @p channel is NULL if there is none. */
void ski_on_channel_opened(struct ski_pe *self, const skua_msg *msg,
                           const struct ski_channel_head *head, const struct ski_channel *channel);

/** Refuses a put of PE @p source, of @p bytes, for a channel of another size; @p channel is NULL if
 *  it does not exist. */
void ski_channel_refuse_put(struct ski_pe *self, int source, uint64_t key, uint64_t bytes,
                            const struct ski_channel *channel);

/** Handles REFUSED, the reply to OPENED or to a put: logs it. */
void ski_on_channel_refused(const skua_msg *msg, const struct ski_channel_head *head);

/* ---- multicast (channel_multicast.c) ------------------------------------------------ */

/** Closes the senders that a multicast sender consists of. */
void ski_channel_multicast_close(skua_sender *sender);

/** Handles data for several channels. */
void ski_on_channel_multicast(skua_msg *msg);

/* ---- zcopy (channel_zcopy.c) ---------------------------------------------------------------- */

/** Makes the puts of a sender, whose path is chosen, use zcopy where that is possible. */
void ski_sender_use_zcopy(struct ski_pe *self, skua_sender *sender,
                          const struct ski_channel *channel);

/* ---- reductions (channel_reduce.c) ---------------------------------------------------------- */

/** Performs a put into a channel that reduces. */
void ski_channel_put_reduce(skua_sender *sender, const char *from);

/** Combines the data of a put, in one block, with the buffer. Returns true if the reduction is
 * complete. */
bool ski_channel_reduce(struct ski_channel *channel, const char *from);

/** Sets the buffer to the identity of the operator, for the next reduction. */
void ski_channel_reduce_reset(struct ski_channel *channel);

/* ---- checked mode (channel_check.c) --------------------------------------------------------- */

/** Checks each put of @p sender from now on. */
void ski_channel_check_add(struct ski_pe *self, skua_sender *sender);

/** Checks one put that PE @p source has begun. */
void ski_channel_check_put(const skua_sender *sender, int source);

/** Stops checking a sender that is closed. */
void ski_channel_check_remove(struct ski_pe *self, skua_sender *sender);

/** Reports a sender whose size differs from its channel's: SKUA_ERR_INVAL, or the end of the job in
 *  checked mode. */
skua_status ski_channel_check_size(struct ski_pe *self, const char *call, const skua_sender *sender,
                                   const struct ski_channel *channel);

/** Checks that the data of a zcopy put are unchanged when the receiver releases them. */
void ski_channel_check_zcopy_release(const struct ski_channel *channel);

/** Returns the checksum of data that are sent without a copy; it is not 0. */
uint32_t ski_channel_check_sum(const char *from, size_t bytes);

/** Checks a put that came by message from another host. */
void ski_channel_check_arrival(struct ski_channel *channel, int source,
                               const struct ski_channel_head *head);

/** Marks channels and senders of @p self that use memory which is being freed. */
void ski_channel_check_freed(struct ski_pe *self, const char *memory, size_t bytes);

/** Begins on a PE: makes its scheduler handle doorbells. */
void ski_channel_pe_begin(struct ski_pe *self);

/** Ends on a PE. */
void ski_channel_pe_end(struct ski_pe *self);

#endif
