/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownership.h - the setting checked_messages: every use of a message is checked against its owner.
 *
 * The record of a block (base/pool.h) follows the message in it:
 *
 *     HELD     by the handler, entry or program that may use, send or free it
 *     SENT     queued or travelling: no code may use it
 *     FREED    returned to the pool; a later message may use the same memory
 *
 * A call on a message that is not HELD ends the job with a line that names the call, the handler,
 * and the call, the PE and the line of code that released the message.  A message that was
 * delivered to another PE is HELD, but no longer by its sender.
 *
 * A checksum of the data of a message is computed when it is sent and when it is delivered, so a
 * sender that writes to it in between is found.
 *
 * Without the setting no fast path reads any of this: `sendable` of a PE equals `handlers`, the
 * magazines of its pool have room, and the table of handlers leads to the handlers themselves.
 */
#ifndef SKI_OWNERSHIP_H
#define SKI_OWNERSHIP_H

#include <skua/message.h>

#include "core/pe/pe.h"

/* Calls that release a message, as records have them. */
enum ski_release_call {
    SKI_RELEASE_RUNTIME,
    SKI_RELEASE_SEND,
    SKI_RELEASE_ENQUEUE,
    SKI_RELEASE_BROADCAST,
    SKI_RELEASE_INVOKE,
    SKI_RELEASE_FREE,
    SKI_RELEASE_WHEN, /* the end of a `when` of an interface file */
};

/** Returns what error messages call @p call. */
const char *ski_release_name(enum ski_release_call call);

/** Returns whether the messages of this PE are checked. */
static inline bool ski_ownership_checked(const struct ski_pe *self)
{
    return SKI_UNLIKELY(self->sendable == 0);
}

/** Makes the pool and the sends of a new PE check ownership. */
void ski_ownership_begin(struct ski_pe *self);

/** Makes the table of @p count handlers check each message that is delivered.  It is called before
 *  the table is used. */
void ski_ownership_wrap(skua_handler_fn *handlers, uint32_t count);

/** Undoes ski_ownership_wrap(), if it was called. */
void ski_ownership_unwrap(skua_handler_fn *handlers, uint32_t count);

/** Records that the code at @p where sends @p msg to @p handler, by the call @p call.  @p watch:
 * the data must not change until the message is delivered. */
void ski_ownership_send(struct ski_pe *self, enum ski_release_call call, skua_msg *msg,
                        uint32_t handler, const void *where, bool watch);

/** Records that the code at @p where frees @p msg, by the call @p call. */
void ski_ownership_free(struct ski_pe *self, enum ski_release_call call, skua_msg *msg,
                        const void *where);

/** Checks that the caller of @p call owns @p msg. */
void ski_ownership_use(struct ski_pe *self, const char *call, skua_msg *msg);

#endif
