/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - persistent one-way paths from a buffer of a sender to a buffer of a receiver.
 *
 * The receiver creates a channel for a buffer of its own and sends the value that names it to
 * a sender, who opens it for a buffer of his.  From then on a put moves the data from one to the
 * other, and the receiver's callback is called: straight from the doorbell, without a message,
 * without the queue, without any agreement between the two.  So programs that repeat the same
 * exchange again and again, and know by other means when the other is ready, pay for the data and
 * little more.
 *
 *     receiver                                         sender
 *     skua_channel_create(&layout, fn, arg, &channel)
 *     ... sends `channel` in a message ...             out = skua_channel_open(channel, &layout)
 *                                                      skua_channel_put(out)
 *     fn(arg): the buffer holds the data
 *     skua_channel_ready(channel)                      skua_channel_put(out)
 *
 * At most one put is in flight on a channel: the sender does not put again before the receiver
 * has said that it is ready, and has let the sender know in some way, a message or a reduction
 * say.  Nothing in the data is special: a sequence word of the channel's own tells arrivals.
 * An idle channel costs nothing.
 *
 * The sender's buffer may change again when the put is locally complete, which between hosts is
 * later than skua_channel_put() returns: skua_channel_put_wait() before the next data are written.
 *
 * Buffers may lie anywhere.  Those in regions (region.h) that are not registered, or from
 * skua_channel_alloc(), are written by senders of the same host directly, and so are all of the
 * sender's own process; what comes from elsewhere the receiver copies to its place.
 *
 * A put is not ordered with messages: its callback may run before the handlers of messages that
 * were sent earlier.  Nor is it with puts on other channels.
 *
 * A receiver that only looks at the data, and a sender that leaves them as they are until the
 * receiver is ready, can do without a copy on the same host: skua_channel_create_view() and
 * skua_channel_lend().
 *
 * Channels belong to the PE that created or opened them: an object that moves creates new ones.
 * All calls belong on that PE.
 *
 * With the setting `checked_channels` misuse ends the job with a line that names channel, both PEs
 * and the number of the put: a put before ready, a second put in flight, a buffer that was
 * freed, an association with another size, data that changed before the put was locally complete.
 */
#ifndef SKUA_CHANNEL_H
#define SKUA_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/collective.h>
#include <skua/completion.h>
#include <skua/onesided.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** A channel: a value that may be sent, and means the same on every PE.  Zero is none. */
typedef struct {
    int32_t  pe;   /* the receiver's                 */
    int32_t  host; /* the first process of its host  */
    uint64_t key;  /* the host's name for it         */
} skua_channel;

/** A channel as its sender knows it. */
typedef struct skua_sender skua_sender;

/** Most levels of a layout: faces of a block of five dimensions. */
#define SKUA_LAYOUT_LEVELS 4

/** Where data lie: blocks of `bytes`, count[0] of them at distances stride[0], all of that
 *  count[1] times ... as in skua_strided; levels 0 is one block.  A face of a 3-D block is one. */
typedef struct {
    void     *at;
    size_t    bytes;
    int       levels;
    size_t    count[SKUA_LAYOUT_LEVELS];
    ptrdiff_t stride[SKUA_LAYOUT_LEVELS];
} skua_layout;

static inline skua_layout skua_layout_of(const void *at, size_t bytes)
{
    skua_layout layout = {(void *)(uintptr_t)at, bytes, 0, {0}, {0}};
    return layout;
}

/** Copy all of @p from, which has as many bytes and does not overlap; nothing if both are the same
 *  place. */
SKUA_API void skua_layout_copy(const skua_layout *to, const skua_layout *from);

/** What happens when data have come; @p arg as given.  Runs on the receiver's PE, inside its
 *  scheduler; may do what a handler may. */
typedef void (*skua_channel_fn)(void *arg);

/* ---- receiving --------------------------------------------------------------------------- */

/** Create a channel into memory of ours; it is ready for a first put.  @p name is for errors and
 *  is copied; NULL: none.  SKUA_ERR_INVAL, SKUA_ERR_NOMEM, logged. */
SKUA_API skua_status_t skua_channel_create(const skua_layout *to, skua_channel_fn fn, void *arg,
                                           const char *name, skua_channel *channel);

/** The same, for a receiver that looks at the data with skua_channel_view() alone: a sender
 *  that lends (skua_channel_lend()) need not copy them then.  @p to is where they lie if they are
 *  copied. */
SKUA_API skua_status_t skua_channel_create_view(const skua_layout *to, skua_channel_fn fn,
                                                void *arg, const char *name, skua_channel *channel);

