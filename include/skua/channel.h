/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - persistent one-way paths from a sender's buffer to a receiver's buffer.
 *
 * The receiver creates a channel for a buffer of its own and sends the value that names it to a
 * sender, which opens it for a buffer of its own. Each put then moves the data from one buffer to
 * the other and calls the receiver's callback directly from the doorbell: without a message,
 * without the queue and without synchronisation between the two PEs. A program that repeats the
 * same exchange, and in which each PE knows from the algorithm when the other is ready, pays for
 * little more than the data movement.
 *
 *     receiver                                         sender
 *     skua_channel_create(&layout, fn, arg, &channel)
 *     ... sends `channel` in a message ...             out = skua_channel_open(channel, &layout)
 *                                                      skua_channel_put(out)
 *     fn(arg): the buffer holds the data
 *     skua_channel_ready(channel)                      skua_channel_put(out)
 *
 * At most one put is in flight on a channel. The sender puts again only after the receiver has
 * called skua_channel_ready() and the sender has learnt of it, for example from a message or a
 * reduction. Arrivals are detected by a sequence word of the channel, so the data may have any
 * value. An idle channel costs nothing.
 *
 * The sender may change its buffer once the put is locally complete. Between hosts that is later
 * than the return of skua_channel_put(): call skua_channel_put_wait() before writing the next data.
 *
 * Buffers may be anywhere in memory. A sender of the same host writes directly into a buffer in the
 * arena: in a region (region.h) that is not registered user memory, or from skua_channel_alloc(). A
 * sender of the receiver's process writes directly into any buffer. In all other cases the receiver
 * copies the data into place.
 *
 * A put is not ordered with messages: its callback may run before the handlers of messages that
 * were sent earlier. Puts on different channels are not ordered either.
 *
 * If the receiver only reads the data, and the sender leaves them unchanged until the receiver is
 * ready, no copy is needed within a host: see skua_channel_create_view() and skua_channel_lend().
 *
 * A channel belongs to the PE that created or opened it, and its functions are called on that PE.
 * Objects that migrate use object channels (object_channel.h), which follow them.
 *
 * With the setting `checked_channels`, misuse ends the job with an error that names the channel,
 * both PEs and the number of the put. Misuse is: a put before ready, a second put in flight, a
 * buffer that was freed, a sender's buffer of a different size, data that changed before the put
 * was locally complete.
 */
#ifndef SKUA_CHANNEL_H
#define SKUA_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/collective.h>
#include <skua/completion.h>
#include <skua/layout.h>
#include <skua/onesided.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** A channel: a value that may be sent in messages and is valid on every PE. A zeroed value names
 *  no channel. */
typedef struct {
    int32_t  pe;   /* the receiver */
    int32_t  host; /* first process of the receiver's host */
    uint64_t key;  /* identifies the channel on that host */
} skua_channel;

/** The sender's end of a channel, or of several channels. */
typedef struct skua_sender skua_sender;

/** The callback of a channel, called after the data of a put have arrived. It runs on the
 *  receiver's PE, inside the scheduler, and may do what a handler may do. @p arg is the argument
 *  given at creation. */
typedef void (*skua_channel_fn)(void *arg);

/* ---- receiving --------------------------------------------------------------------------- */

/** Creates a channel into memory of the calling PE, ready for a first put. @p name appears in
 *  errors and is copied; it may be NULL. Returns SKUA_ERR_INVAL or SKUA_ERR_NOMEM, logged. */
SKUA_API skua_status skua_channel_create(const skua_layout *to, skua_channel_fn fn, void *arg,
                                         const char *name, skua_channel *channel);

/** Creates a channel whose receiver accesses the data only through skua_channel_view(). A
 *  sender that lends its buffer (skua_channel_lend()) then avoids the copy where it can;
 *  otherwise the data are copied to @p to. The other arguments and the errors are those of
 *  skua_channel_create(). */
SKUA_API skua_status skua_channel_create_view(const skua_layout *to, skua_channel_fn fn, void *arg,
                                              const char *name, skua_channel *channel);

/** Returns where the data of the last put are, in the receiver's buffer or in the sender's. The
 *  view is valid from the callback until skua_channel_ready() or skua_channel_mark(). Blocks,
 *  levels and counts are those of the channel's layout; strides may differ. */
SKUA_API const skua_layout *skua_channel_view(skua_channel channel);

/** Declares that the receiver has finished with the data: the buffer may be written again and the
 *  next arrival calls the callback. Called once for each put, after its callback. */
SKUA_API void skua_channel_ready(skua_channel channel);

/** Declares that the buffer may be written again, without enabling the callback: the first half of
 *  skua_channel_ready(). */
SKUA_API void skua_channel_mark(skua_channel channel);

/** Enables the callback for the next arrival, and calls it if data have arrived since
 *  skua_channel_mark(): the second half of skua_channel_ready(). */
SKUA_API void skua_channel_poll(skua_channel channel);

