/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - streams of small items between all PEs, aggregated into messages.
 *
 * An item has a small fixed size and a destination PE, and is too small to be worth a message. A
 * stream buffers items until there are enough for one destination and sends them together. On many
 * PEs it also routes them: the PEs form a mesh (topology.h), and an item is routed along at most
 * three dimensions, one after another; at every intermediate PE it is aggregated with others that
 * share the rest of its route. A PE therefore needs only about the square or cube root of the
 * number of PEs in buffers, and they fill sooner.
 *
 * Items wait on a PE until
 *   - a buffer is full, or the PE holds as many items as the stream allows: the fullest
 *     buffer is then sent;
 *   - the PE is idle (unless the stream is `patient`);
 *   - the stream's period is over, if it has one;
 *   - skua_stream_flush() is called, or quiescence detection is in progress.
 *
 * Order. Items from one PE to another arrive in the order in which they were put. There is no other
 * order, nor any relative to messages.
 *
 * All functions except registration are called on a PE, as in message.h.
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

/** A registered stream: a value that is the same on every PE. */
typedef struct {
    uint32_t offset;
} skua_stream;

/** A callback for one item. @p arg is the argument of skua_stream_bind() on this PE. The scheduler
 *  calls it, as it calls handlers; never inside a put, even for items to the calling PE. It may put
 *  items, also into the same stream. The item is valid until the callback returns. */
typedef void (*skua_item_fn)(void *arg, const void *item);

/** A callback for several items, which are contiguous and begin at a 64-byte boundary. Otherwise as
 *  skua_item_fn. */
typedef void (*skua_batch_fn)(void *arg, const void *items, size_t count);

/** The definition of a stream. Members other than item_bytes and one of the callbacks may be 0. */
typedef struct {
    size_t        size; /* sizeof(skua_stream_def); 0: its size in version 1.0 */
    size_t        item_bytes;
    skua_item_fn  item;    /* called for each item, or */
    skua_batch_fn batch;   /* called for several items at a time, which is faster */
    size_t        buffer;  /* limit of items that wait on a PE; 0: the setting stream_buffer */
    double        period;  /* limit of the waiting time in seconds; 0: the setting stream_period */
    bool          patient; /* items also wait while the PE is idle */
    bool          held;    /* arriving items wait for skua_stream_bind() */
    int           mesh_dims;                 /* dimensions of the mesh; 0: chosen */
    int           mesh_size[SKUA_MESH_DIMS]; /* sizes of the mesh; 0: chosen */
} skua_stream_def;

/** Registers a stream, before skua_main(), under the rules of skua_handler_register(). */
SKUA_API skua_stream skua_stream_register(const char *name, const skua_stream_def *def);

/** Sets the argument of this PE's callbacks, which is NULL before. Called in start, before items
 *  can arrive. If the stream is `held`, items wait while the argument is NULL, and a PE has one
 *  argument at a time. NULL also drops items that wait for members of a group that was destroyed
 *  (skua_stream_put_member()). */
SKUA_API void skua_stream_bind(skua_stream stream, void *arg);

/** Sends all items of a stream that wait on this PE. Returns true if there were any. At
 *  intermediate PEs, items still wait as usual. */
SKUA_API bool skua_stream_flush(skua_stream stream);

/** Returns the number of items that wait on this PE. */
SKUA_API size_t skua_stream_waiting(skua_stream stream);

/* ---- implementation of skua_stream_put(), public so that it can be inline ------------- */

/** A buffer of items that share a route. It always has room for one more item; without a message,
 *  that is the spare item of the stream, so that a put looks for the end of the room only. */
typedef struct {
    char *next, *end; /* addresses of the next item, and of the end of the room for items that
                         the slot has got of the limit so far */
    int32_t  *to; /* where to store the destination of the next item, if it is forwarded; or NULL */
    skua_msg *msg;
} skua_stream_slot;

/** A dimension of the mesh of a stream, other than the first. The coordinate of a destination in it
 *  is the remainder of a division by `size`; a route corrects the coordinate if it is not `own`. */
typedef struct {
    uint64_t inverse; /* a division by `size` is a multiplication by it and a shift; 0: none */
    uint32_t shift;
    uint32_t size;
    uint32_t own;  /* coordinate of this PE */
    uint32_t slot; /* slot of the neighbour with coordinate 0 */
} skua_stream_dim;

/** A PE's state of a stream. Its size does not depend on the number of PEs, except for the slots,
 *  one for each neighbour in the mesh. */
