/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - streams of small items between all PEs, gathered into messages.
 *
 * An item is a few bytes of fixed size for some PE, too small to be worth a message.
 * A stream keeps items back until there are enough for one PE, and sends them
 * together.  On many PEs it also sends them the same way: the PEs form a mesh
 * (topology.h) and an item goes to its PE along one dimension after another, at most
 * three, joined at every stop by others that go on with it.  So a PE fills some
 * square or cube root as many buffers as there are PEs, and they fill sooner.
 *
 * Items wait on a PE until
 *   - a buffer is full, or the PE holds as many items as the stream lets it: then the
 *     fullest buffer is sent;
 *   - the PE has nothing else to do (unless the stream says otherwise);
 *   - the stream's period is over, if it has one;
 *   - skua_stream_flush(), or the end of the job is being looked for by quiescence.
 *
 * Order.  Items of one PE for one other arrive in the order in which they were put.
 * Nothing is promised beyond that, nor relative to messages.
 *
 * All calls but the registration belong on a PE, as in message.h.
 */
#ifndef SKUA_STREAM_H
#define SKUA_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <skua/api.h>
#include <skua/message.h>
#include <skua/topology.h>

SKUA_BEGIN_DECLS

/** A registered stream. */
typedef struct {
    uint32_t offset;
} skua_stream;

/** What happens with items that have arrived; one of the two.  @p arg is what this PE
 *  gave to skua_stream_bind().  Called by the scheduler, as handlers are, and never
 *  inside a put, also for items of the PE's own: a callback may put items, into this
 *  stream too.  Items lie one after another from a 64-byte boundary on, and live until it
 *  returns. */
typedef void (*skua_item_fn)(void *arg, const void *item);
typedef void (*skua_batch_fn)(void *arg, const void *items, size_t count);

/** What a stream is like.  All but the first two may be 0. */
typedef struct {
    size_t        item_bytes;
    skua_item_fn  item;                 /* called for each item, or ...                     */
    skua_batch_fn batch;                /* ... for several at a time: the faster way        */
    size_t        buffer;               /* most items that wait on a PE; 0: stream_buffer   */
    double        period;               /* seconds they wait at most; 0: stream_period      */
    bool          patient;              /* they also wait while the PE is idle              */
    bool          held;                 /* those that arrive wait for skua_stream_bind()    */
    int           dims;                 /* of the mesh; 0: chosen                           */
    int           size[SKUA_MESH_DIMS]; /* its sizes; 0 and the rest: chosen                */
} skua_stream_def;

/** Register a stream, before skua_main(), as with skua_register(). */
SKUA_API skua_stream skua_stream_register(const char *name, const skua_stream_def *def);

/** What the callbacks of this PE get as their first argument; NULL before.  Call it in
 *  start, before items can arrive.  Or let the stream be `held`: then items wait while it is
 *  NULL, and one PE has one such argument at a time. */
SKUA_API void skua_stream_bind(skua_stream stream, void *arg);

/** Send what waits on this PE, of this stream; whether there was anything.  Where items
 *  stop on their way, they wait for the PE there. */
SKUA_API bool skua_stream_flush(skua_stream stream);

/** Items that wait on this PE. */
SKUA_API size_t skua_stream_waiting(skua_stream stream);

/* ---- putting: the runtime's own, laid open so that it can be inline ------------------ */

typedef struct {
    char     *next, *end; /* where the next item goes; equal: there is no message */
    int32_t  *to;         /* where its PE goes, if it has further to go; or NULL   */
    skua_msg *msg;
} skua_stream_slot;

typedef struct {
    uint32_t          pes;  /* 0: not begun                              */
    uint32_t          left; /* items that may still come                 */
    uint32_t          item_bytes;
    const uint16_t   *route; /* of each PE: the slot of those on the way  */
    skua_stream_slot *slot;
    skua_stream_slot  none; /* of PEs that are not there: without message */
} skua_stream_port;

/** The memory of the calling PE that offsets lead into; NULL in a thread that is no PE.  It does
 *  not change while a function runs: const, so that a compiler loads it once for a whole loop. */
SKUA_API extern __thread char *const skua_stream_memory;

/** Ends the job: the calling thread is no PE. */
SKUA_API void skua_stream_nowhere(void) __attribute__((noreturn, cold));

/** This PE's side of a stream, by its offset. */
static inline skua_stream_port *skua_stream_here(uint32_t offset)
{
    char *memory = skua_stream_memory;

    if (__builtin_expect(!memory, 0))
        skua_stream_nowhere();
    return (skua_stream_port *)(void *)(memory + offset);
}

SKUA_API skua_stream_slot *skua_stream_open(uint32_t offset, int pe);
SKUA_API void              skua_stream_full(uint32_t offset, skua_stream_slot *slot);

/** Put a copy of @p item, which the caller may reuse at once, into the stream to PE
 *  @p pe, which may be the caller's.  Never waits.  In a long loop let @p stream be a local
 *  variable: a global one has to be loaded for each item, since a compiler cannot know that the
 *  item is not written there, which costs about a fifth of the rate. */
static inline void skua_stream_put(skua_stream stream, int pe, const void *item)
{
    skua_stream_port *port  = skua_stream_here(stream.offset);
    size_t            bytes = port->item_bytes;
    skua_stream_slot *slot  = &port->none;
    char             *next;

    if (__builtin_expect((uint32_t)pe < port->pes, 1))
        slot = &port->slot[port->route[pe]];
    if (__builtin_expect(slot->next == slot->end, 0)) {
        slot  = skua_stream_open(stream.offset, pe);
        bytes = port->item_bytes;
    }
    next       = slot->next;
    slot->next = next + bytes;
    if (bytes == 8)
        memcpy(next, item, 8);
    else
        memcpy(next, item, bytes);
    if (slot->to)
        *slot->to++ = pe;
    if (__builtin_expect(--port->left == 0 || next + bytes == slot->end, 0))
        skua_stream_full(stream.offset, slot);
}

SKUA_END_DECLS

#endif
