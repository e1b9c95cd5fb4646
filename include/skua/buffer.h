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
 * PEs of one host need no registration: memory of the same process and memory of the arena
 * (skua_buffer_alloc(), regions, messages) is copied by load and store, other memory through the
 * system, one call.  Between hosts memory is registered when the buffer is made, or when it is
 * first needed, or never; registrations are kept and found again.
 *
 * Where no driver pins memory for its network a registration is a name and an address, which is
 * looked at when it is used: it may be kept for as long as there is room.  Where one does, a
 * registration ends with its last holder, so that memory which was deregistered may be freed;
 * memory of skua_buffer_alloc() stays registered then.  Nothing is hooked into malloc() or
 * munmap().
 *
 * All calls belong on a PE.
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

/** When memory is registered, so that other hosts reach it. */
typedef enum {
    SKUA_REGISTER_NOW,   /* when the buffer is made                                     */
    SKUA_REGISTER_LATER, /* when a transfer needs it, and for that                      */
    SKUA_REGISTER_NEVER, /* data travel in messages, copied by their owner              */
} skua_registration;

/** A buffer: plain data, to be sent in messages.  Made by skua_buffer_of(). */
typedef struct {
    void           *at;
    size_t          bytes;
    int32_t         pe;    /* the owner's                                           */
    int32_t         pid;   /* of its process, with the system                       */
    uint32_t        mode;  /* a skua_registration                                   */
    uint32_t        held;  /* it has a registration: to be given back               */
    skua_gaddr      where; /* if it has                                             */
    uint64_t        room;  /* bytes of the region that it then is in                */
    skua_completion done;  /* gets a copy of this                                   */
    uint64_t        user;  /* the owner's own                                       */
    uint64_t        tag;   /* the runtime's: proves, between hosts, that `pe` made it; `at`, `bytes`
                               and `user` therefore stay as they were given            */
} skua_buffer;

/** Describe memory of the calling PE.  Where a registration is wanted at once and there is no
 *  room for one, which has been logged, the buffer is as one that is registered later. */
SKUA_API skua_buffer skua_buffer_of(const void *at, size_t bytes, skua_registration mode,
                                    skua_completion done, uint64_t user);

/**
 * Move as many bytes as the smaller of both has.  @p here belongs to the calling PE.  Returns at
 * once: SKUA_OK, all is over and the completion of @p here has happened; or SKUA_PENDING.  Both
 * completions happen when the data are there.  A buffer may be used for any number of transfers.
 * SKUA_ERR_INVAL: `here` is not ours, or the other one is no buffer; SKUA_ERR_SYSTEM: the other's
 * memory is not there any more; logged.
 */
SKUA_API skua_status_t skua_buffer_get(const skua_buffer *here, const skua_buffer *from);
SKUA_API skua_status_t skua_buffer_put(const skua_buffer *here, const skua_buffer *to);

/** Its memory, where this PE reaches that by load and store; else NULL. */
SKUA_API void *skua_buffer_local(const skua_buffer *buffer);

/** Register later; and let go of the registration, when no transfer uses it: by the owner.
 *  SKUA_ERR_NOMEM, logged. */
SKUA_API skua_status_t skua_buffer_register(skua_buffer *buffer);
SKUA_API void          skua_buffer_deregister(skua_buffer *buffer);

/** Memory that all PEs of the host reach by load and store, aligned to a cache line, and that
 *  stays registered: made and given back at the cost of malloc(); any PE of the host may give
 *  it back.  Never NULL: when the arena is full the job ends with a line that says what to do. */
SKUA_API void *skua_buffer_alloc(size_t bytes);
SKUA_API void  skua_buffer_free(void *memory);

/** From how many bytes on a transfer without copies to @p pe is faster than a message that data
 *  are copied into and out of: the settings zero_copy_host and zero_copy_net, or what is measured
 *  when this is first asked for in a process (`skua info` and the log at level info show it). */
SKUA_API size_t skua_zero_copy_bytes(int pe);

/** Registrations that this PE has for buffers: those in use, and those that are kept. */
typedef struct {
    size_t used, kept;
} skua_registration_count;

SKUA_API skua_registration_count skua_registrations(void);

SKUA_END_DECLS

#endif