typedef struct {
    uint32_t          pes;  /* 0: not started */
    uint32_t          left; /* items until the limit, beside those that slots have room for */
    uint32_t          item_bytes;
    uint32_t          direct; /* PEs, if the mesh has one dimension: their slots; else 0 */
    skua_stream_slot *slot;
    skua_stream_slot  none; /* for PEs that do not exist, and before the start: has no message */
    skua_stream_dim   dim[SKUA_MESH_DIMS - 1]; /* the last dimension of the mesh first */
    uint64_t          group; /* the group whose members the items in the slots are for, or 0 */
    uint64_t          bound; /* the group whose member is bound, or 0 */
} skua_stream_port;

/** Returns the slot of the route to PE @p pe, which exists, in the @p port of a stream. */
static inline uint32_t skua_stream_route(const skua_stream_port *port, uint32_t pe)
{
    for (int k = 0; k < SKUA_MESH_DIMS - 1 && port->dim[k].inverse; k++) {
        uint32_t quotient  = (uint32_t)(pe * port->dim[k].inverse >> port->dim[k].shift);
        uint32_t remainder = pe - quotient * port->dim[k].size;

        if (remainder != port->dim[k].own)
            return port->dim[k].slot + remainder;
        pe = quotient;
    }
    return pe;
}

/** The memory of the calling PE that stream offsets refer to; NULL in a thread that is not a PE. */
SKUA_API extern __thread char *skua_stream_memory;

/** Ends the job with the error that the calling thread is not a PE. */
SKUA_API void skua_stream_nowhere(void) __attribute__((noreturn, cold));

/** Returns this PE's state of a stream. */
static inline skua_stream_port *skua_stream_here(uint32_t offset)
{
    char *memory = skua_stream_memory;

    if (__builtin_expect(!memory, 0))
        skua_stream_nowhere();
    return (skua_stream_port *)(void *)(memory + offset);
}

/** Makes room behind the item to @p pe that was put last, in @p slot: allocates a message for it,
 *  or, if the slot is full or the PE has reached its limit, sends a buffer. The slow path of
 *  skua_stream_put(). */
SKUA_API void skua_stream_next(uint32_t offset, skua_stream_slot *slot, int pe);

/** Puts a copy of @p item into the stream to @p pe, which may be the caller's. The caller may reuse
 *  the item when the call returns. Never waits. In a long loop, @p stream should be a local
 *  variable: a global one is loaded again for each item, because the compiler cannot exclude that
 *  the item overwrites it; this costs about a fifth of the rate. */
static inline void skua_stream_put(skua_stream stream, int pe, const void *item)
{
    skua_stream_port *port  = skua_stream_here(stream.offset);
    size_t            bytes = port->item_bytes;
    skua_stream_slot *slot  = &port->none;
    char             *next;

    if (__builtin_expect((uint32_t)pe < port->direct, 1)) {
        slot = &port->slot[(uint32_t)pe];
    } else if ((uint32_t)pe < port->pes) {
        slot = &port->slot[skua_stream_route(port, (uint32_t)pe)];
        if (slot->to)
            *slot->to++ = pe;
    }
    next       = slot->next;
    slot->next = next + bytes;
    if (bytes == 8 && __builtin_object_size(item, 0) >= 8) /* else gcc warns of smaller items */
        memcpy(next, item, 8);
    else
        memcpy(next, item, bytes);
    if (__builtin_expect(next + bytes == slot->end, 0))
        skua_stream_next(stream.offset, slot, pe);
}

/* ---- streams to the members of a group -------------------------------------------------- */

/** Puts a copy of @p item into a `held` stream to the member of a group on PE @p pe. @p group is
 * the id of its skua_collection. The item is delivered while that member is bound
 *  (skua_stream_bind_member()); it waits until then, and is dropped if the group was destroyed.
 *  Otherwise as skua_stream_put(). Items for another group than the last one's first send those
 *  that wait on this PE. */
static inline void skua_stream_put_member(skua_stream stream, uint64_t group, int pe,
                                          const void *item)
{
    skua_stream_port *port = skua_stream_here(stream.offset);

    if (__builtin_expect(port->group != group, 0)) {
        skua_stream_flush(stream);
        port->group = group;
    }
    skua_stream_put(stream, pe, item);
}

/** Sets the argument of this PE's callbacks of a `held` stream to @p member, the member of a group
 * on this PE. @p group is the id of its skua_collection. Called in its constructor; its destructor
 *  calls skua_stream_bind() with NULL. */
static inline void skua_stream_bind_member(skua_stream stream, uint64_t group, void *member)
{
    skua_stream_here(stream.offset)->bound = group;
    skua_stream_bind(stream, member);
}

SKUA_END_DECLS

#endif
