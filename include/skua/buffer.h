/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - zero-copy transfers between memory of two PEs: a buffer as a value that travels.
 *
 * One side describes memory of its own, a *buffer*, and sends the description in a message.
 * The other side describes its own, and gets or puts: the data move from one to the other,
 * without being packed into a message.  Both sides hear of the end, each by the completion in
 * its buffer, which gets the buffer itself as its result: so it says which it was.
 *
 *     source                                       destination
 *     b = skua_buffer_of(x, bytes, MODE, done, 7)
 *     ... sends b in a message ...                 c = skua_buffer_of(y, bytes, MODE, mine, 0)
 *                                                  skua_buffer_get(&c, &b)
 *     done: x may be used again                    mine: y holds the data
 *
 * Memory in regions (region.h) needs no registration.  Other memory is registered when the
 * buffer is made, or when it is first needed, or never; registrations are kept and found again.
 */
#ifndef SKUA_BUFFER_H
#define SKUA_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/completion.h>
#include <skua/region.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** When memory outside of regions is registered, so that others reach it. */
typedef enum {
    SKUA_REGISTER_NOW,    /* when the buffer is made                                     */
    SKUA_REGISTER_LATER,  /* when the other side needs it: it asks                       */
    SKUA_REGISTER_NEVER,  /* data travel in messages, copied by their owner              */
} skua_registration;

/** A buffer: plain data, to be sent in messages.  Made by skua_buffer_of(). */
typedef struct {
    void             *at;
    size_t            bytes;
    int32_t           pe; /* the owner's */
    skua_registration mode;
    skua_gaddr        where; /* if it is in a region, or registered */
    skua_completion   done;  /* on the owner's PE; gets a copy of this */
    uint64_t          user;  /* the owner's own */
} skua_buffer;

/** Describe memory of the calling PE. */
SKUA_API skua_buffer skua_buffer_of(const void *at, size_t bytes, skua_registration mode,
                                    skua_completion done, uint64_t user);

/** Move as many bytes as the smaller of both has.  @p here belongs to the calling PE.  Returns at
 *  once; both completions happen when the data are there.  SKUA_ERR_INVAL: none is ours;
 *  SKUA_ERR_RANGE and the like as in onesided.h, logged. */
SKUA_API skua_status_t skua_buffer_get(skua_buffer *here, const skua_buffer *from);
SKUA_API skua_status_t skua_buffer_put(const skua_buffer *here, const skua_buffer *to);

/** Register later or anew; and let go of the registration, which is kept for others until
 *  memory for registrations is short. */
SKUA_API skua_status_t skua_buffer_register(skua_buffer *buffer);
SKUA_API void          skua_buffer_deregister(skua_buffer *buffer);

/** Memory from a pool that is registered once: made and given back at the cost of malloc(). */
SKUA_API void *skua_buffer_alloc(size_t bytes);
SKUA_API void  skua_buffer_free(void *memory);

/** From how many bytes on a transfer without copies is faster than a message with them,
 *  between PEs of this host and between hosts: the settings zero_copy_host and zero_copy_net, or
 *  what was measured at start. */
SKUA_API size_t skua_zero_copy_bytes(int pe);

SKUA_END_DECLS

#endif
