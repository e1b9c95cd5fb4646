/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - zero-copy transfers between the memory of two PEs.
 *
 * One PE describes memory of its own as a *buffer* and sends the description in a message. The
 * receiver describes memory of its own and gets or puts: the data move directly between the two
 * memories, without being packed into a message. Both PEs are notified, each by the completion in
 * its own buffer; the result of the completion is the buffer itself, so that a callback can
 * identify the transfer that ended.
 *
 *     source                                       destination
 *     b = skua_buffer_make(x, bytes, MODE, done, 7)
 *     ... sends b in a message ...                 c = skua_buffer_make(y, bytes, MODE, mine, 0)
 *                                                  skua_buffer_get(&c, &b)
 *     done: x may be used again                    mine: y holds the data
 *
 * Within a host no registration is needed. Memory of the same process and memory of the arena
 * (skua_buffer_alloc(), regions, messages) is copied by load and store; other memory by one system
 * call (cross-memory attach). Between hosts, memory is registered when the buffer is made, when a
 * transfer first needs it, or never, as the buffer's mode says. Registrations are cached.
 *
 * If no driver pins memory, a registration is only a name and an address, which are checked at each
 * use; the cache keeps it as long as there is room. If a driver pins memory, a registration ends
 * when its last buffer releases it, so that the program may free the memory after
 * skua_buffer_unregister(); memory of skua_buffer_alloc() then stays registered. Skua does not
 * intercept malloc() or munmap().
 *
 * All functions are called on a PE.
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

/** The time at which memory is registered with the network, so that other hosts can access it. */
typedef enum {
    SKUA_REGISTER_NOW,   /* when the buffer is made */
    SKUA_REGISTER_LATER, /* when a transfer needs it, for the duration of the transfer */
    SKUA_REGISTER_NEVER, /* never: the owner copies the data into messages */
} skua_registration;

/** A description of memory of one PE. It is plain data and may be sent in messages.
 *  skua_buffer_make() makes it. */
typedef struct {
    void           *at;    /* the memory, in the address space of its owner */
    size_t          bytes; /* its size */
    int32_t         pe;    /* the PE that owns the memory */
    int32_t         pid;   /* operating-system id of its process */
    uint32_t        mode;  /* a skua_registration */
    uint32_t        held;  /* it holds a registration, which must be released */
    skua_gaddr      where; /* the registered memory, if held */
    uint64_t        room;  /* bytes of the region that contains it, if held */
    skua_completion done;  /* its result is a copy of this buffer */
    uint64_t        user;  /* free for use by the owner */
    uint64_t tag; /* Proves between hosts that `pe` made the buffer. It covers `at`, `bytes` and
                     `user`, which must not be changed. */
} skua_buffer;

/** Describes @p bytes at @p at in the memory of the calling PE. If SKUA_REGISTER_NOW finds no room
 *  for a registration, the failure is logged and the buffer behaves as with SKUA_REGISTER_LATER. */
SKUA_API skua_buffer skua_buffer_make(const void *at, size_t bytes, skua_registration mode,
                                      skua_completion done, uint64_t user);

/**
 * Copies from the remote buffer @p from into the local buffer @p here as many bytes as the smaller
 * of both has. @p here belongs to the calling PE. A buffer may take part in any number of
 * transfers.
 *
 * Returns immediately: SKUA_OK, the transfer is over and the completion of @p here has happened; or
 * SKUA_PENDING, both completions happen when the data have arrived. Failures are logged:
 * SKUA_ERR_INVAL, @p here belongs to another PE or @p from is not a buffer; SKUA_ERR_SYSTEM, the
 * memory of @p from no longer exists.
 */
SKUA_API skua_status skua_buffer_get(const skua_buffer *here, const skua_buffer *from);

/** Copies from the local buffer @p here into the remote buffer @p to as many bytes as the smaller
 *  of both has. Results, errors and completions are those of skua_buffer_get(). If the memory of
 *  either buffer is freed while the put is pending, the job ends with an error. */
SKUA_API skua_status skua_buffer_put(const skua_buffer *here, const skua_buffer *to);

/** Returns the address of a buffer's memory if the calling PE can access it by load and store, else
 *  NULL. */
SKUA_API void *skua_buffer_local(const skua_buffer *buffer);

/** Registers the memory of a buffer of the calling PE. Returns SKUA_ERR_NOMEM, logged, if there is
 *  no room for a registration, and SKUA_ERR_INVAL, logged, for a buffer of another PE. */
SKUA_API skua_status skua_buffer_register(skua_buffer *buffer);

/** Releases the registration of a buffer of the calling PE. No transfer may be using it. */
SKUA_API void skua_buffer_unregister(skua_buffer *buffer);

/** Allocates memory that all PEs of the host can access by load and store. It is aligned to a cache
 *  line and stays registered. The cost is that of malloc(). Never returns NULL: when the arena is
 *  full the job ends with an error that says what to do. */
SKUA_API void *skua_buffer_alloc(size_t bytes);

/** Frees memory of skua_buffer_alloc(). Any PE of the host may call it. */
SKUA_API void skua_buffer_free(void *memory);

/** Returns the size from which a zero-copy transfer to @p pe is faster than a message that the data
 *  are copied into and out of: the setting zcopy_threshold_host or zcopy_threshold_net, or else the
 *  value that is measured at the first call in a process (`skua info` and the log at level info
 *  show it). Between hosts it depends on the round trip: the first calls start its measurement
 *  without waiting, and later ones return the result. */
SKUA_API size_t skua_zero_copy_bytes(int pe);

/** Numbers of buffer registrations of a PE: in use by buffers or transfers, and cached for later
 *  use. Later versions may add members at the end. */
typedef struct {
    size_t used, kept;
} skua_registration_stats;

/** Stores the numbers of buffer registrations of the calling PE in *stats. @p bytes is
 *  sizeof(skua_registration_stats) as the program was compiled: a member that this version of the
 *  library does not have becomes 0. */
SKUA_API void skua_registration_stats_get(skua_registration_stats *stats, size_t bytes);

SKUA_END_DECLS

#endif