/** Returns the number of puts whose callback has been called. */
SKUA_API uint64_t skua_channel_count(skua_channel channel);

/** Destroys a channel. No put may follow; the buffer belongs to the program again. */
SKUA_API void skua_channel_destroy(skua_channel channel);

/** Allocates memory that all PEs of the host can access by load and store. */
SKUA_API void *skua_channel_alloc(size_t bytes);

/** Frees memory of skua_channel_alloc(), on the PE that allocated it. */
SKUA_API void skua_channel_free(void *memory);

/* ---- sending ------------------------------------------------------------------------------ */

/** Opens a channel for sending from a buffer of the calling PE. The buffer may have any layout
 *  with as many bytes as the receiver's, and may serve several channels. Returns NULL, logged,
 *  on failure. The call does not wait: a channel of another host is looked up there, and if it
 *  does not exist or has another size, the sender logs that when the answer arrives and drops
 *  its puts. */
SKUA_API skua_sender *skua_channel_open(skua_channel channel, const skua_layout *from);

/** Opens a channel as skua_channel_open() does, and promises that after a put the data stay
 *  unchanged until the receiver is ready again and the sender has learnt of it. If the receiver
 *  uses a view and can access the sender's memory (same process, skua_channel_alloc(), or a region
 *  that is not registered user memory), nothing is copied; otherwise puts behave as usual. */
SKUA_API skua_sender *skua_channel_lend(skua_channel channel, const skua_layout *from);

/** Sends the contents of the sender's buffer. The buffer must not change until the put is *locally
 *  complete*: on return if the data were copied, as they are within a host unless lent; later if
 *  they go to another host or are lent. skua_channel_put_test(), skua_channel_put_wait() and
 *  skua_channel_put_then() report local completion without communication with the receiver. May be
 *  called wherever messages may be sent, also in user threads. */
SKUA_API void skua_channel_put(skua_sender *sender);

/** Sends data from @p at, in the layout of the sender's buffer, for programs that alternate between
 *  buffers. Completion is as with skua_channel_put(). */
SKUA_API void skua_channel_put_from(skua_sender *sender, const void *at);

/** Returns true if all puts of @p sender are locally complete, so that their memory may change: the
 *  data have left it or, if they were lent, the receiver is ready again (which never happens if it
 *  destroys the channel instead). Local completion does not imply arrival. Returns true if there
 *  was no put. On the PE's own stack the call may deliver a message before it returns false. */
SKUA_API bool skua_channel_put_test(skua_sender *sender);

/** Waits until all puts of @p sender are locally complete. Returns false when the job ends first;
 *  memory that was not lent may then change. A user thread is suspended; on the PE's own stack the
 *  scheduler delivers messages meanwhile. */
SKUA_API bool skua_channel_put_wait(skua_sender *sender);

/** Performs the completion @p local when all puts of @p sender are locally complete: within this
 *  call if they are. Each sender has at most one such completion outstanding; a second one ends the
 *  job with an error. */
SKUA_API void skua_channel_put_then(skua_sender *sender, skua_completion local);

/** Closes a sender. The receiver must have received the last put and, if it was lent, must be ready
 *  again. An outstanding completion of skua_channel_put_then() is performed. */
SKUA_API void skua_channel_close(skua_sender *sender);

/* ---- one to many, many to one -------------------------------------------------------------- */

/** Opens several channels as one sender: each put sends the data to all of them, along a tree of
 *  the receivers where that is cheaper. All channels have the same number of bytes. */
SKUA_API skua_sender *skua_channel_open_many(const skua_channel *channels, size_t count,
                                             const skua_layout *from);

/** The definition of a channel that combines the puts of several senders. */
typedef struct {
    size_t          size;  /* sizeof(skua_channel_reduction_def); 0: its size in version 1.0 */
    void           *to;    /* the receiver's buffer */
    size_t          count; /* elements of the buffer */
    skua_type       type;  /* of an element */
    skua_op         op;    /* SKUA_SUM, SKUA_MIN, SKUA_MAX or a bitwise one, as in skua_acc() */
    int             senders;
    skua_channel_fn fn; /* called when the puts of all senders have arrived; may be NULL */
    void           *arg;
    const char     *name; /* appears in errors and is copied; may be NULL */
} skua_channel_reduction_def;

/** Creates a channel for several senders, whose puts are combined element by element into the
 *  receiver's buffer. The callback is called when all have arrived. The buffer is initialised with
 *  the operator's neutral element, at creation and at each skua_channel_ready() or
 *  skua_channel_mark(), unless there is only one sender. Contributions are combined in the order of
 *  arrival, so floating-point sums may differ in the last bits from run to run. Returns
 *  SKUA_ERR_INVAL, SKUA_ERR_NOMEM, or SKUA_ERR_UNSUPPORTED if @p def has members that this version
 *  of the library does not have; all are logged. */
SKUA_API skua_status skua_channel_create_reduction(const skua_channel_reduction_def *def,
                                                   skua_channel                     *channel);

SKUA_END_DECLS

#endif