/** Where the data of the last put are, from its callback until we are ready, or mark: in our
 *  buffer, or in the sender's.  Blocks, levels and counts are those that the channel was created
 *  with; the strides may be others. */
SKUA_API const skua_layout *skua_channel_view(skua_channel channel);

/** The buffer may be written again, and we want to hear of it: after the callback, once for
 *  each put. */
SKUA_API void skua_channel_ready(skua_channel channel);

/** The two halves of that: it may be written again; we want to hear of it, and of what has
 *  come meanwhile. */
SKUA_API void skua_channel_mark(skua_channel channel);
SKUA_API void skua_channel_poll(skua_channel channel);

/** How many puts have come: those that the callback was called for. */
SKUA_API uint64_t skua_channel_count(skua_channel channel);

/** No more puts; the buffer is ours alone again. */
SKUA_API void skua_channel_delete(skua_channel channel);

/** Memory that all PEs of the host reach; to be given back on the same PE. */
SKUA_API void *skua_channel_alloc(size_t bytes);
SKUA_API void  skua_channel_free(void *memory);

/* ---- sending ------------------------------------------------------------------------------ */

/** Associate a buffer of ours with a channel.  The same buffer may be associated with many.
 *  Its shape may be another than the receiver's, with as many bytes.  NULL: not possible,
 *  logged.  A channel of another host is looked up there, without waiting: if it does not exist, or
 *  has another size, that is logged here when the answer comes, and puts to it are dropped. */
SKUA_API skua_sender *skua_channel_open(skua_channel channel, const skua_layout *from);

/** The same, and we lend: after a put the data do not change until the receiver is ready again,
 *  and has let us know.  Where the receiver has a view of them and reaches our memory - of the
 *  same process, from skua_channel_alloc(), in a region that is not registered - nothing is
 *  copied; else a put is as any other. */
SKUA_API skua_sender *skua_channel_lend(skua_channel channel, const skua_layout *from);

/** Send what is in the buffer now.  The buffer must not change until the put is *locally
 *  complete*: when this returns if the data were copied, as they are inside a host unless they are
 *  lent; later if they go to another host, or are lent.  The receiver's having them is enough;
 *  skua_channel_put_test(), _wait() and _then() tell without asking the receiver.  May be called
 *  where messages may be sent, also in user threads. */
SKUA_API void skua_channel_put(skua_sender *sender);

/** Send from another place, of the same shape: for programs that use buffers in turn. */
SKUA_API void skua_channel_put_from(skua_sender *sender, const void *at);

/** Whether the puts of @p sender are locally complete, so that their memory may change: the data
 *  have left it or, if they were lent, the receiver is ready again (which it never is if it deletes
 *  the channel instead).  That is no word of their arrival.  Without any put: true.  On the PE's
 * own stack a message may be delivered before false is returned. */
SKUA_API bool skua_channel_put_test(skua_sender *sender);

/** Wait until the puts of @p sender are locally complete; false: the job ends, and the memory may
 *  change if it was not lent.  A user thread is suspended; on the PE's own stack messages are
 *  delivered. */
SKUA_API bool skua_channel_put_wait(skua_sender *sender);

/** Let @p local take place when the puts of @p sender are locally complete: at once, within this
 *  call, if they are.  One such completion waits at a time for each sender; another ends the job
 *  with a line. */
SKUA_API void skua_channel_put_then(skua_sender *sender, skua_completion local);

/** No more puts; the last one has been received, and the receiver ready if it was lent.  A
 *  completion that was asked for takes place. */
SKUA_API void skua_channel_close(skua_sender *sender);

/* ---- one to many, many to one -------------------------------------------------------------- */

/** A sender for several channels at once: one put, and each gets the data; along a tree of the
 *  receivers where that is cheaper.  All have the same number of bytes. */
SKUA_API skua_sender *skua_channel_open_many(const skua_channel *channels, size_t count,
                                             const skua_layout *from);

/** A channel for @p senders senders: what they put is combined element by element in the
 *  buffer, @p count elements at @p to, which begins with the operator's neutral element, and does
 *  again with each ready, or mark, unless there is only one sender.  The callback is called when
 *  all have come.  SKUA_SUM, SKUA_MIN, SKUA_MAX and the bits, as with skua_acc().  They are
 *  combined in the order in which they come, so sums of floating-point numbers may differ in the
 *  last bits from run to run. */
SKUA_API skua_status_t skua_channel_create_reduction(void *to, size_t count, skua_op op,
                                                     skua_type type, int senders,
                                                     skua_channel_fn fn, void *arg,
                                                     const char *name, skua_channel *channel);

SKUA_END_DECLS

#endif
